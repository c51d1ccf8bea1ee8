"""The key: asked for, refused, taken, and kept nowhere but in the tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import KEY
from tests.contract.test_observability import WORDS_ONLY
from tests.inspector.watching import Watch, address
from tests.running import RunningService


@pytest.fixture(autouse=True)
def refusals(watch: Watch) -> None:
    watch.refusals = True


def unlock(page: Page, key: str) -> None:
    page.get_by_role("dialog").get_by_label("Key", exact=True).fill(key)
    page.get_by_role("button", name="Unlock").click()


def test_a_wrong_key_is_said_and_the_right_one_opens(keyed_service: RunningService, page: Page) -> None:
    page.goto(address(keyed_service, "someone"))
    dialog = page.get_by_role("dialog", name="This service asks for a key")
    expect(dialog.get_by_label("Key", exact=True)).to_be_focused()
    expect(dialog).to_contain_text("session storage only")
    expect(dialog.get_by_role("alert")).to_have_count(0)
    unlock(page, "not the key")
    expect(dialog.get_by_role("alert")).to_contain_text("That key is wrong.")
    unlock(page, KEY)
    expect(page.get_by_text("Nothing is stored of someone.")).to_be_visible()
    expect(dialog).to_have_count(0)
    assert KEY not in page.url
    assert page.evaluate("JSON.stringify({...localStorage}) + document.cookie") == "{}"
    page.reload()
    expect(page.get_by_text("Nothing is stored of someone.")).to_be_visible()
    expect(dialog).to_have_count(0)


def test_another_tab_is_asked_anew(keyed_service: RunningService, new_page: Callable[..., Page]) -> None:
    for page in (new_page(), new_page()):
        page.goto(address(keyed_service))
        unlock(page, KEY)
        expect(page.get_by_text("Nothing is stored").or_(page.locator("#users-list li")).first).to_be_visible()


def test_who_gives_no_key_is_told_so_and_may_try_again(keyed_service: RunningService, page: Page) -> None:
    page.goto(address(keyed_service))
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("The key is missing or wrong.")
    page.get_by_role("button", name="Try again").click()
    unlock(page, KEY)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_key_of_any_characters_is_sent_in_the_way_that_the_service_takes(start_service: Any, page: Page) -> None:
    key = "clé 🔑 ключ"
    running = start_service(ui="1", api_key=key, auth="token", **WORDS_ONLY).ready()
    page.goto(address(running, "ann"))
    unlock(page, "cle")
    unlock(page, key)
    expect(page.get_by_text("Nothing is stored of ann.")).to_be_visible()
