"""The library's front door: what the API, the command line and other programs call."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from mmmem.errors import NotFound, RequestConflict
from mmmem.ingest import Ingest, body_hash
from mmmem.meter import NO_METER, Meter
from mmmem.store import StoredRequest

if TYPE_CHECKING:
    from mmmem.listing import Listed, Listing, Page, PageQuery
    from mmmem.search import Search
    from mmmem.settings import Settings
    from mmmem.store import Part, Roster, Store, Usage
    from mmmem.types import AddRequest, Hit, Query


class StoreService:
    """What a store holds, listed, counted and removed: nothing of that needs a model. As MemoryService is to call."""

    def __init__(self, store: Store, listing: Listing) -> None:
        self._store = store
        self._listing = listing

    def page(self, query: PageQuery) -> Page:
        """A user's memories by time, a page of them. Raises InvalidInput for a place that is none, StoreUnavailable."""
        return self._listing.page(query)

    def memory(self, user_id: str, memory_id: str) -> Listed:
        """One memory with its images. Raises NotFound, StoreUnavailable."""
        found = self._listing.memory(user_id, memory_id)
        if found is None:
            raise NotFound("id: the user has no such memory")
        return found

    def delete_user(self, user_id: str) -> bool:
        """Remove everything of a user, from disk too; False when there was nothing. Raises StoreUnavailable.

        An Add that is under way meanwhile may be kept after it.
        """
        return self._store.delete_user(user_id)

    def delete_memory(self, user_id: str, memory_id: str) -> bool:
        """Remove one memory; False when the user has no such one. Raises StoreUnavailable.

        With a request's last memory the request is forgotten: the same one again is a new one.
        """
        return self._store.delete_memory(user_id, memory_id)

    def usage(self, user_id: str) -> Usage:
        """What is held of a user; zeros for an unknown one. Raises StoreUnavailable."""
        return self._store.usage(user_id)

    def users(self, after: str, limit: int) -> Roster:
        """Some of those whose memories there are; see Roster. Raises InvalidInput for a place that is none, StoreUnavailable."""
        return self._store.roster(after, limit)

    def on_disk(self) -> Iterator[Part]:
        """What the store's folder holds, a part at a time; nothing of a bucket. Raises OSError."""
        return self._store.on_disk()

    def close(self) -> None:
        """Finish what was accepted and stop."""
        self._store.close()


class MemoryService(StoreService):
    """Add and Search. Blocking, and safe to call from many threads at once. `encoders` ends what encodes."""

    def __init__(
        self,
        store: Store,
        encoders: ExitStack,
        ingest: Ingest,
        search: Search,
        listing: Listing,
        *,
        meter: Meter = NO_METER,
    ) -> None:
        super().__init__(store, listing)
        self._encoders = encoders
        self._ingest = ingest
        self._search = search
        self._meter = meter
        self._turns = RequestTurns()

    def add(self, request: AddRequest) -> None:
        """Keep a request's messages. Returns once they are on disk and searchable; a repeated request is kept once.

        Raises RequestConflict when its request_id came before with another body, InvalidImage or TooLarge for an image,
        StoreUnavailable or ModelUnavailable when it cannot be kept now. After an error nothing of it is kept; in a bucket
        it may be after StoreUnavailable, and the same request again says so.
        """
        with self._turns.of(request.user_id, request.request_id):
            with self._meter.stage("add", "load"):
                arrays = self._store.arrays(request.user_id)
            known = arrays.request_hash(request.request_id)
            if known is None:
                previous = arrays.last_said(request.session_id)
                stored = self._ingest.encode(request, previous, received_at=time.time_ns() // 1_000_000)
            elif known == body_hash(request):
                # Nothing to encode; the store still makes sure that what is there is on disk.
                stored = StoredRequest(request.user_id, request.request_id, known, memories=())
            else:
                raise RequestConflict
            with self._meter.stage("add", "store"):
                self._store.add(stored)

    def search(self, query: Query) -> list[Hit]:
        """The user's memories for a query, best first, never more than `top_k`; empty for an unknown user.

        Raises InvalidImage or TooLarge for an image, StoreUnavailable or ModelUnavailable.
        """
        return self._search(query)

    def explain(self, query: Query, settings: Settings | None = None) -> list[Hit]:
        """As `search`, and how each memory came to its place; where `settings` are given, ranked as those say."""
        search = self._search if settings is None else self._search.ranked_by(settings)
        return search(query, explained=True)

    def close(self) -> None:
        """See StoreService."""
        super().close()
        self._encoders.close()


class RequestTurns:
    """Lets one request of a (user_id, request_id) through at a time, so a retry waits for the attempt still running."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[tuple[str, str], tuple[threading.Lock, list[None]]] = {}

    @contextmanager
    def of(self, user_id: str, request_id: str) -> Iterator[None]:
        """Hold this request's turn."""
        key = (user_id, request_id)
        with self._lock:
            turn, waiting = self._running.setdefault(key, (threading.Lock(), []))
            waiting.append(None)
        try:
            with turn:
                yield
        finally:
            with self._lock:
                waiting.pop()
                if not waiting:
                    del self._running[key]
