"""What the contract promises, checked over HTTP while the demo runs."""

from __future__ import annotations

import io
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from demo_sample import data_url, image_part
from PIL import Image

if TYPE_CHECKING:
    from demo_sample import SampleMessage
    from demo_service import Service

USER = "demo:checks"
ALL = 100


class Checks:
    """Named promises, each kept until something breaks it."""

    def __init__(self) -> None:
        self.problems: dict[str, list[str]] = {}

    def that(self, promise: str, kept: object, seen: object = "") -> None:
        """Note that `promise` was looked at, and what was seen where it was not kept."""
        problems = self.problems.setdefault(promise, [])
        if not kept:
            problems.append(str(seen))

    @property
    def passed(self) -> int:
        """How many promises were kept every time."""
        return sum(not problems for problems in self.problems.values())


def check_add(checks: Checks, request: dict[str, Any], status: int, answer: Any) -> None:
    """An Add that must succeed."""
    expected = {"success": True} | {name: request[name] for name in ("request_id", "user_id", "session_id")}
    echoed = status == 200 and answer == expected and answer["success"] is True
    checks.that("Add answers success and echoes its three ids, nothing else", echoed, (status, answer))


def check_search(checks: Checks, top_k: int, status: int, answer: Any) -> list[dict[str, Any]]:
    """A Search that must succeed; returns its items."""
    shaped = status == 200 and isinstance(answer, dict) and list(answer) == ["data"]
    checks.that("Search answers data and nothing else", shaped, status)
    items: list[dict[str, Any]] = answer["data"] if shaped else []
    ids = [item["id"] for item in items]
    keys = {"id", "content", "score", "created_at"}
    checks.that("items hold id, content, score and created_at", all(keys == item.keys() for item in items))
    checks.that("ids are non-empty and unique", all(ids) and len(set(ids)) == len(ids), ids)
    checks.that("content is never empty", all(item["content"] for item in items))
    scores = [item["score"] for item in items]
    checks.that("scores never increase down the list", all(a >= b for a, b in pairwise(scores)), scores)
    checks.that("never more than top_k items", len(items) <= top_k, len(items))
    return items


def check_memory(checks: Checks, item: dict[str, Any], known: dict[int, SampleMessage]) -> None:
    """A found memory against the message that was sent."""
    message = known.get(milliseconds(item["created_at"]))
    checks.that("created_at is the message's own time", message, item["created_at"])
    if message is None:
        return
    sent, got = parts(message.sent["content"]), parts(item["content"])
    checks.that("images come back byte for byte", images(sent) == images(got), message.key)
    if any(part["type"] == "text" for part in sent):
        in_order = [part["type"] for part in sent] == [part["type"] for part in got]
        checks.that("text and images keep their order", in_order, message.key)


def check_explain(checks: Checks, items: list[dict[str, Any]], status: int, answer: Any) -> list[dict[str, Any]]:
    """/explain beside the /search of the same question; returns its items."""
    explained: list[dict[str, Any]] = answer["data"] if status == 200 else []
    same = [(item["id"], item["score"]) for item in items] == [(item["id"], item["score"]) for item in explained]
    named = all(item["channels"] for item in explained)
    checks.that("Explain gives Search's order, with channels", same and named, status)
    return explained


def check_calls(checks: Checks, service: Service) -> None:
    """What needs no sample: keys, retries, mistakes, formats, strangers."""
    _check_keys(checks, service)
    _check_retries(checks, service)
    _check_mistakes(checks, service)
    _check_formats(checks, service)
    status, answer = service.call("POST", "/search", search("anything", "demo:nobody"))
    checks.that("an unknown user has no memories: data is []", (status, answer) == (200, {"data": []}), status)


