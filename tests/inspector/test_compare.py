"""Two settings side by side, for the same question."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.inspector.watching import Watch, address, ask
from tests.running import RunningService

USER = "compared"


@pytest.fixture(scope="module", autouse=True)
def told(service: RunningService) -> RunningService:
    """Memories that words and meaning put in different orders."""
    service.add(
        USER,
        "My dog is called Rex.",
        "The hound sleeps under the stairs.",
        "Our puppy chews shoes.",
        "What is the name of the street?",
        "Name the pet shop's name, and name its owner's name.",
        "We ate soup.",
    )
    return service


def column(page: Page, which: str) -> Locator:
    return page.get_by_role(
        "region", name=f"With {which} settings" if which == "other" else "With the settings in force"
    )


def change(page: Page, name: str, value: str) -> None:
    form = page.locator(".settings-form")
    if not form.locator("details").evaluate("details => details.open"):
        form.locator("summary").click()
    form.get_by_label("Find a setting").fill(name)
    form.get_by_label(name, exact=True).fill(value)
    page.keyboard.press("Tab")


def test_both_columns_ask_the_same_and_each_hit_says_where_it_stands_in_the_other(
    service: RunningService, page: Page
) -> None:
    page.goto(address(service, USER, "compare"))
    expect(page.get_by_text("Nothing is changed: both columns are the same.")).to_be_visible()
    ask(page, "What is the name of my pet?")
    left, right = column(page, "force"), column(page, "other")
    expect(right.locator(".moved")).to_have_text(["same place"] * 6)
    with page.expect_request("**/explain") as asked:
        change(page, "weight_maxsim", "0")
    assert asked.value.post_data_json["settings"] == {"weight_maxsim": 0}
    chip = page.get_by_role("list", name="Changed settings")
    expect(chip).to_contain_text("weight_maxsim 1 → 0")
    expect(right.get_by_role("row").filter(has_text="maxsim")).to_have_count(0)
    expect(right.locator(".moved.up").first).to_contain_text("▲ up")
    texts = [[text.strip() for text in side.locator(".text").all_text_contents()] for side in (left, right)]
    assert texts[0] != texts[1]
    for side, other in ((0, 1), (1, 0)):
        told = [column(page, "force"), column(page, "other")][side].locator(".moved").all_text_contents()
        moves = [texts[other].index(text) - place for place, text in enumerate(texts[side])]
        assert told == [f"▲ up {n}" if n > 0 else f"▼ down {-n}" if n < 0 else "same place" for n in moves]
    page.get_by_role("button", name="weight_maxsim as in force").click()
    expect(right.locator(".moved")).to_have_text(["same place"] * 6)
    expect(page.locator("#setting-weight_maxsim")).to_have_value("1")


def test_a_hit_of_one_column_alone_says_so(service: RunningService, page: Page) -> None:
    page.goto(address(service, USER, "compare"))
    page.get_by_label("Show").fill("1")
    ask(page, "What is the name of my pet?")
    change(page, "weight_maxsim", "0")
    expect(page.locator(".moved.only").first).to_have_text("only here")


def test_a_value_that_is_refused_is_shown_at_its_setting(service: RunningService, page: Page, watch: Watch) -> None:
    watch.refusals = True
    page.goto(address(service, USER, "compare"))
    ask(page, "What is the name of my pet?")
    change(page, "weight_lexical", "-3")
    expect(page.get_by_role("alert")).to_contain_text("weight_lexical must be")
    expect(page.locator("#setting-weight_lexical")).to_have_attribute("aria-invalid", "true")
    expect(column(page, "force").locator(".moved")).to_have_text([""] * 6)
    change(page, "weight_lexical", "0.5")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(column(page, "other").locator("article.hit")).to_have_count(6)


def test_a_column_that_failed_is_asked_again_by_itself(service: RunningService, page: Page, watch: Watch) -> None:
    watch.refusals = True
    page.goto(address(service, USER, "compare"))
    page.route("**/explain", lambda route: route.abort(), times=1)
    ask(page, "What is the name of my pet?")
    expect(page.get_by_role("alert")).to_contain_text("The service cannot be reached.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".moved")).to_have_text(["same place"] * 12)


def test_settings_of_every_type_can_be_changed_and_found(service: RunningService, page: Page) -> None:
    page.goto(address(service, USER, "compare"))
    ask(page, "What is the name of my pet?")
    form = page.locator(".settings-form")
    form.locator("summary").click()
    find = form.get_by_label("Find a setting")
    find.fill("rarity")  # a word of its description
    expect(form.get_by_label("token_idf")).to_be_visible()
    expect(form.get_by_label("fusion", exact=True)).to_be_hidden()
    form.get_by_label("token_idf").uncheck()
    find.fill("fusion")
    with page.expect_request("**/explain") as asked:
        form.get_by_label("fusion", exact=True).select_option("rrf")
    assert asked.value.post_data_json["settings"] == {"token_idf": False, "fusion": "rrf"}
    expect(page.get_by_role("list", name="Changed settings").get_by_role("listitem")).to_have_count(2)


def test_a_question_of_the_search_is_asked_again_when_one_compares(service: RunningService, page: Page) -> None:
    page.goto(address(service, USER, "search"))
    ask(page, "What is the name of my pet?")
    expect(page.locator("article.hit")).to_have_count(6)
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(column(page, "other").locator("article.hit")).to_have_count(6)
