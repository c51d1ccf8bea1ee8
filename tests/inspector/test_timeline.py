"""Memories by time: loaded in parts, by session, with their pictures, and who they are of."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.contract.pictures import data_url, draw, image_part, text_part, url_of
from tests.inspector.watching import PHOTOS, Watch, address, eventually, to_the_end
from tests.running import RunningService

USER = "long ago/ann"
MANY = 5_000
HOUR = 3_600_000
FIRST = 1_704_067_200_000  # 1 January 2024


@pytest.fixture(scope="module")
def told(plain: RunningService) -> RunningService:
    """5,000 memories of one user, one an hour, in ten sessions that follow each other."""
    for session in range(10):
        messages = [
            {"role": ("user", "assistant")[n % 2], "content": f"memory {n}", "timestamp": FIRST + n * HOUR}
            for n in range(session * MANY // 10, (session + 1) * MANY // 10)
        ]
        plain.add_messages(USER, messages, request=f"r{session}", session=f"session {session}")
    return plain


def cards(page: Page) -> Any:
    return page.locator("article.memory")


def test_five_thousand_memories_come_part_by_part(told: RunningService, page: Page, watch: Watch) -> None:
    page.goto(address(told, USER))
    expect(cards(page).first).to_contain_text(f"memory {MANY - 1}")
    expect(page.locator("#timeline-facts")).to_contain_text("5,000 memories · 10 sessions")
    page.wait_for_load_state("networkidle")
    counted = [
        (len(watch.paths("/memories")), cards(page).count(), page.evaluate("document.querySelectorAll('*').length"))
    ]
    assert counted[0][0] <= 3
    assert counted[0][1] <= 150
    for _ in range(3):
        before = cards(page).count()
        to_the_end(page)
        eventually(lambda: cards(page).count() > before)  # noqa: B023 - asked before the loop goes on
        counted.append(
            (len(watch.paths("/memories")), cards(page).count(), page.evaluate("document.querySelectorAll('*').length"))
        )
    for one, next_one in pairwise(counted):
        assert all(grown > was for was, grown in zip(one, next_one, strict=True))
    assert counted[-1][1] < MANY / 5
    assert cards(page).nth(120).evaluate("card => getComputedStyle(card).contentVisibility") == "auto"


def test_scrolling_on_brings_all_of_them_once(told: RunningService, page: Page, watch: Watch) -> None:
    page.goto(address(told, USER, session="session 3", order="oldest"))
    eventually(lambda: page.get_by_text("That was all: 500 memories.").is_visible() or to_the_end(page))
    texts = cards(page).locator(".text").all_text_contents()
    assert texts == [f"memory {n}" for n in range(1500, 2000)]
    assert len(watch.paths("/memories")) == 10


def test_order_and_session_are_chosen_and_kept_in_the_address(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER))
    page.get_by_label("Order").select_option("Oldest first")
    expect(cards(page).first.locator(".text")).to_have_text("memory 0")
    page.get_by_role("link", name="session 0").first.click()
    expect(page.get_by_label("Session")).to_have_value("session 0")
    page.get_by_label("Session").fill("session 4")
    page.keyboard.press("Enter")
    expect(cards(page).first.locator(".text")).to_have_text("memory 2000")
    page.reload()
    expect(cards(page).first.locator(".text")).to_have_text("memory 2000")
    page.get_by_role("button", name="All sessions").click()
    expect(cards(page).first.locator(".text")).to_have_text("memory 0")
    page.go_back()
    expect(cards(page).first.locator(".text")).to_have_text("memory 2000")


def test_the_heading_of_day_and_session_stays_in_sight(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, order="oldest"))
    heading = page.get_by_role("heading", name="Mon, 1 January 2024 session 0")
    expect(heading).to_be_visible()
    cards(page).nth(20).scroll_into_view_if_needed()
    cards(page).nth(12).evaluate("card => card.scrollIntoView({block: 'center'})")
    expect(heading).to_be_in_viewport()


def test_a_session_that_is_not_there_says_so(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, session="no such"))
    expect(page.get_by_text("This user has no memories in session no such.")).to_be_visible()


def test_pictures_come_when_they_are_near_and_are_shown_large(plain: RunningService, page: Page, watch: Watch) -> None:
    user = "with pictures"
    photo = image_part(url_of((PHOTOS / "chelsea.png").read_bytes()))
    far = [[text_part(f"picture {n}"), image_part(data_url(draw("blue")))] for n in range(1, 41)]
    contents = [[text_part("Look:"), photo, photo], *far]
    messages = [{"role": "user", "content": said, "timestamp": FIRST + n} for n, said in enumerate(contents)]
    plain.add_messages(user, messages)
    page.goto(address(plain, user, order="oldest"))
    first = cards(page).filter(has_text="Look:")
    expect(first.locator("img")).to_have_count(2)
    assert first.locator("img").first.evaluate("image => image.decode().then(() => image.naturalWidth)") > 400
    expect(first).not_to_contain_text("has no room")
    page.wait_for_load_state("networkidle")
    assert 1 <= len(watch.paths("/memories/mem_")) < 40
    assert all("images=false" in path for path in watch.paths("/memories?"))
    first.get_by_role("button", name="Picture 1 of 2; open").click()
    expect(page.get_by_role("dialog").get_by_role("img")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    last = cards(page).filter(has_text="picture 40").locator("img")
    eventually(lambda: last.count() == 1 or to_the_end(page))
    expect(first.locator("img")).to_have_count(0)  # far away: its memory is given back


def test_a_long_text_is_folded_and_keeps_its_lines(plain: RunningService, page: Page) -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    plain.add("long texts", text)
    page.goto(address(plain, "long texts"))
    words = cards(page).locator(".text")
    expect(words).to_have_text(text)
    folded = words.bounding_box()["height"]
    page.get_by_role("button", name="Show all 789 characters").click()
    assert words.bounding_box()["height"] > 5 * folded
    page.get_by_role("button", name="Show less").click()
    assert words.bounding_box()["height"] == folded


@pytest.mark.parametrize(
    "user",
    ["a/b?c#d&e=f%20g", ".", "'quoted' \"twice\"", "two\nlines\0", "猫 🐈", "lone \ud800", "x" * 10_000],
)
def test_any_user_is_found_by_the_exact_id_and_by_the_address(plain: RunningService, page: Page, user: str) -> None:
    plain.add(user, f"of {len(user)} characters")
    page.goto(address(plain, user))
    expect(cards(page)).to_contain_text(f"of {len(user)} characters")
    if "\n" in user or "\0" in user:  # no field holds these; the list has a link
        return
    page.goto(address(plain))
    page.get_by_label("User id, exactly").evaluate("(field, id) => (field.value = id)", user)
    page.get_by_role("button", name="Open").click()
    expect(cards(page)).to_contain_text(f"of {len(user)} characters")
    page.reload()
    expect(cards(page)).to_contain_text(f"of {len(user)} characters")


def test_an_unknown_user_has_nothing(plain: RunningService, page: Page) -> None:
    page.goto(address(plain))
    page.get_by_label("User id, exactly").fill("who is that")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is stored of who is that.")).to_be_visible()
    expect(page.get_by_role("button", name="Delete user…")).to_be_hidden()


def test_the_list_of_users_loads_on(plain: RunningService, page: Page, watch: Watch) -> None:
    everyone = [{"user_id": f"user {n}", "memories": n} for n in range(1000)]

    def answer(route: Any) -> None:
        start = int(route.request.url.partition("after=")[2] or 0)
        end = start + 100
        route.fulfill(json={"data": everyone[start:end], "total": 1000, "next": str(end) if end < 1000 else None})

    page.route("**/ui/users?*", answer)
    page.goto(address(plain))
    expect(page.get_by_text("1,000 users")).to_be_visible()
    assert len(watch.paths("/ui/users?")) <= 2
    entries = page.locator("#users-list li")
    eventually(lambda: entries.count() == 1000 or to_the_end(page))
    expect(entries.last).to_have_text("user 999999 memories")
    assert len(watch.paths("/ui/users?")) == 10
