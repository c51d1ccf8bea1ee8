"""Every bad input is a 4xx that names the field, and changes nothing."""

import json
import socket
import struct
import zlib
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.contract.pictures import data_url, draw, image_part, text_part, url_of
from tests.running import RunningService

USER = "bad-input"
GOOD = {"role": "user", "content": "this must not be kept"}


@pytest.fixture(scope="module", autouse=True)
def one_memory(service: RunningService) -> None:
    service.add(USER, "the spare key hangs behind the boiler")


def without(body: dict[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != field}


def add(**fields: Any) -> dict[str, Any]:
    return {"request_id": "bad", "user_id": USER, "session_id": "s", "messages": [GOOD], **fields}


def search(**fields: Any) -> dict[str, Any]:
    return {"query": "where is the key?", "user_id": USER, "top_k": 5, **fields}


def second(**message: Any) -> dict[str, Any]:
    """An Add whose first message is good and whose second is not."""
    return add(messages=[GOOD, {"role": "user", **message}])


def png_header(width: int, height: int) -> bytes:
    """A small file that claims to be huge."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(bytes(64))) + chunk(b"IEND", b"")


PHOTO = data_url(draw(), "JPEG")
HALF_A_PHOTO = url_of(b"\xff\xd8\xff\xe0" + bytes(200), "image/jpeg")
BAD_IMAGES = {
    "http": "http://127.0.0.1/cat.png",
    "https": "https://example.com/cat.png",
    "file": "file:///etc/passwd",
    "ftp": "ftp://example.com/cat.png",
    "no scheme": "cat.png",
    "bad Base64": "data:image/png;base64,!!!!",
    "no image": url_of(b"hello world"),
    "an SVG": "data:image/svg+xml;utf8,<svg/>",
    "cut off": HALF_A_PHOTO,
    "empty": "data:image/png;base64,",
}

BAD_ADDS = {
    **{f"no {name}": (without(add(), name), 422, name) for name in add()},
    **{f"empty {name}": (add(**{name: ""}), 422, name) for name in ("request_id", "user_id", "session_id")},
    **{f"{name} of 10 MB": (add(**{name: "x" * 10_000_000}), 422, name) for name in ("request_id", "session_id")},
    "user_id a number": (add(user_id=7), 422, "user_id"),
    "empty messages": (add(messages=[]), 422, "messages"),
    "messages an object": (add(messages=GOOD), 422, "messages"),
    "a message a string": (add(messages=[GOOD, "text"]), 422, "messages.1"),
    "no role": (add(messages=[GOOD, {"content": "x"}]), 422, "messages.1.role"),
    "no content": (second(), 422, "messages.1.content"),
    "content null": (second(content=None), 422, "messages.1.content"),
    "empty content": (second(content=""), 422, "messages.1.content"),
    "empty parts": (second(content=[]), 422, "messages.1.content"),
    "blank text": (second(content=" \n "), 422, "messages.1.content"),
    "blank part": (second(content=[text_part("  ")]), 422, "messages.1.content.0.text"),
    "unknown part type": (second(content=[text_part("x"), {"type": "video"}]), 422, "messages.1.content.1.type"),
    "timestamp a string": (second(content="x", timestamp="2024-01-01"), 422, "messages.1.timestamp"),
    "timestamp a float": (second(content="x", timestamp=1.5), 422, "messages.1.timestamp"),
    "timestamp in microseconds": (second(content="x", timestamp=1_704_067_200_000_000), 422, "messages.1.timestamp"),
    **{
        f"image: {name}": (second(content=[text_part("x"), image_part(url)]), 422, "messages.1.content.1.image_url.url")
        for name, url in BAD_IMAGES.items()
    },
    "a bad image after a good one": (
        second(content=[image_part(PHOTO), image_part(HALF_A_PHOTO)]),
        422,
        "messages.1.content.1.image_url.url",
    ),
    "an image over 10 MiB": (
        second(content=[image_part(url_of(bytes(10 * 1024 * 1024 + 1)))]),
        413,
        "messages.1.content.0.image_url.url",
    ),
    "images over 30 MiB together": (
        second(content=[image_part(url_of(bytes(8 * 1024 * 1024)))] * 4),
        413,
        "messages.1.content.3.image_url.url",
    ),
    "a decompression bomb": (
        second(content=[image_part(url_of(png_header(50_000, 50_000)))]),
        413,
        "messages.1.content.0.image_url.url",
    ),
    "too many messages": (add(messages=[GOOD] * 10_001), 413, "messages"),
    "too much text": (add(messages=[GOOD, {"role": "user", "content": "x " * 4_000_001}]), 413, "messages"),
}

BAD_SEARCHES = {
    **{f"no {name}": (without(search(), name), 422, name) for name in search()},
    "empty user_id": (search(user_id=""), 422, "user_id"),
    "user_id of 10 MB": (search(user_id="x" * 10_000_000), 422, "user_id"),
    **{f"top_k {value!r}": (search(top_k=value), 422, "top_k") for value in (0, -1, 1.5, 5.0, "5", True, None, 1_001)},
    "empty query": (search(query=""), 422, "query"),
    "blank query": (search(query=" \t"), 422, "query"),
    "query a number": (search(query=7), 422, "query"),
    "empty parts": (search(query=[]), 422, "query"),
    "unknown part type": (search(query=[{"type": "audio"}]), 422, "query.0.type"),
    "options a string": (search(options="A"), 422, "options"),
    "an option a number": (search(options=["A", 1]), 422, "options.1"),
    "a query of a megabyte": (search(query="x " * 500_000), 413, "query"),
    **{
        f"image: {name}": (search(query=[text_part("this?"), image_part(url)]), 422, "query.1.image_url.url")
        for name, url in BAD_IMAGES.items()
    },
}

NO_JSON = {
    "nothing": b"",
    "cut off": b'{"user_id": "u"',
    "a trailing comma": b'{"user_id": "u",}',
    "NaN": b'{"top_k": NaN}',
    "not UTF-8": b'{"user_id": "\xff"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a list": b"[]",
    "a form": b"user_id=u&query=x",
    "deep nesting": b"[" * 200_000,
    "a number of 5,000 digits": b'{"top_k": ' + b"9" * 5_000 + b"}",
}


def refused(service: RunningService, path: str, body: bytes, status: int, field: str) -> None:
    before = service.search(USER, "what must not be kept?")
    answer = service.client.post(path, content=body)
    assert answer.status_code == status, answer.text
    error = answer.json()
    assert set(error) == {"detail", "code"}
    assert error["detail"]["field"] == field
    assert error["detail"]["problem"]
    assert error["detail"]["reason"] == f"{field}: {error['detail']['problem']}"
    assert "must not be kept" not in answer.text
    assert len(answer.content) < 1_000
    assert service.search(USER, "what must not be kept?") == before
    assert len(before) == 1


@pytest.mark.parametrize("case", BAD_ADDS)
def test_a_bad_add(service: RunningService, case: str) -> None:
    body, status, field = BAD_ADDS[case]
    refused(service, "/add", json.dumps(body).encode(), status, field)


@pytest.mark.parametrize("case", BAD_SEARCHES)
def test_a_bad_search(service: RunningService, case: str) -> None:
    body, status, field = BAD_SEARCHES[case]
    refused(service, "/search", json.dumps(body).encode(), status, field)


@pytest.mark.parametrize("path", ["/add", "/search", "/explain"])
@pytest.mark.parametrize("case", NO_JSON)
def test_a_body_that_is_no_json_object(service: RunningService, path: str, case: str) -> None:
    refused(service, path, NO_JSON[case], 422, "body")


def test_a_body_over_the_limit_is_refused_while_it_is_sent(service: RunningService) -> None:
    answer = service.client.post("/add", content=(bytes(1024 * 1024) for _ in range(80)))
    assert answer.status_code == 413
    assert answer.json()["detail"]["field"] == "body"


def test_a_body_announced_over_the_limit_is_refused_before_it_is_sent(service: RunningService) -> None:
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(b"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_caller_who_leaves_half_way_leaves_no_trace(service: RunningService) -> None:
    address = urlsplit(service.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(b"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
    assert service.client.get("/health").status_code == 200
    assert "Traceback" not in service.log.read_text()
