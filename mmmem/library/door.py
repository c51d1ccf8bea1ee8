"""The methods that `Memory` and `Client` have in common, over whatever carries the contract's JSON."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from mmmem.library import results
from mmmem.library.contents import to_content, to_messages
from mmmem.listing import PageQuery

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from mmmem.library.contents import Content, Message

_PAGE = 100


class Carrier(Protocol):
    """Takes the contract's bodies to an engine and brings its answers. Every method raises MmmemError."""

    def post(self, path: str, body: bytes) -> dict[str, Any]:
        """POST /add, /search or /explain."""

    def page(self, query: PageQuery) -> dict[str, Any]:
        """GET /memories."""

    def memory(self, user_id: str, memory_id: str) -> dict[str, Any]:
        """GET /memories/{id}."""

    def usage(self, user_id: str) -> dict[str, Any]:
        """GET /users/{user_id}."""

    def delete_memory(self, user_id: str, memory_id: str) -> bool:
        """DELETE /memories/{id}: whether it was there."""

    def delete_user(self, user_id: str) -> bool:
        """DELETE /users/{user_id}: whether there was anything."""

    def close(self) -> None:
        """Let go of what it holds."""


class Door:
    """Tell, ask, list and remove. Blocking, and safe to use from many threads. Every method raises MmmemError (mmmem.errors)."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier

    def add(
        self,
        messages: Content | Sequence[Message],
        *,
        user_id: str,
        session_id: str = "default",
        role: str = "user",
        timestamp: int | datetime | None = None,
        request_id: str | None = None,
    ) -> results.Added:
        """Remember a message, or several. Returns once they are durable and can be found.

        messages: text, an image, a list of both for one message (then `role` and `timestamp`, Unix milliseconds, are its own), or a
        list of mappings with `role`, `content` and perhaps `timestamp`. request_id: the same one with the same messages again
        changes nothing; without it each call is one of its own.
        """
        ids = {"request_id": request_id or uuid.uuid4().hex, "user_id": user_id, "session_id": session_id}
        self._carrier.post("/add", _json({**ids, "messages": to_messages(messages, role, timestamp)}))
        return results.Added(**ids)

    def search(
        self, query: Content, *, user_id: str, top_k: int = 10, options: Sequence[str] | None = None
    ) -> list[results.FoundMemory]:
        """The user's memories that answer a question by text, image or both, best first; empty for an unknown user."""
        answer = self._carrier.post("/search", _question(query, user_id, top_k, options))
        return [results.found_memory(each) for each in answer["data"]]

    def explain(
        self, query: Content, *, user_id: str, top_k: int = 10, options: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """As `search`, and how each memory came to its place: the answer of POST /explain."""
        return self._carrier.post("/explain", _question(query, user_id, top_k, options))

    def memories(
        self, *, user_id: str, session_id: str | None = None, newest_first: bool = False, images: bool = True
    ) -> Iterator[results.StoredMemory]:
        """All that is stored of a user, or of one session, by time, read a page at a time."""
        asked: dict[str, Any] = {
            "user_id": user_id,
            "session_id": session_id,
            "newest_first": newest_first,
            "images": images,
        }
        page = self.page(**asked)
        yield from page.memories
        while page.next is not None:
            page = self.page(**asked, after=page.next)
            yield from page.memories

    def page(
        self,
        *,
        user_id: str,
        limit: int = _PAGE,
        session_id: str | None = None,
        newest_first: bool = False,
        images: bool = True,
        after: str | None = None,
    ) -> results.Page:
        """At most `limit` of the same, those that follow a page whose `next` is `after`."""
        query = PageQuery(user_id, limit, session_id, newest_first=newest_first, with_images=images, after=after)
        return results.page(self._carrier.page(query))

    def get_all(
        self, *, user_id: str, session_id: str | None = None, newest_first: bool = False, images: bool = True
    ) -> list[results.StoredMemory]:
        """The same at once."""
        return list(self.memories(user_id=user_id, session_id=session_id, newest_first=newest_first, images=images))

    def get(self, memory_id: str, *, user_id: str) -> results.StoredMemory:
        """One memory with its images. Raises NotFound."""
        return results.stored_memory(self._carrier.memory(user_id, memory_id))

    def usage(self, user_id: str) -> results.Usage:
        """How much is held of a user; zeros for an unknown one."""
        return results.usage(self._carrier.usage(user_id))

    def delete(self, memory_id: str, *, user_id: str) -> bool:
        """Remove one memory, from disk too; whether it was there."""
        return self._carrier.delete_memory(user_id, memory_id)

    def delete_all(self, *, user_id: str) -> bool:
        """Remove everything of a user, from disk too; whether there was anything."""
        return self._carrier.delete_user(user_id)

    def delete_user(self, user_id: str) -> bool:
        """The same."""
        return self.delete_all(user_id=user_id)

    def close(self) -> None:
        """Let go of what it holds; nothing can be asked of it afterwards."""
        self._carrier.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _question(query: Content, user_id: str, top_k: int, options: Sequence[str] | None) -> bytes:
    asked = {"query": to_content(query, "query"), "user_id": user_id, "top_k": top_k}
    return _json(asked if options is None else {**asked, "options": list(options)})


def _json(body: dict[str, Any]) -> bytes:
    """ASCII, so that any text goes, lone surrogates too."""
    return json.dumps(body).encode("ascii")
