"""The deployment that is checked: calls to it, what came of them, and which users were told something."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import httpx
from demo_checks import ALL

from smoke_checks.shapes import Shapes

SCHEMES = ("bearer", "token", "x-api-key")
BUSY = (429, 503)
TRIES = 8  # of a request while the service is busy
MOST_WAIT = 10.0  # seconds before the next try, whatever Retry-After says


class Failed(Exception):
    """A promise was not kept; the message says which, and what was seen."""


class Skipped(Exception):
    """There is nothing to check; the message says why."""


@dataclass(frozen=True)
class Answer:
    """What came back. `value`: the decoded JSON, None where it is none. `size`: bytes of the body."""

    status: int
    value: Any
    size: int

    def __str__(self) -> str:
        detail = self.value.get("detail") if isinstance(self.value, dict) else None
        reason = detail.get("reason") if isinstance(detail, dict) else None
        return f"{self.status} ({str(reason)[:120]})" if reason else str(self.status)


class Target:
    """A service at `url`. Its users here begin with a prefix of this run, so that nobody else's are touched. For many threads."""

    def __init__(self, url: str, key: str, scheme: str, timeout: float) -> None:
        self.key = key
        self.schemes = SCHEMES if scheme == "auto" else (scheme,)
        self.prefix = f"smoke-{secrets.token_hex(4)}:"
        self.users: set[str] = set()
        self.shapes = Shapes()
        self.waited = 0  # times that a request was sent again because the service was busy
        self._lock = threading.Lock()
        self._client = httpx.Client(base_url=url, timeout=timeout, trust_env=False, limits=httpx.Limits())

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def user(self, name: str) -> str:
        """A user_id of this run."""
        return self.prefix + name

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, tries: int = TRIES
    ) -> Answer:
        """Send JSON, or bytes as they are; waits and repeats while the service is busy. Raises Failed when no answer comes."""
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        if headers is None:
            headers = credentials(self.schemes[0], self.key) if self.key else {}
        for left in reversed(range(tries)):
            response = self._send(method, path, content, headers)
            answer = Answer(response.status_code, decoded(response.content), len(response.content))
            self.shapes.look(path, answer.status, answer.value, answer.size)
            if answer.status not in BUSY or not left:
                break
            with self._lock:
                self.waited += 1
            wait = response.headers.get("retry-after", "1")
            time.sleep(min(float(wait), MOST_WAIT) if wait.isdecimal() else 1.0)
        return answer

    def post_add(self, body: Mapping[str, Any]) -> Answer:
        """Send an Add, whatever becomes of it."""
        self.remember(body.get("user_id"))
        return self.call("POST", "/add", body)

    def add(self, user: str, *contents: Any, request: str = "r", session: str = "s", **message: Any) -> None:
        """Add one message for each content. Raises Failed when it is no 200."""
        answer = self.post_add(add_body(user, *contents, request=request, session=session, **message))
        require(answer.status == 200, f"an Add was answered {answer}")

    def search(self, user: str, query: Any, top_k: int = ALL, **fields: Any) -> list[dict[str, Any]]:
        """What is found. Raises Failed when it is no 200 with a list of objects."""
        answer = self.call("POST", "/search", {"query": query, "user_id": user, "top_k": top_k, **fields})
        require(answer.status == 200, f"a Search was answered {answer}")
        data = answer.value.get("data") if isinstance(answer.value, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise Failed("a Search was answered 200 without a list of memories")
        return data

    def remember(self, user: Any) -> None:
        """Note that this user may have data now."""
        if isinstance(user, str) and user.startswith(self.prefix):
            with self._lock:
                self.users.add(user)

    def _send(self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]) -> httpx.Response:
        # As bytes: a key need not be ASCII.
        sent = {name.encode(): value.encode("utf-8", "surrogateescape") for name, value in headers.items()}
        try:
            return self._client.request(
                method, path, content=content, headers={b"Content-Type": b"application/json"} | sent
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Failed(f"{method} {path[:60]} got no answer: {type(error).__name__}") from None


def credentials(scheme: str, key: str) -> dict[str, str]:
    """The header that carries a key."""
    return {"X-Api-Key": key} if scheme == "x-api-key" else {"Authorization": f"{scheme.capitalize()} {key}"}


def decoded(body: bytes) -> Any:
    """The JSON value, strictly; None for what is none."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    try:
        return json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def add_body(
    user: str, *contents: Any, request: str = "r", session: str = "s", role: str = "user", **message: Any
) -> dict[str, Any]:
    """An Add with one message for each content."""
    messages = [{"role": role, "content": content, **message} for content in contents]
    return {"request_id": request, "user_id": user, "session_id": session, "messages": messages}


def require(kept: object, otherwise: str) -> None:
    """Raises Failed with these words unless a promise was kept."""
    if not kept:
        raise Failed(otherwise)
