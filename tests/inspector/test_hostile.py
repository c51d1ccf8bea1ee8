"""What strangers stored is shown, and does nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.contract.pictures import data_url, draw, image_part, text_part
from tests.inspector.watching import Watch, address, ask
from tests.running import RunningService

FOLDER = Path(__file__).parents[2] / "mmmem" / "inspector"
ATTACKS = [
    "<img src=x onerror=window.pwned=1>",
    "</script><script>window.pwned=1</script>",
    "<svg onload=window.pwned=1>",
    "javascript:window.pwned=1//",
    "${window.pwned=1}{{window.pwned=1}}",
    "<a href=javascript:window.pwned=1 autofocus onfocus=window.pwned=1>x</a>",
]


def unharmed(page: Page) -> None:
    """Nothing ran, and nothing of the text became an element."""
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.pwned") is None
    assert (
        page.locator("main script, main iframe, main svg, main [onerror], main [onload], main [onfocus]").count() == 0
    )
    assert page.locator("[href^='javascript']").count() == 0


def test_text_role_session_and_user_are_only_ever_text(plain: RunningService, page: Page) -> None:
    user = " ".join(ATTACKS)
    for attack in ATTACKS:
        message = {"role": attack, "content": f"zebra {attack}", "timestamp": 1_704_067_200_000}
        plain.add_messages(user, [message], request=attack, session=attack)
    page.goto(address(plain, user))
    expect(page.locator("#who")).to_contain_text(user[:10])
    cards = page.locator("article.memory")
    expect(cards).to_have_count(len(ATTACKS))
    for attack in ATTACKS:
        card = cards.filter(has_text=f"zebra {attack}").last
        expect(card.locator(".text")).to_have_text(f"zebra {attack}")
        expect(card.locator(".role")).to_have_text(attack)
    session = page.locator(".session").first
    attack = cards.first.locator(".role").inner_text()
    expect(session).to_contain_text(attack[:10])
    session.click()
    expect(page.get_by_label("Session")).to_have_value(attack)
    cards.first.hover()
    cards.first.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_contain_text(attack)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Search", exact=True).click()
    ask(page, f"zebra {ATTACKS[0]}")
    expect(page.locator("article.hit")).to_have_count(len(ATTACKS))
    for attack in ATTACKS:
        expect(page.locator("article.hit .text", has_text=attack).first).to_be_visible()
    unharmed(page)
    page.goto(address(plain, "nobody " + ATTACKS[0]))
    expect(page.locator(".empty")).to_contain_text(ATTACKS[0])
    unharmed(page)


@pytest.mark.parametrize(
    ("user", "shown"),
    [
        ("\u202egnp.exe", r"\u202egnp.exe"),
        (" ", r"\u0020"),
        ("ann ", r"ann\u0020"),
        ("a\u200bnn", r"a\u200bnn"),
        ("an\u200dn", r"an\u200dn"),
        ("an\xa0n", r"an\u00a0n"),
        ("\U000e0001ann", r"\udb40\udc01ann"),
        ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"),
        ("\u0646\u0627\u0645\u0647\u200c\u0647\u0627", "\u0646\u0627\u0645\u0647\u200c\u0647\u0627"),
    ],
)
def test_no_user_looks_like_another_by_what_cannot_be_seen(
    plain: RunningService, page: Page, user: str, shown: str
) -> None:
    page.goto(address(plain, user))
    assert page.locator("#who").text_content() == shown
    assert page.locator(".empty .id").text_content() == shown


def test_what_the_service_says_of_pictures_tokens_and_faults_is_only_ever_text(
    plain: RunningService, page: Page, watch: Watch
) -> None:
    watch.refusals = True
    plain.add("attacked", "zebra")
    attack = ATTACKS[0]
    hit = {
        "id": attack, "role": attack, "session_id": attack, "score": 0.5, "created_at": "2024-01-01T00:00:00Z",
        "content": [text_part(f"[2024-01-01 00:00] {attack}: {attack}\n(before this) {attack}"), image_part(data_url(draw()))],
        "channels": {attack: {"rank": 1, "score": 1.0, "weight": 1.0, "added": 1.0}},
        "fused": {"rank": 1, "score": 1.0}, "reranked": None,
        "tokens": [{"query": attack, "memory": "onerror", "similarity": 0.9, "weight": 1.0}],
        "pictures": [{"labels": [attack], "text": attack}],
    }  # fmt: skip
    setting = {
        "name": attack, "value": attack, "type": "choice", "choices": [attack], "minimum": None, "maximum": None,
        "description": attack,
    }  # fmt: skip
    page.route(
        "**/explain",
        lambda route: route.fulfill(json={"data": [hit], "query_pictures": [{"labels": [attack], "text": attack}]}),
    )
    page.route("**/ui/settings", lambda route: route.fulfill(json={"data": [setting]}))
    page.goto(address(plain, "attacked", "compare"))
    ask(page, "zebra")
    first = page.locator("article.hit").first
    expect(first.locator("figcaption")).to_contain_text(attack)
    expect(first.locator("mark")).to_have_text(["onerror"] * 1)
    first.get_by_role("button", name="Details").click()
    expect(first.locator(".ids")).to_contain_text(attack)
    page.get_by_text("Change settings").click()
    expect(page.locator(".setting")).to_contain_text(attack)
    unharmed(page)
    fault = {"detail": {"reason": attack, "field": f"settings.{attack}", "problem": attack}, "code": attack}
    page.route("**/explain", lambda route: route.fulfill(status=422, body=json.dumps(fault)))
    ask(page, "zebra")
    expect(page.get_by_role("alert").first).to_contain_text(attack)
    unharmed(page)


@pytest.mark.parametrize(
    "kind", ["text/html", "image/svg+xml", "application/xhtml+xml", "text/html;image/png", "", 'image/png" onerror="x']
)
def test_a_picture_is_never_of_a_type_that_could_be_a_page(
    plain: RunningService, page: Page, watch: Watch, kind: str
) -> None:
    memory: dict[str, Any] = {
        "id": "mem_1", "session_id": "s", "role": "user", "images": 1, "timestamp": None, "created_at": "2024-01-01T00:00:00Z",
        "position": 0, "piece": 0, "content": "a page that says it is a picture",
    }  # fmt: skip
    url = data_url(draw(), mime=kind)
    page.route("**/memories?*", lambda route: route.fulfill(json={"data": [memory], "next": None, "total": 1}))
    page.route("**/memories/mem_1?*", lambda route: route.fulfill(json={**memory, "content": [image_part(url)]}))
    page.goto(address(plain, "someone"))
    image = page.locator("article.memory img")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 96
    addresses = page.evaluate("[...document.querySelectorAll('main img')].map((image) => image.src)")
    assert all(address.startswith("blob:") for address in addresses)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/spy.png",
        "//example.org/spy.png",
        "ui/favicon.svg",
        "javascript:window.pwned=1",
        "data:image/png",
    ],
)
def test_a_picture_from_elsewhere_is_never_fetched(plain: RunningService, page: Page, url: str) -> None:
    hit = {
        "id": "mem_1", "role": "user", "session_id": "s", "score": 0.5, "created_at": "2024-01-01T00:00:00Z", "content": [text_part("user: look"), image_part(url)],
        "channels": {}, "fused": {"rank": 1, "score": 1.0}, "reranked": None, "tokens": [], "pictures": [],
    }  # fmt: skip
    page.route("**/explain", lambda route: route.fulfill(json={"data": [hit], "query_pictures": []}))
    page.goto(address(plain, "someone", "search"))
    ask(page, "look")
    expect(page.get_by_text("This picture cannot be read.")).to_be_visible()
    unharmed(page)


def test_the_policy_would_stop_what_got_through(plain: RunningService, page: Page, watch: Watch) -> None:
    page.goto(address(plain, "someone"))
    expect(page.locator(".empty")).to_be_visible()
    page.evaluate(
        """() => {
            const inline = document.createElement("script");
            inline.textContent = "window.pwned = 1";
            document.body.append(inline);
            const image = document.createElement("img");
            image.setAttribute("onerror", "window.pwned = 2");
            image.src = "https://example.org/spy.png";
            document.body.append(image);
        }"""
    )
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.pwned") is None
    faults = watch.faults()
    assert len([fault for fault in faults if "Content Security Policy" in fault]) >= 2
    watch.forgive()


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.js")), ids=lambda file: file.name)
def test_no_module_can_make_elements_of_text_or_run_it(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
                      "createContextualFragment", "setHTML", "srcdoc", "importScripts", "import("):  # fmt: skip
        assert forbidden not in text, forbidden
    assert len(text.splitlines()) <= 250
    elsewhere = re.findall(r"""(?:from|import) ["'](?!\./[\w-]+\.js["'])""", text)
    assert elsewhere == []


def test_the_page_has_no_inline_code_and_no_address_elsewhere() -> None:
    for file in sorted(FOLDER.glob("*.html")) + sorted(FOLDER.glob("*.css")) + sorted(FOLDER.glob("*.svg")):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"""\son\w+\s*=|\sstyle\s*=|<style|javascript:|https?://|["'(]//|@import""", text), (
            file.name
        )
        assert not re.search(r"<script(?![^>]*\ssrc=)", text), file.name
        assert not re.search(r"""(?:src|href)=["']/""", text), "addresses are relative: the page may lie under a prefix"
