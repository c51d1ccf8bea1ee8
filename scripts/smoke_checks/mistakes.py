"""Malformed requests: each is refused with a 4xx that names the field, and changes nothing."""

from __future__ import annotations

import base64
from typing import Any

from demo_sample import data_url, image_part

from smoke_checks.limits import refused
from smoke_checks.pictures import drawn, encoded, picture
from smoke_checks.target import Target, add_body, require

NO_JSON = {
    "an empty body": b"",
    "half an object": b'{"user_id": "u"',
    "a trailing comma": b'{"user_id": "u",}',
    "NaN": b'{"top_k": NaN}',
    "what is not UTF-8": b'{"user_id": "\xff"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a list": b"[]",
    "null": b"null",
    "a form": b"user_id=u&query=x",
    "deep nesting": b"[" * 100_000,
    "a number of 5,000 digits": b'{"top_k": ' + b"9" * 5_000 + b"}",
}
MALFORMED = {400, 422}
# What a field is not, by what it should be.
NO_IDS: tuple[Any, ...] = ("", 7, None, ["x"])
NO_MESSAGES: tuple[Any, ...] = ([], {}, "text", None)
NO_CONTENT: tuple[Any, ...] = (None, "", " \n ", [], 7, {"type": "text"})
NO_OPTIONS: tuple[Any, ...] = ("A", ["A", 1], {"A": "B"})
NO_TIMES: tuple[Any, ...] = ("2024-01-01", 1.5, True, 10**18)
KEPT = "the spare key hangs behind the boiler"


def bad_json(target: Target) -> str:
    """What is no JSON object."""
    for name, body in NO_JSON.items():
        for path in ("/add", "/search"):
            refused(f"{name} to {path}", target.call("POST", path, body), MALFORMED, "body")
    return f"{len(NO_JSON)} bodies to Add and Search"


def bad_fields(target: Target) -> str:
    """Fields that are missing, empty or of the wrong type; good messages beside them are not kept."""
    user = target.user("bad-fields")
    target.add(user, KEPT)
    add = add_body(user, "must not be kept", request="bad")
    search: dict[str, Any] = {"query": "where is the key?", "user_id": user, "top_k": 5}
    adds = [(without(add, name), name) for name in add]
    adds += [(add | {name: bad}, name) for name in ("request_id", "user_id", "session_id") for bad in NO_IDS]
    adds += [(add | {"messages": bad}, "messages") for bad in NO_MESSAGES]
    adds += [(add | {"messages": [*add["messages"], bad]}, f"messages.1{field}") for bad, field in BAD_MESSAGES]
    searches = [(without(search, name), name) for name in search]
    searches += [(search | {"user_id": bad}, "user_id") for bad in NO_IDS]
    searches += [(search | {"query": bad}, "query") for bad in NO_CONTENT]
    searches += [(search | {"options": bad}, "options") for bad in NO_OPTIONS]
    for path, cases in (("/add", adds), ("/search", searches)):
        for number, (body, field) in enumerate(cases):
            refused(f"{path}, bad {field} (case {number})", target.call("POST", path, body), MALFORMED, field)
    unchanged(target, user)
    return f"{len(adds)} Adds and {len(searches)} Searches"


BAD_MESSAGES: list[tuple[Any, str]] = [
    ("text", ""),
    ({"content": "no role"}, ".role"),
    ({"role": "", "content": "empty role"}, ".role"),
    ({"role": 1, "content": "a number for a role"}, ".role"),
    ({"role": "user"}, ".content"),
    *(({"role": "user", "content": bad}, ".content") for bad in NO_CONTENT),
    ({"role": "user", "content": [{"type": "text", "text": 7}]}, ".content.0.text"),
    ({"role": "user", "content": [{"type": "video"}]}, ".content.0.type"),
    ({"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}, ".content.0.image_url"),
    *(({"role": "user", "content": "x", "timestamp": bad}, ".timestamp") for bad in NO_TIMES),
]


def bad_images(target: Target) -> str:
    """Images that are none, broken, cut off or elsewhere; nothing is fetched."""
    user = target.user("bad-images")
    target.add(user, KEPT)
    photo, good = encoded(drawn(3), "jpeg"), image_part(picture(4))
    middle = base64.b64encode(photo).decode()
    urls = {
        "broken Base64": f"data:image/jpeg;base64,{middle[:400]}!!!{middle[400:]}",
        "half a JPEG": data_url(photo[: len(photo) // 2], "jpeg"),
        "half a PNG": data_url(encoded(drawn(3))[:600], "png"),
        "no image": data_url(b"hello world", "png"),
        "nothing": "data:image/png;base64,",
        "an SVG": "data:image/svg+xml;utf8,<svg/>",
        "a file": "file:///etc/hostname",
        "an address": "http://127.0.0.1:9/cat.png",
        "a name": "cat.png",
    }
    for name, url in urls.items():
        body = add_body(user, "must not be kept", [good, image_part(url)], request=name)
        refused(f"Add with {name}", target.post_add(body), MALFORMED, "messages.1.content.1.image_url")
        query = {"query": [{"type": "text", "text": "this?"}, image_part(url)], "user_id": user, "top_k": 5}
        refused(f"Search with {name}", target.call("POST", "/search", query), MALFORMED, "query.1.image_url")
    unchanged(target, user)
    return f"{len(urls)} images in Adds and Searches"


def unchanged(target: Target, user: str) -> None:
    """Raises Failed when there is more than the one memory that was kept before the mistakes."""
    found = target.search(user, "what must not be kept?")
    require(len(found) == 1, f"after refused Adds {len(found)} memories are there, not the 1 that was")


def without(body: dict[str, Any], field: str) -> dict[str, Any]:
    """The body with one field missing."""
    return {name: value for name, value in body.items() if name != field}
