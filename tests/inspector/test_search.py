"""Asking: by words and by pictures, and why each memory came."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, Route, expect

from tests.contract.pictures import data_url, image_part, text_part, url_of
from tests.inspector.watching import PHOTOS, Watch, address, ask, hand_over
from tests.running import RunningService

USER = "inspected"


@pytest.fixture(scope="module")
def told(service: RunningService) -> RunningService:
    """A service that was told of a cat, a ferry and a shopping list, with photos."""
    note = Image.new("RGB", (640, 120), "white")
    ImageDraw.Draw(note).text((20, 40), "Gate code 4711", "black", ImageFont.load_default(36))
    contents = [
        "The ferry leaves the harbour at noon on Mondays.",
        [text_part("She came from the shelter."), image_part(url_of((PHOTOS / "chelsea.png").read_bytes()))],
        [text_part("Our treat on Saturday."), image_part(url_of((PHOTOS / "coffee.png").read_bytes()))],
        [text_part("Written on the door."), image_part(data_url(note))],
        "Buy oats, raisins and two lemons.\nAnd a new lamp.",
        "The dentist moved the appointment to March.",
    ]
    messages = [
        {"role": "user", "content": content, "timestamp": 1_704_067_200_000 + n * 86_400_000}
        for n, content in enumerate(contents)
    ]
    service.add_messages(USER, messages)
    return service


def hits(page: Page):
    return page.locator("article.hit")


def test_a_question_in_words_finds_the_memory_and_shows_why(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, "search"))
    ask(page, "When does the ferry leave?")
    first = hits(page).first
    expect(first).to_contain_text("The ferry leaves the harbour at noon on Mondays.")
    rows = first.get_by_role("table", name="What each channel said").get_by_role("row")
    expect(rows.filter(has_text="maxsim")).to_contain_text("#1")
    expect(rows.filter(has_text="lexical")).to_contain_text("#1")
    ferry = first.locator("mark", has_text="ferry")
    expect(ferry).to_have_class("strength-3")
    expect(ferry).to_have_attribute("title", re.compile("met “ferry” of the question: similarity 0"))
    assert first.locator(".fill").first.bounding_box()["width"] > 10
    expect(page.locator(".state").first).to_contain_text("6 memories, best first")


def test_who_said_it_and_in_which_session_is_shown_whatever_is_in_their_names(
    plain: RunningService, page: Page
) -> None:
    message = {"role": "narrator: the old [2024-01-01 00:00] one", "content": "user: the barn door is red"}
    plain.add_messages("told by a narrator", [message], session="a tale: part 2")
    page.goto(address(plain, "told by a narrator", "search"))
    ask(page, "the barn door")
    header = hits(page).first.locator("header")
    expect(header).to_contain_text("narrator: the old [2024-01-01 00:00] one")
    expect(header).to_contain_text("a tale: part 2")
    expect(hits(page).first.locator(".text")).to_have_text("user: the barn door is red")


def test_details_show_the_numbers_the_words_that_met_and_the_id(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, "search"))
    ask(page, "When does the ferry leave?")
    first = hits(page).first
    expect(first.get_by_text("Words that met")).to_be_hidden()
    first.get_by_role("button", name="Details").click()
    expect(first.get_by_role("columnheader", name="weight")).to_be_visible()
    expect(first.get_by_role("row").filter(has_text="together")).to_contain_text("#1")
    expect(first.locator(".tokens")).to_contain_text("ferry → ferry")
    expect(first.get_by_text("mem_")).to_be_visible()
    first.get_by_role("button", name="Less").click()
    expect(first.get_by_text("Words that met")).to_be_hidden()


@pytest.mark.parametrize("way", ["drop", "paste", "pick"])
def test_a_picture_finds_itself_however_it_comes(told: RunningService, page: Page, way: str) -> None:
    page.goto(address(told, USER, "search"))
    photo = PHOTOS / "chelsea.png"
    if way == "pick":
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Picture…").click()
        chooser.value.set_files(photo)
    else:
        hand_over(page, way, photo)
    first = hits(page).first
    expect(first).to_contain_text("She came from the shelter.")
    expect(first.get_by_role("row").filter(has_text="image to image")).to_contain_text("#1")
    expect(first.locator("figcaption")).to_contain_text("cat")
    assert first.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 400
    thumbs = page.get_by_role("list", name="Pictures of the question")
    expect(thumbs).to_contain_text("looks like")


def test_a_picture_dropped_on_the_timeline_asks(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER))
    expect(page.locator("article.memory").first).to_be_visible()
    hand_over(page, "drop", PHOTOS / "coffee.png")
    expect(hits(page).first).to_contain_text("Our treat on Saturday.")
    expect(page.get_by_role("link", name="Search")).to_have_attribute("aria-current", "page")


def test_several_pictures_and_words_ask_together_and_each_can_be_taken_out(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, "search"))
    page.get_by_label("Question", exact=True).fill("the drink")
    with page.expect_request("**/explain"):
        hand_over(page, "drop", PHOTOS / "chelsea.png")
    with page.expect_request("**/explain") as asked:
        hand_over(page, "drop", PHOTOS / "coffee.png")
    parts = asked.value.post_data_json["query"]
    assert [part["type"] for part in parts] == ["text", "image_url", "image_url"]
    sent = base64.b64decode(parts[2]["image_url"]["url"].partition(",")[2])
    assert sent == (PHOTOS / "coffee.png").read_bytes()
    with page.expect_request("**/explain") as asked:
        page.get_by_role("button", name="Remove chelsea.png").click()
    assert len(asked.value.post_data_json["query"]) == 2
    expect(hits(page).first).to_contain_text("Our treat on Saturday.")


def test_with_the_last_picture_goes_what_was_found_with_it(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, "search"))
    hand_over(page, "drop", PHOTOS / "chelsea.png")
    expect(hits(page).first).to_be_visible()
    page.get_by_role("button", name="Remove chelsea.png").click()
    expect(hits(page)).to_have_count(0)
    expect(page.locator("#single")).to_contain_text("Enter asks")
    expect(page.get_by_label("Answer", exact=True)).not_to_have_attribute("aria-busy", "true")


def test_a_question_of_a_million_characters_is_cut_before_it_holds_up_the_page(
    told: RunningService, page: Page, watch: Watch
) -> None:
    watch.refusals = True
    page.goto(address(told, USER, "search"))
    field = page.get_by_role("textbox", name="Question")
    field.focus()
    page.keyboard.insert_text("word " * 200_000)
    assert field.evaluate("field => field.value.length") == 400_000
    page.keyboard.press("Enter")
    expect(page.locator("#single")).to_contain_text("more text than the limit")


def test_what_is_written_in_a_picture_is_shown(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, "search"))
    ask(page, "What is the gate code?")
    expect(hits(page).first.locator("figcaption")).to_contain_text("4711")


def test_words_are_marked_whole_whatever_their_pieces_accents_and_script(told: RunningService, page: Page) -> None:
    met = [
        ("harbor", "harb", 0.9, 0.5),
        ("place", "##ours", 0.8, 0.2),
        ("bar", "cafe", 0.7, 0.2),
        ("cat", "猫", 0.6, 0.1),
        ("high", "low", 0.3, 0.1),  # too far apart
        ("?", "and", 0.9, 0.1),  # not of a word
    ]
    hit = {
        "id": "mem_1", "role": "user", "session_id": "s", "score": 0.5, "created_at": "2024-01-01T00:00:00Z", "channels": {}, "pictures": [],
        "content": "[2024-01-01 00:00] user: The Harbours: the Café, and\n猫熊 stay low.\n(after this) user: the harbours",
        "fused": {"rank": 1, "score": 1.0}, "reranked": None,
        "tokens": [{"query": q, "memory": m, "similarity": s, "weight": w} for q, m, s, w in met],
    }  # fmt: skip
    page.route("**/explain", lambda route: route.fulfill(json={"data": [hit], "query_pictures": []}))
    page.goto(address(told, USER, "search"))
    ask(page, "anything")
    first = hits(page).first
    expect(first.locator("mark")).to_have_text(["Harbours", "Café", "猫"])
    expect(first.locator("mark").first).to_have_class("strength-3")
    expect(first.locator("mark").last).to_have_class("strength-1")
    expect(first.locator(".role")).to_have_text("user")
    assert first.locator(".text").text_content() == "The Harbours: the Café, and\n猫熊 stay low."
    expect(first.locator(".turns")).to_have_text("after user: the harbours")


def test_a_file_that_is_no_picture_is_said_so_and_asks_nothing(told: RunningService, page: Page, watch: Watch) -> None:
    page.goto(address(told, USER, "search"))
    hand_over(page, "drop", Path(__file__), "text/x-python")
    expect(page.get_by_role("status")).to_have_text("That is no picture.")
    assert watch.paths("/explain") == []


def test_a_broken_picture_is_refused_in_a_sentence(
    told: RunningService, page: Page, watch: Watch, tmp_path: Path
) -> None:
    watch.refusals = True
    broken = tmp_path / "broken.png"
    broken.write_bytes((PHOTOS / "chelsea.png").read_bytes()[:5000])
    page.goto(address(told, USER, "search"))
    hand_over(page, "drop", broken)
    expect(page.get_by_role("alert")).to_contain_text("The service refused the question")


def test_options_and_the_number_of_memories_are_asked_with(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, "search"))
    page.get_by_role("button", name="Options").click()
    page.get_by_label("Options of a multiple-choice question").fill("A. At noon\n\nB. At night\n")
    page.get_by_label("Show").fill("2")
    with page.expect_request("**/explain") as asked:
        ask(page, "The ferry leaves")
    body = asked.value.post_data_json
    assert (body["options"], body["top_k"], body["user_id"]) == (["A. At noon", "B. At night"], 2, USER)
    expect(hits(page)).to_have_count(2)
    expect(hits(page).first.get_by_role("row").filter(has_text="options")).to_be_visible()


def test_enter_asks_and_shift_enter_begins_a_line(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, "search"))
    field = page.get_by_label("Question", exact=True)
    field.press_sequentially("ferry")
    field.press("Shift+Enter")
    field.press_sequentially("harbour")
    with page.expect_request("**/explain") as asked:
        field.press("Enter")
    assert asked.value.post_data_json["query"] == "ferry\nharbour"


def test_a_late_answer_never_takes_the_place_of_a_newer_one(told: RunningService, page: Page) -> None:
    late: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.post_data_json["query"] == "the dentist":
            late.append(route)
        else:
            route.fallback()

    page.route("**/explain", hold)
    page.goto(address(told, USER, "search"))
    ask(page, "the dentist")
    ask(page, "the ferry")
    expect(hits(page).first).to_contain_text("ferry")
    assert len(late) == 1
    late[0].fulfill(json={"data": [], "query_pictures": []})
    ask(page, "two lemons")
    expect(hits(page).first).to_contain_text("lemons")


def test_a_hit_leads_to_its_place_in_the_timeline(told: RunningService, page: Page) -> None:
    page.goto(address(told, USER, "search"))
    ask(page, "When is the dentist?")
    hits(page).first.get_by_role("button", name="Show in timeline").click()
    found = page.locator("article.memory.found")
    expect(found).to_contain_text("The dentist moved the appointment")
    expect(found).to_be_focused()
    page.go_back()
    expect(hits(page).first).to_be_visible()


def test_a_user_without_memories_has_nothing_to_find(told: RunningService, page: Page) -> None:
    page.goto(address(told, "nobody of the inspector", "search"))
    ask(page, "anything")
    expect(page.get_by_text("so there is nothing to find")).to_be_visible()
