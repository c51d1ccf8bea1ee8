"""Deleting: never without being asked, and then for good."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.inspector.watching import Watch, address, ask, stored
from tests.running import RunningService


def test_one_memory_goes_only_when_it_is_confirmed(plain: RunningService, page: Page, watch: Watch) -> None:
    user = "deletes one"
    plain.add(user, "keep this", "remove this", "keep that")
    page.goto(address(plain, user))
    cards = page.locator("article.memory")
    doomed = cards.filter(has_text="remove this")
    doomed.hover()
    doomed.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete this memory?")
    expect(dialog).to_contain_text("remove this")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")  # on Cancel
    expect(dialog).to_have_count(0)
    assert stored(plain, user) == 3
    doomed.get_by_role("button", name="Delete").click()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert stored(plain, user) == 3
    doomed.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete memory").click()
    expect(page.get_by_role("status")).to_have_text("The memory is deleted.")
    expect(cards).to_have_count(2)
    expect(page.locator("#timeline-facts")).to_contain_text("2 memories")
    assert stored(plain, user) == 2
    page.reload()
    expect(cards).to_have_count(2)
    expect(doomed).to_have_count(0)


def test_a_hit_can_be_deleted_and_is_gone_from_the_timeline_too(plain: RunningService, page: Page) -> None:
    user = "deletes a hit"
    plain.add(user, "the red lamp", "the green door")
    page.goto(address(plain, user))
    expect(page.locator("article.memory")).to_have_count(2)
    page.get_by_role("link", name="Search").click()
    ask(page, "lamp")
    hits = page.locator("article.hit")
    hits.first.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete memory").click()
    expect(hits).to_have_count(1)
    page.get_by_role("link", name="Timeline").click()
    expect(page.locator("article.memory")).to_have_count(1)
    assert stored(plain, user) == 1


def test_a_user_goes_only_when_the_number_of_memories_is_typed(plain: RunningService, page: Page) -> None:
    user = "deletes/all"
    plain.add(user, *[f"memory {n}" for n in range(7)])
    plain.add("stays", "untouched")
    page.goto(address(plain, user))
    button = page.get_by_role("button", name="Delete user…")
    button.click()
    dialog = page.get_by_role("dialog", name="Delete everything of this user?")
    expect(dialog).to_contain_text("7 memories, 0 pictures, 1 session")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    confirm = dialog.get_by_role("button", name="Delete 7")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Type the number of memories").fill("6")
    expect(confirm).to_be_disabled()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    assert stored(plain, user) == 7
    button.click()
    dialog.get_by_label("Type the number of memories").fill("7")
    confirm.click()
    expect(page.get_by_role("heading", name="Whose memories?")).to_be_visible()
    assert (stored(plain, user), stored(plain, "stays")) == (0, 1)
    page.goto(address(plain, user))
    expect(page.get_by_text("Nothing is stored of deletes/all.")).to_be_visible()


def test_what_a_browser_cannot_name_is_refused_with_the_way_that_works(plain: RunningService, page: Page) -> None:
    plain.add("..", "of two dots")
    page.goto(address(plain, ".."))
    page.get_by_role("button", name="Delete user…").click()
    expect(page.get_by_role("dialog", name="Nothing was deleted")).to_contain_text("mmmem purge --user")
    assert plain.search("..", "dots")


def test_a_deletion_that_fails_is_said_and_leaves_the_memory(plain: RunningService, page: Page, watch: Watch) -> None:
    watch.refusals = True
    user = "deletes in vain"
    plain.add(user, "still here")
    page.route("**/memories/*", lambda route: route.abort())
    page.goto(address(plain, user))
    card = page.locator("article.memory")
    card.hover()
    card.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete memory").click()
    refused = page.get_by_role("dialog", name="Nothing was deleted")
    expect(refused).to_contain_text("The service cannot be reached.")
    page.keyboard.press("Escape")
    expect(card).to_be_visible()
    assert stored(plain, user) == 1
