"""Everything can be reached without a mouse."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.inspector.watching import address, stored
from tests.running import RunningService


def test_a_walk_from_the_users_to_a_deletion(plain: RunningService, page: Page) -> None:
    user = "by keyboard"
    plain.add(user, "the red lamp", "the green lamp", "the door")
    page.goto(address(plain))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("User id, exactly")).to_be_focused()
    page.keyboard.type(user)
    page.keyboard.press("Enter")
    expect(page.locator("article.memory")).to_have_count(3)
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    field = page.get_by_label("Question", exact=True)
    expect(field).to_be_focused()
    page.keyboard.type("lamp?")  # a question mark in a field is a question mark
    page.keyboard.press("Enter")
    hits = page.locator("article.hit")
    expect(hits).to_have_count(3)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")  # there is no fourth
    expect(hits.nth(2)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("ArrowUp")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("Enter")
    expect(hits.nth(0).get_by_role("button", name="Less")).to_be_visible()
    page.keyboard.press("Delete")
    dialog = page.get_by_role("dialog", name="Delete this memory?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("j")  # does nothing behind a dialog
    page.keyboard.press("Tab")
    expect(dialog.get_by_role("button", name="Delete memory")).to_be_focused()
    page.keyboard.press("Enter")
    expect(hits).to_have_count(2)
    expect(hits.nth(0)).to_be_focused()
    assert stored(plain, user) == 2


def test_single_keys_choose_the_view_and_show_themselves(plain: RunningService, page: Page) -> None:
    plain.add("keys", "the red lamp")
    page.goto(address(plain, "keys"))
    expect(page.locator("article.memory")).to_be_visible()
    for key, name in (("s", "Search"), ("c", "Compare"), ("t", "Timeline")):
        page.keyboard.press(key)
        expect(page.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
    page.keyboard.press("Control+s")  # the browser's own
    expect(page.get_by_role("link", name="Timeline")).to_have_attribute("aria-current", "page")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("go to the question")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="Whose memories?")).to_be_visible()


def test_a_closed_dialog_gives_the_focus_back(plain: RunningService, page: Page) -> None:
    page.goto(address(plain))
    button = page.get_by_role("button", name="Keyboard shortcuts")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
