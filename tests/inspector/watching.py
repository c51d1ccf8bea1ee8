"""What a page does that it must not, and what tests do to one."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from playwright.sync_api import ConsoleMessage, Error, Page, Request
from skimage import data as skimage_data

from tests.running import DEADLINE, RunningService

PHOTOS = Path(skimage_data.__file__).parent
_REFUSED = re.compile(
    r"Failed to load resource: (the server responded with a status of (401|404|413|422|429|500|503)|net::ERR_)"
)


class Watch:
    """Listens to pages. `refusals`: whether the browser may report answers of 4xx and 503, and requests that failed."""

    def __init__(self) -> None:
        self.refusals = False
        self.requests: list[str] = []
        self._origins: set[str] = set()
        self._said: list[str] = []
        self._errors: list[str] = []

    def over(self, page: Page) -> None:
        """Listen to this page from now on."""
        page.context.on("request", self._request)
        page.on("console", self._console)
        page.on("pageerror", self._error)

    def faults(self) -> list[str]:
        """Requests to strangers, errors on the console, exceptions, violations of the policy."""
        said = [text for text in self._said if not (self.refusals and _REFUSED.match(text))]
        strangers = [f"asked {origin}" for origin in sorted(self._origins)] if len(self._origins) > 1 else []
        return [*said, *self._errors, *strangers]

    def forgive(self) -> None:
        """Forget the faults so far."""
        self._said.clear()
        self._errors.clear()
        self._origins.clear()

    def paths(self, start: str) -> list[str]:
        """The requests whose path and query begin so."""
        return [path for path in self.requests if path.startswith(start)]

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in {"data", "blob"}:
            return
        self._origins.add(f"{parts.scheme}://{parts.netloc}")
        self.requests.append(f"{parts.path}?{parts.query}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._said.append(message.text)

    def _error(self, error: Error) -> None:
        self._errors.append(str(error))


def address(service: RunningService, user: str = "", view: str = "", **place: str) -> str:
    """The inspector at a place."""
    fields = {"user": user, "view": view, **place}
    written = [
        f"{name}={quote(value.encode('utf-8', 'surrogatepass'), safe='')}" for name, value in fields.items() if value
    ]
    return f"{service.url}/ui#{'&'.join(written)}"


def ask(page: Page, question: str) -> None:
    """Type a question and press Enter."""
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")


def hand_over(page: Page, event: str, file: Path, kind: str = "image/png") -> None:
    """Drop (`drop`) or paste (`paste`) a file into the page, as a browser would tell it."""
    page.evaluate(
        """([event, encoded, name, type]) => {
            const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
            const carried = new DataTransfer();
            carried.items.add(new File([bytes], name, { type }));
            const common = { bubbles: true, cancelable: true };
            const made = event === "paste"
                ? new ClipboardEvent(event, { ...common, clipboardData: carried })
                : new DragEvent(event, { ...common, dataTransfer: carried });
            document.body.dispatchEvent(made);
        }""",
        [event, base64.b64encode(file.read_bytes()).decode(), file.name, kind],
    )


def to_the_end(page: Page) -> None:
    """Scroll to where the page ends now."""
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")


def eventually(condition: Callable[[], Any]) -> None:
    """Wait until something holds that the page comes to by itself. The condition has to ask the page."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline


def stored(service: RunningService, user: str) -> int:
    """How many memories the service itself says that a user has."""
    usage = service.client.get("/users/" + quote(user, safe="")).json()
    memories: int = usage["memories"]
    return memories


def refusal(code: str, reason: str, **detail: str) -> str:
    """The body of an error."""
    return json.dumps({"detail": {"reason": reason, **detail}, "code": code})
