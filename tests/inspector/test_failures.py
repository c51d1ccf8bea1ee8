"""Whatever the service says, or does not say, is a sentence on the page, with a way to go on."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.contract.test_observability import WORDS_ONLY
from tests.inspector.watching import Watch, address, ask, eventually, refusal, to_the_end
from tests.running import RunningService

USER = "fails"
ANSWERS = {
    "busy": (
        429,
        "over_capacity",
        "many wait",
        "3",
        "The service is busy: too many requests are waiting. It asks to wait 3 s.",
    ),
    "loading": (503, "not_ready", "still loading", "2", "The service is still loading. It asks to wait 2 s."),
    "store": (503, "store_unavailable", "no space is left", "2", "The store cannot be used now (no space is left)."),
    "bug": (
        500,
        "internal_error",
        "the log says where",
        "",
        "The service failed with status 500 (the log says where).",
    ),
    "too large": (413, "too_large", "body: more than 5 MB", "", "Too large (body: more than 5 MB)."),
}


@pytest.fixture(autouse=True)
def told(plain: RunningService, watch: Watch) -> RunningService:
    watch.refusals = True
    plain.add(USER, "the red lamp")
    return plain


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_search_that_fails_is_said_and_can_be_asked_again(told: RunningService, page: Page, answer: Any) -> None:
    status, code, reason, wait, sentence = answer
    headers = {"Content-Type": "application/json", **({"Retry-After": wait} if wait else {})}
    body = refusal(code, reason)

    def refuse(route: Route) -> None:
        route.fulfill(status=status, headers=headers, body=body)

    page.route("**/explain", refuse)
    page.goto(address(told, USER, "search"))
    ask(page, "lamp")
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    page.unroute("**/explain", refuse)
    again = page.get_by_role("button", name="Try again")
    if status == 413:  # the same again can only be refused again
        expect(again).to_have_count(0)
        again = page.get_by_role("button", name="Ask", exact=True)
    again.click()
    expect(page.locator("article.hit")).to_contain_text("the red lamp")
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("body", ["<html>a proxy's page</html>", "", "null", "[]"])
def test_an_answer_that_is_not_the_services_is_no_blank_page(told: RunningService, page: Page, body: str) -> None:
    page.route("**/explain", lambda route: route.fulfill(status=503, body=body))
    page.goto(address(told, USER, "search"))
    ask(page, "lamp")
    expect(page.get_by_role("alert")).to_contain_text("The service cannot answer now.")


def test_a_service_that_went_away_is_said_and_its_return_is_found(
    start_service: Any, page: Page, told: RunningService
) -> None:
    running = start_service(ui="1", **WORDS_ONLY).ready()
    running.add(USER, "the red lamp")
    page.goto(address(running))
    expect(page.get_by_role("link", name=USER)).to_be_visible()
    port = running.url.rsplit(":", 1)[1]
    running.stop()
    page.get_by_role("link", name=USER).click()
    expect(page.get_by_role("alert")).to_contain_text("The service cannot be reached.")
    start_service(running.log.parent, "--port", port, ui="1", **WORDS_ONLY).ready()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("article.memory")).to_contain_text("the red lamp")
    expect(page.locator("#timeline-facts")).to_contain_text("1 memory · 1 session")


def test_an_empty_store_says_what_to_do(start_service: Any, page: Page) -> None:
    page.goto(address(start_service(ui="1", **WORDS_ONLY).ready()))
    expect(page.get_by_text("Nothing is stored yet.")).to_be_visible()
    expect(page.get_by_text("POST /add, mmmem add, or Client.add")).to_be_visible()


def test_a_part_that_fails_while_scrolling_is_tried_again(plain: RunningService, page: Page) -> None:
    plain.add("scrolls on", *[f"memory {n}" for n in range(120)])
    page.route("**/memories?*after=*", lambda route: route.abort())
    page.goto(address(plain, "scrolls on"))
    expect(page.locator("article.memory")).to_have_count(50)
    to_the_end(page)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The service cannot be reached.")
    page.unroute("**/memories?*after=*")
    page.get_by_role("button", name="Try again").click()
    expect(alert).to_have_count(0)
    eventually(lambda: page.get_by_text("That was all: 120 memories.").is_visible() or to_the_end(page))
