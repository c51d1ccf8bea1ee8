"""A client of a service that does not always answer, against a real server on this machine that fails as told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from mmmem import Client
from mmmem.errors import (
    InvalidInput,
    MmmemError,
    OverCapacity,
    StoreUnavailable,
    TableMismatch,
    TooLarge,
    Unauthorized,
    Unreachable,
)
from tests.conftest import KEY
from tests.running import RunningService

FOUND = {"data": []}


class Failing(ThreadingHTTPServer):
    """Answers with what is planned, one after the other, and then as a good service."""

    daemon_threads = True

    def __init__(self, planned: list[tuple[int, Any, dict[str, str]]]) -> None:
        self.planned = planned
        self.asked: list[tuple[float, bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Failing

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((time.monotonic(), body))
        status, said, headers = self.server.planned.pop(0) if self.server.planned else (200, FOUND, {})
        if status == 0:
            self.connection.close()
            return
        answer = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def fail() -> Iterator[Any]:
    running: list[Failing] = []

    def start(*planned: tuple[int, Any, dict[str, str]]) -> Failing:
        running.append(Failing(list(planned)))
        threading.Thread(target=running[-1].serve_forever, daemon=True).start()
        return running[-1]

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def error(code: str, **beside: str) -> dict[str, Any]:
    return {"detail": {"reason": "in its words", **beside}, "code": code}


@pytest.mark.parametrize("status", [0, 408, 425, 429, 500, 502, 503, 504])
def test_what_fails_in_passing_is_asked_again_with_the_same_body(fail: Any, status: int) -> None:
    server = fail(*[(status, b"<html>gone</html>" if status == 502 else error("not_ready"), {})] * 2)
    with Client(server.url) as client:
        client.add("once", user_id="ann")
    bodies = {body for _, body in server.asked}
    assert (len(server.asked), len(bodies)) == (3, 1)
    assert json.loads(bodies.pop())["request_id"]


def test_it_waits_as_long_as_the_service_asks(fail: Any) -> None:
    server = fail((429, error("over_capacity"), {"Retry-After": "1"}))
    with Client(server.url) as client:
        assert client.search("x", user_id="ann") == []
    (first, _), (second, _) = server.asked
    assert second - first >= 1


@pytest.mark.parametrize(
    ("status", "code", "kind", "times"),
    [
        (401, "unauthorized", Unauthorized, 1),
        (413, "too_large", TooLarge, 1),
        (422, "invalid_input", InvalidInput, 1),
        (418, "a_newer_code", MmmemError, 1),
        (503, "table_mismatch", TableMismatch, 1),
        (503, "store_unavailable", StoreUnavailable, 3),
        (429, "over_capacity", OverCapacity, 3),
        (500, "internal_error", MmmemError, 3),
    ],
)
def test_a_refusal_is_raised_as_what_it_was_there(fail: Any, status: int, code: str, kind: Any, times: int) -> None:
    server = fail(*[(status, error(code, field="query", problem="is wrong"), {"Retry-After": "0"})] * 3)
    with Client(server.url, attempts=3) as client, pytest.raises(MmmemError) as raised:
        client.search("x", user_id="ann")
    assert type(raised.value) is kind
    assert str(raised.value) == "in its words"
    assert len(server.asked) == times
    if isinstance(raised.value, InvalidInput | TooLarge):
        assert (raised.value.field, raised.value.problem) == ("query", "is wrong")


@pytest.mark.parametrize("said", [b"", b"null", b"[]", b"<html>", b"[" * 100_000, b"\xff"])
@pytest.mark.parametrize("status", [200, 404])
def test_what_is_not_mmmem_is_told_as_such(fail: Any, said: bytes, status: int) -> None:
    server = fail((status, said, {}))
    with Client(server.url) as client, pytest.raises(Unreachable, match=f"what answered .{status}. is not mmmem"):
        client.search("x", user_id="ann")
    assert len(server.asked) == 1


def test_nobody_there_is_told_after_its_tries() -> None:
    with Client("http://127.0.0.1:1", attempts=2) as client, pytest.raises(Unreachable, match="cannot be reached"):
        client.search("x", user_id="ann")


@pytest.mark.parametrize(
    "url", ["", "nowhere", "ftp://x", "http://", "http://[", "http://\udc00", "file:///etc/passwd"]
)
def test_what_is_no_address_is_told_at_once(url: str) -> None:
    with pytest.raises(InvalidInput) as raised, Client(url) as client:
        client.search("x", user_id="ann")
    assert raised.value.field == "url"


def test_the_key_goes_along_and_is_never_shown(keyed_service: RunningService) -> None:
    with Client(keyed_service.url, key=KEY) as client:
        client.add("with a key", user_id="client key")
        assert len(client.search("key", user_id="client key")) == 1
    for key in (None, "wrong-key"):
        with Client(keyed_service.url, key=key) as client, pytest.raises(Unauthorized) as raised:
            client.search("key", user_id="client key")
        assert "wrong-key" not in str(raised.value)
    with Client(keyed_service.url, key="line\nbreak") as client, pytest.raises(InvalidInput) as refused:
        client.search("key", user_id="client key")
    assert str(refused.value) == "key: holds what no header can carry"


def test_a_redirect_does_not_take_the_key_along(fail: Any) -> None:
    other = fail()
    server = fail((307, b"", {"Location": other.url}))
    with Client(server.url, key="secret") as client, pytest.raises(Unreachable):
        client.search("x", user_id="ann")
    assert other.asked == []
