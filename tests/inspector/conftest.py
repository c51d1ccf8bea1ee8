"""A browser, and pages of it that may speak to nobody but the service."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests.contract.test_observability import WORDS_ONLY
from tests.inspector.watching import Watch
from tests.running import DEADLINE, RunningService

TIMEOUT = 1_000 * DEADLINE  # ms; no test fails because a machine is slow
expect.set_options(timeout=TIMEOUT)

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def launched(playwright: Playwright) -> Browser:
    """MMMEM_BROWSER, else a Chromium or Chrome of this machine, else Playwright's own. Skips where there is none; one that does not start fails."""
    found = os.environ.get("MMMEM_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found and not Path(playwright.chromium.executable_path).exists():
        # pip brings none, and who works on something else need not have one; .ci/run installs it.
        pytest.skip("no browser: install Chromium, name one in MMMEM_BROWSER, or run `playwright install chromium`")
    arguments = [*QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]  # Chromium has no sandbox for root
    return playwright.chromium.launch(executable_path=found, args=arguments)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for this folder. Playwright holds this thread's event loop, so it ends with the folder's last test."""
    with sync_playwright() as playwright:
        started = launched(playwright)
        yield started
        started.close()


@pytest.fixture(scope="package")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that compares words alone: for what is not about the ranking. Use users of your own."""
    running = RunningService(tmp_path_factory.mktemp("plain"), ui="1", **WORDS_ONLY)
    yield running.ready()
    running.stop()


@pytest.fixture
def watch() -> Watch:
    """What a page did that it must not. `watch.refusals = True`: the service refuses something in this test."""
    return Watch()


@pytest.fixture
def new_page(browser: Browser, watch: Watch) -> Iterator[Callable[..., Page]]:
    """Opens pages, each as in a browser of its own."""
    contexts = []

    def opened(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT)
        watch.over(page)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page in a window of common size."""
    return new_page()


@pytest.fixture(autouse=True)
def nothing_forbidden(watch: Watch) -> Iterator[None]:
    """No page asks anyone but its service, breaks its own policy, or leaves an error on the console."""
    yield
    assert watch.faults() == []
