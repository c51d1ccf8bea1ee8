"""Whether answers have the contract's shape: every answer of a run is looked at, whichever check asked for it."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

MOST_BYTES = 30 * 1024 * 1024  # of an answer to a Search
ADDED = {"success", "request_id", "user_id", "session_id"}
FOUND = {"id", "content", "score", "created_at"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Shapes:
    """What was wrong with the shape of answers, counted. For many threads."""

    def __init__(self) -> None:
        self.faults: dict[str, Counter[str]] = {"answers": Counter(), "errors": Counter()}
        self.seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def look(self, path: str, status: int, value: Any, size: int) -> None:
        """Note an answer. Those of other paths than /add and /search only where they are errors."""
        kind = "errors" if status >= 400 else "answers"
        if kind == "errors":
            faults = list(error_faults(status, value))
        elif path in ("/add", "/search"):
            faults = list(status_faults(status))
            faults += add_faults(value) if path == "/add" else search_faults(value, size)
        else:
            return
        with self._lock:
            self.seen[kind] += 1
            self.faults[kind].update(f"{path}: {fault}" for fault in faults)


def status_faults(status: int) -> Iterator[str]:
    """Success is 200, never 201, 202 or a redirect."""
    if status != 200:
        yield f"answered {status}, not 200"


def add_faults(value: Any) -> Iterator[str]:
    """What is wrong with the answer to an Add that succeeded, but for the echo."""
    if not isinstance(value, dict):
        yield "is not a JSON object"
    elif value.keys() != ADDED:
        yield f"has the fields {sorted(value)}, not {sorted(ADDED)}"
    elif value["success"] is not True:
        yield "success is not true"


def search_faults(value: Any, size: int) -> Iterator[str]:
    """What is wrong with the answer to a Search, but for what was found."""
    if size > MOST_BYTES:
        yield f"is {size:,} bytes, more than {MOST_BYTES:,}"
    if not isinstance(value, dict) or list(value) != ["data"] or not isinstance(value["data"], list):
        yield "is not an object of data, a list, and nothing else"
        return
    items = value["data"]
    if not all(isinstance(item, dict) and item.keys() == FOUND for item in items):
        yield f"has items without just the fields {sorted(FOUND)}"
        return
    ids = [item["id"] for item in items]
    if not all(isinstance(each, str) and each for each in ids) or len(set(ids)) < len(ids):
        yield "has ids that are empty, no strings, or there twice"
    scores = [item["score"] for item in items]
    if not all(isinstance(score, (int, float)) and not isinstance(score, bool) for score in scores):
        yield "has scores that are no numbers"
    elif any(before < after for before, after in pairwise(scores)):
        yield "has scores that increase down the list"
    if not all(isinstance(item["created_at"], str) and TIME.fullmatch(item["created_at"]) for item in items):
        yield "has created_at that is no ISO 8601 time with its zone"
    if not all(is_content(item["content"]) for item in items):
        yield "has content that is neither a non-empty string nor text and image parts"


def is_content(content: Any) -> bool:
    """Whether it is a non-empty string or a list of parts."""
    return bool(content) and (isinstance(content, str) or (isinstance(content, list) and all(map(is_part, content))))


def is_part(part: Any) -> bool:
    """Whether it is a part of text, or of an image as a data URL."""
    match part:
        case {"type": "text", "text": str()}:
            return True
        case {"type": "image_url", "image_url": {"url": str() as url}}:
            return url.startswith("data:")
    return False


def error_faults(status: int, value: Any) -> Iterator[str]:
    """What is wrong with the answer to a request that was refused."""
    match value:
        case {"detail": {"reason": str() as reason}, "code": str() as code} if reason and code:
            if "Traceback (most recent call last)" in reason:
                yield f"{status} shows a stack trace"
        case _:
            yield f"{status} without detail.reason and code"
