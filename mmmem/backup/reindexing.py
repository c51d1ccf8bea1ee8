"""A store encoded anew from what was kept, one user after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mmmem.backup.counts import Advance, Counts
from mmmem.backup.filling import Filling, Kept
from mmmem.errors import MmmemError

if TYPE_CHECKING:
    from mmmem.ingest import Ingest
    from mmmem.store.reindexing import Reindexing


class Reindexer:
    """Brings a store to other models. What was interrupted goes on where it was, by the same call again."""

    def __init__(self, store: Reindexing, ingest: Ingest, threads: int) -> None:
        """`threads`: requests that are decoded and encoded at a time."""
        self._store = store
        self._filling = Filling(store.gathered, ingest, threads)
        self.names = store.names()

    def run(self, counts: Counts, advance: Advance = lambda _: None) -> None:
        """Encode every user that is not of the new models; `done` counts all. Raises MmmemError when one cannot be."""
        for name in self.names:
            if self._store.waits(name):
                before = counts.memories
                for kept, known in self._filling.fill(self._kept(name)):
                    counts.add(kept.memories)
                    counts.known += known
                    advance(counts)
                self._store.replace(name, counts.memories - before)
                counts.users += 1
            self._store.clear(name)
            counts.done += 1
            advance(counts)
        self._store.finish()

    def _kept(self, name: str) -> Iterator[Kept]:
        for request in self._store.requests(name):
            memories = tuple(encoded.memory for encoded in request.memories)
            yield Kept(request.user_id, request.request_id, request.body_hash, memories, None, _wrong)


def _wrong(problem: str) -> MmmemError:
    return MmmemError(f"what is stored of a request cannot be encoded: {problem}")
