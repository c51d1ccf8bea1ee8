"""What was said to a service and what it answered, and whether that fits together, for attack_callers.py."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

UNAVAILABLE = 503
_MARK = re.compile(r"<(\S+) of (\d+)/(\d+)>")  # request_id, place, how many


def mark(request_id: str, place: int, count: int) -> str:
    """What a message is known by."""
    return f"<{request_id} of {place}/{count}>"


def marks(memories: Collection[Mapping[str, Any]]) -> Counter[tuple[str, int, int]]:
    """The marks in found memories, without those of their context."""
    found: Counter[tuple[str, int, int]] = Counter()
    for memory in memories:
        content = memory["content"]
        text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
        found.update((request_id, int(place), int(count)) for request_id, place, count in _MARK.findall(text))
    return found


class Ledger:
    """Every Add by user and request_id, as a body; those that were acknowledged; and what was wrong. For many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sent: dict[str, dict[str, Any]] = defaultdict(dict)
        self._acknowledged: dict[str, set[str]] = defaultdict(set)
        self.wrong: Counter[str] = Counter()

    def users(self) -> list[str]:
        """Everyone who ever sent anything."""
        with self._lock:
            return list(self._sent)

    def sent(self, body: dict[str, Any]) -> None:
        """An Add is on its way."""
        with self._lock:
            self._sent[body["user_id"]][body["request_id"]] = body

    def acknowledged(self, user: str) -> set[str]:
        """The request_ids that were a 200."""
        with self._lock:
            return set(self._acknowledged[user])

    def open(self) -> list[dict[str, Any]]:
        """The bodies that were never a 200."""
        with self._lock:
            return [
                body
                for user, requests in self._sent.items()
                for request_id, body in requests.items()
                if request_id not in self._acknowledged[user]
            ]

    def answered(self, body: dict[str, Any], status: int, answer: Any) -> None:
        """The answer to an Add."""
        ids = {name: body[name] for name in ("request_id", "user_id", "session_id")}
        if status == 200 and answer == {"success": True, **ids}:
            with self._lock:
                self._acknowledged[body["user_id"]].add(body["request_id"])
        else:
            self._refused("Add", status, answer)

    def found(self, user: str, before: set[str], status: int, answer: Any, *, all_of_it: bool = False) -> None:
        """The answer to a Search that began when `before` was acknowledged; `all_of_it` when all that was sent should be there."""
        if status != 200:
            self._refused("Search", status, answer)
            return
        found = marks(answer["data"])
        requests = {request_id for request_id, _, _ in found}
        with self._lock:
            sent = set(self._sent[user])
        self.count("a memory was not kept or not found", len((sent if all_of_it else before) - requests))
        self.count("a memory of nobody, or of another", len(requests - sent))
        self.count("a memory came twice", sum(count > 1 for count in found.values()))
        places: Counter[tuple[str, int]] = Counter((request_id, count) for request_id, _, count in found)
        self.count("half of an Add", sum(places[request_id, count] < count for request_id, count in places))

    def count(self, what: str, times: int = 1) -> None:
        """Something is wrong, so often."""
        if times:
            with self._lock:
                self.wrong[what] += times

    def _refused(self, what: str, status: int, answer: Any) -> None:
        if status != UNAVAILABLE:
            self.count(f"{what} was answered {status}")
            return
        reason = answer.get("detail", {}).get("reason", "")
        if not reason or not str(answer.get("code", "")).endswith("unavailable"):
            self.count(f"{what}: a 503 without a reason")
        if "/" in reason or ".lance" in reason:
            self.count(f"{what}: a 503 with a path in it")
