"""Every answer carries the id of its request, and every line that was logged meanwhile does too."""

import json
import logging
import re

import pytest
from starlette.testclient import TestClient

from mmmem.api.logs import JsonLines, TextLines
from mmmem.api.served import Served, current, request_id
from mmmem.errors import NotReady
from tests.api.controlled import ControlledService, add_body, search_body, serving

MADE = re.compile(r"[0-9a-f]{32}")


class Lines(logging.Handler):
    """What two formatters make of every record, where it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.json: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.text.append(TextLines().format(record))
        self.json.append(JsonLines().format(record))


@pytest.fixture
def lines():
    log, handler = logging.getLogger("mmmem"), Lines()
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    yield handler
    log.removeHandler(handler)
    log.setLevel(level)


@pytest.mark.parametrize("sent", ["a", "a" * 64, "01HXYZ", "3f2a-4b_c.d:e", "Root=1-67891233-abcdef012345678912345678"])
def test_a_well_formed_id_of_the_caller_comes_back(client: TestClient, sent: str) -> None:
    assert client.get("/health", headers={"X-Request-ID": sent}).headers["x-request-id"] == sent


@pytest.mark.parametrize(
    "sent", ["", "a" * 65, "a b", "a\tb", "a/b", "a;b", "ann@example.com", "\u00e4", '"', "\x1b[2J"]
)
def test_any_other_is_replaced(sent: str) -> None:
    assert MADE.fullmatch(request_id([(b"x-request-id", sent.encode())]))


@pytest.mark.parametrize("sent", [b"a\nb", b"a\r\nX: y", b"a\n", b"\n", b"a\x00", b"a\x85", b"a\xe2\x80\xa8b"])
def test_an_id_never_breaks_a_line(sent: bytes) -> None:
    assert MADE.fullmatch(request_id([(b"x-request-id", sent)]))


def test_of_two_ids_neither_counts() -> None:
    assert MADE.fullmatch(request_id([(b"x-request-id", b"a"), (b"x-request-id", b"b")]))


def test_every_answer_has_an_id_of_its_own(controlled: ControlledService) -> None:
    def fail(error: Exception) -> None:
        raise error

    controlled.on_search = lambda _: fail(NotReady("loading"))
    controlled.on_add = lambda _: fail(RuntimeError("a secret"))
    limits = {"api_key": "4711", "max_request_bytes": 2_000}
    with serving(controlled, **limits) as client:
        key = {"X-Api-Key": "4711"}
        answers = [
            client.get("/health"),
            client.get("/nowhere"),
            client.put("/health"),
            client.post("/search", json=search_body()),
            client.post("/search", json=search_body(), headers=key),
            client.post("/search", content=b"{", headers=key),
            client.post("/add", content=b" " * 2_001, headers=key),
            client.post("/add", json=add_body(), headers=key),
            client.get("/openapi.json"),
            client.head("/metrics"),
        ]
    assert [answer.status_code for answer in answers] == [200, 404, 405, 401, 503, 422, 413, 500, 200, 401]
    assert all(MADE.fullmatch(answer.headers["x-request-id"]) for answer in answers)
    assert len({answer.headers["x-request-id"] for answer in answers}) == len(answers)


def test_what_is_logged_while_a_request_is_served_carries_its_id(
    controlled: ControlledService, client: TestClient, lines: Lines
) -> None:
    def search(_: object) -> list[object]:
        logging.getLogger("mmmem.store").warning("on a thread")
        raise RuntimeError("a secret")

    controlled.on_search = search
    assert client.post("/search", json=search_body(), headers={"X-Request-ID": "abc"}).status_code == 500
    assert client.get("/health").status_code == 200
    told = [json.loads(line) for line in lines.json]
    assert [(line["message"].splitlines()[0], line["request_id"] == "abc") for line in told] == [
        ("on a thread", True),
        ("unexpected error", True),
        ("request", True),
        ("request", False),
    ]
    assert "a secret" not in "\n".join(lines.json + lines.text)
    assert lines.text[0].endswith("WARNING mmmem.store: [abc] on a thread")


def test_one_line_says_what_a_request_came_to(client: TestClient, lines: Lines) -> None:
    body = json.dumps(search_body()).encode()
    answer = client.post("/search?key=4711", content=body, headers={"X-Request-ID": "abc"})
    client.get("/users/")
    found, missed = (json.loads(line) for line in lines.json)
    stages = found.pop("stages_ms")
    assert set(stages) == {"read", "wait", "parse", "answer"}
    assert found.pop("duration_ms") >= sum(stages.values()) - 0.01
    assert found.pop("worker") > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", found.pop("time"))
    assert found == {
        "level": "info",
        "logger": "mmmem.api.tracking",
        "message": "request",
        "request_id": "abc",
        "method": "POST",
        "route": "/search",
        "status": 200,
        "bytes_in": len(body),
        "bytes_out": len(answer.content),
    }
    assert (missed["route"], missed["status"], missed["code"]) == ("other", 404, "not_found")
    assert re.search(r"INFO mmmem.api.tracking: \[abc\] request method=POST route=/search status=200 ", lines.text[0])


def test_a_line_without_a_request_has_no_id(lines: Lines) -> None:
    logging.getLogger("mmmem.x").info("up")
    assert "request_id" not in json.loads(lines.json[0])
    assert lines.text[0].endswith("INFO mmmem.x: up")


def test_json_keeps_to_one_line_whatever_is_logged(lines: Lines) -> None:
    token = current.set(Served("abc"))
    try:
        raise ValueError("one\ntwo")  # noqa: TRY301 - what a library may log
    except ValueError:
        logging.getLogger("mmmem.x").exception("a\nb\u2028c\x1b[2J")
    current.reset(token)
    [line] = lines.json
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["message"] == "a\nb\u2028c\x1b[2J"
    assert "ValueError" in json.loads(line)["exception"]


def test_times_of_stages_are_left_to_the_debug_level(client: TestClient, lines: Lines) -> None:
    logging.getLogger("mmmem").setLevel(logging.INFO)
    client.post("/search", json=search_body())
    assert "stages_ms" not in json.loads(lines.json[0])
