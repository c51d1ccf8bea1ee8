"""Light and dark, narrow and wide, and readable in each."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.contract.pictures import data_url, draw, image_part
from tests.inspector.watching import Watch, address, ask
from tests.running import RunningService

USER = "looks at it with an id that is rather long, and then some"
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
GROUND = "getComputedStyle(document.documentElement).backgroundColor"

# Of every text in sight: its contrast with the ground behind it, where that is one colour (WCAG 2, 1.4.3).
CONTRASTS = """() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = (colour) => {
        const [r, g, b] = colour.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        for (; element; element = element.parentElement) {
            const colour = rgba(getComputedStyle(element).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255];
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || !element.checkVisibility({ opacityProperty: true }) || element.closest(".unseen")) continue;
        const pair = [light(rgba(getComputedStyle(element).color)), light(ground(element))].sort((a, b) => b - a);
        const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
        if (contrast < 4.5) found.push(`${contrast.toFixed(2)}: ${texts.currentNode.data.trim().slice(0, 40)} (${element.className})`);
    }
    return found;
}"""


@pytest.fixture(scope="module", autouse=True)
def told(plain: RunningService) -> RunningService:
    """Texts that a narrow page has trouble with."""
    word = "x" * 300
    contents = [
        "The red lamp.",
        word,
        [image_part(data_url(draw().resize((3000, 200)))), image_part(data_url(draw())), image_part(data_url(draw()))],
        "קוראים לי דוד ואני אוהב תה.",
        f"https://example.org/{word}?a=b",
    ]
    messages = [
        {"role": role, "content": content, "timestamp": 1_704_067_200_000 + n}
        for n, (role, content) in enumerate(
            zip(["user", "assistant", "system", "tool", "r" * 200], contents, strict=True)
        )
    ]
    plain.add_messages(USER, messages, session="a session with a name that is rather long" + "y" * 100)
    return plain


def states(page: Page, plain: RunningService):
    """The page in one state after the other."""
    page.goto(address(plain))
    expect(page.locator("#users-list li").first).to_be_visible()
    yield "users"
    page.goto(address(plain, USER, order="oldest"))
    expect(page.locator("article.memory")).to_have_count(5)
    yield "timeline"
    page.get_by_role("button", name="Delete user…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    yield "deletion of a user"
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Search").click()
    ask(page, "the red lamp https")
    expect(page.locator("article.hit")).to_have_count(5)
    page.get_by_role("button", name="Details").first.click()
    yield "search"
    page.get_by_role("link", name="Compare").click()
    page.locator("summary").click()
    expect(page.locator("#both article.hit")).to_have_count(10)
    expect(page.locator("#setting-weight_maxsim")).to_be_visible()
    yield "compare"
    page.goto(address(plain, "nobody"))
    expect(page.locator(".empty")).to_be_visible()
    yield "nobody"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    yield "keys"


def test_a_phone_never_scrolls_sideways(plain: RunningService, new_page: Callable[..., Page]) -> None:
    page = new_page(**PHONE)
    for state in states(page, plain):
        width = page.evaluate(
            "Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll('dialog')].map((d) => d.scrollWidth))"
        )
        assert width <= 360, state


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_the_contrast_to_be_read(
    plain: RunningService, new_page: Callable[..., Page], scheme: str
) -> None:
    page = new_page(color_scheme=scheme, reduced_motion="reduce")
    for state in states(page, plain):
        assert page.evaluate(CONTRASTS) == [], state


def test_colours_follow_the_system_until_one_chooses(plain: RunningService, new_page: Callable[..., Page]) -> None:
    page = new_page(color_scheme="dark")
    page.goto(address(plain))
    dark = page.evaluate(GROUND)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(GROUND)
    assert light != dark
    button = page.get_by_role("button", name="Colours")
    expect(button).to_have_accessible_name("Colours: system; change")
    button.click()
    button.click()
    expect(button).to_have_accessible_name("Colours: dark; change")
    assert page.evaluate(GROUND) == dark
    page.reload()
    assert page.evaluate(GROUND) == dark
    button.click()
    assert page.evaluate(GROUND) == light


def test_writing_from_right_to_left_runs_from_right_to_left(plain: RunningService, page: Page) -> None:
    page.goto(address(plain, USER, order="oldest"))
    text = page.locator("article.memory .text", has_text="דוד")
    assert text.evaluate("text => getComputedStyle(text).direction") == "rtl"


def test_it_works_under_a_prefix_behind_a_proxy(plain: RunningService, page: Page, watch: Watch) -> None:
    prefix = f"{plain.url}/behind/a-proxy"
    page.route(
        f"{prefix}/**",
        lambda route: route.fulfill(response=route.fetch(url=route.request.url.replace(prefix, plain.url))),
    )
    page.goto(address(plain, USER, "search").replace(plain.url, prefix))
    ask(page, "the red lamp")
    expect(page.locator("article.hit")).to_have_count(5)
    page.get_by_role("link", name="Timeline").click()
    expect(page.locator("article.memory img")).to_have_count(3)
    assert all(path.startswith("/behind/a-proxy/") for path in watch.requests)


def test_every_control_and_picture_has_a_name(plain: RunningService, page: Page) -> None:
    for state in states(page, plain):
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("button, a[href], input, select, textarea, img:not([alt=''])")]
                .filter((one) => one.checkVisibility() && !one.closest("[aria-hidden]"))
                .filter((one) => !(one.ariaLabel || one.alt || one.textContent.trim() || one.labels?.length))
                .map((one) => one.outerHTML)"""
        )
        assert nameless == [], state
    assert page.locator("html").get_attribute("lang") == "en"
    assert (
        page.locator("main").count()
        == page.locator("header.top").count()
        == page.locator("nav[aria-label]").count()
        == 1
    )