def _check_keys(checks: Checks, service: Service) -> None:
    body = search("anything")
    checks.that("Health needs no key", service.call("GET", "/health", key=None)[0] == 200)
    refused = [service.call("POST", "/search", body, key=key)[0] for key in (None, "wrong")]
    checks.that("no key and a wrong key are a 401", refused == [401, 401], refused)
    accepted = [service.call("POST", "/search", body, scheme=name)[0] for name in ("Bearer", "Token", "X-Api-Key")]
    checks.that("Bearer, Token and X-Api-Key are accepted", accepted == [200] * 3, accepted)


def _check_retries(checks: Checks, service: Service) -> None:
    first = add("retry", "The spare key hangs behind the blue door.")
    for _ in range(2):
        check_add(checks, first, *service.call("POST", "/add", first))
    stored = _memories(service, "spare key")
    checks.that("the same Add again keeps one copy", len(stored) == 1, len(stored))
    status, _ = service.call("POST", "/add", add("retry", "Something else."))
    unchanged = _memories(service, "spare key") == stored
    checks.that(
        "another body under the same request_id is a 422, and changes nothing", status == 422 and unchanged, status
    )


def _check_mistakes(checks: Checks, service: Service) -> None:
    mistakes = {
        "messages": ("/add", add("mistake", "") | {"messages": []}),
        "user_id": ("/add", {name: value for name, value in add("mistake", "x").items() if name != "user_id"}),
        "messages.0.content": ("/add", add("mistake", "   ")),
        "top_k": ("/search", search("anything") | {"top_k": 0}),
        "query": ("/search", search("")),
    }
    for field, (path, body) in mistakes.items():
        status, answer = service.call("POST", path, body)
        named = status == 422 and answer["detail"]["reason"].startswith(field) and answer["code"]
        checks.that("a malformed request is a 422 that names the field", named, (field, status, answer))
    remote = image_part("http://127.0.0.1/photo.png")
    status, answer = service.call("POST", "/add", add("mistake", [remote]))
    checks.that(
        "a remote image is refused, never fetched", status == 422 and "url" in answer["detail"]["reason"], status
    )
    status, answer = service.call("GET", "/no-such-path")
    checks.that("a wrong path is a 404", status == 404 and answer["detail"]["reason"], status)


def _check_formats(checks: Checks, service: Service) -> None:
    """An image of each type, in one message."""
    urls = []
    for image_type in ("jpeg", "png", "webp", "gif"):
        file = io.BytesIO()
        Image.linear_gradient("L").resize((64, 48)).save(file, image_type)
        urls.append(data_url(file.getvalue(), image_type))
    request = add("formats", [{"type": "text", "text": "Four grey wedges"}, *map(image_part, urls)])
    check_add(checks, request, *service.call("POST", "/add", request))
    found = _memories(service, "grey wedges")
    returned = [urls == images(parts(item["content"])) for item in found]
    checks.that("JPEG, PNG, WebP and GIF come back byte for byte", any(returned), len(found))


def _memories(service: Service, query: str) -> list[dict[str, Any]]:
    """Everything that the checks' own user has."""
    status, answer = service.call("POST", "/search", search(query))
    return answer["data"] if status == 200 else []


def add(request_id: str, content: object) -> dict[str, Any]:
    """An Add of one message by the checks' own user."""
    messages = [{"role": "user", "content": content}]
    return {"request_id": f"checks:{request_id}", "user_id": USER, "session_id": "checks", "messages": messages}


def search(query: object, user_id: str = USER) -> dict[str, Any]:
    """A Search for everything a user has."""
    return {"query": query, "user_id": user_id, "top_k": ALL}


def parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Content as parts, also where it is a string."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def images(content: list[dict[str, Any]]) -> list[str]:
    """The data URLs of the image parts, in order."""
    return [part["image_url"]["url"] for part in content if part["type"] == "image_url"]


def milliseconds(created_at: str) -> int:
    """Unix milliseconds of an ISO 8601 time; -1 for what is not one."""
    try:
        return round(datetime.fromisoformat(created_at).timestamp() * 1000)
    except ValueError:
        return -1
