"""The lines of a backup into a store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING

from mmmem.backup.contents import memory_of, vectors_of
from mmmem.backup.counts import Advance, Counts
from mmmem.backup.filling import Filling, Kept
from mmmem.errors import InvalidBackup
from mmmem.ingest import remembered
from mmmem.store.rows import check_widths

if TYPE_CHECKING:
    from mmmem.backup.lines import RequestLine
    from mmmem.backup.reading import Reader
    from mmmem.ingest import Ingest
    from mmmem.store import Dimensions, Store
    from mmmem.types import EncodedMemory, Memory


class Importer:
    """Puts backups into a store. Their vectors are taken where they are of the store's models; else all is encoded anew."""

    def __init__(self, store: Store, ingest: Ingest, widths: Dimensions, threads: int) -> None:
        """`widths` of the store's vectors. `threads`: requests that are decoded and encoded at a time."""
        self._store = store
        self._filling = Filling(store, ingest, threads)
        self._widths = widths

    def run(
        self, reader: Reader, counts: Counts, users: Collection[str] = (), advance: Advance = lambda _: None
    ) -> None:
        """Import what is of these users, of all where none are given; `counts` says how far it came, in bytes of the file.

        What the store has already is left as it is, so that the same again is safe, and goes on where it was interrupted.
        Raises InvalidBackup for the first line that is wrong, or that cannot be kept; StoreUnavailable, ModelUnavailable.
        """
        user_id = None
        for kept, known in self._filling.fill(self._requests(reader, users)):
            counts.add(kept.memories)
            counts.users += kept.user_id != user_id
            user_id = kept.user_id
            counts.known += known
            counts.done = kept.end
            advance(counts)

    def _requests(self, reader: Reader, users: Collection[str]) -> Iterator[Kept]:
        usable = reader.header.models == self._store.models()
        end = 0
        user_id = None
        for number, length, line in reader.requests():
            end += length
            if users and line.user_id not in users:
                continue
            wrong = partial(InvalidBackup, number)
            if line.user_id != user_id:
                user_id, arrays = line.user_id, self._store.arrays(line.user_id)
                ids = {memory.id for memory in arrays.memories}
            if arrays.request_hash(line.request_id) is None and not ids.isdisjoint(each.id for each in line.memories):
                raise wrong("memories: one has the id of a memory that the store has of another request of the user")
            memories = tuple(map(memory_of, line.memories))
            with_vectors = usable and all(memory.vectors for memory in line.memories)
            encoded = partial(self._encoded, line, memories, wrong) if with_vectors else None
            yield Kept(line.user_id, line.request_id, line.body_hash, memories, encoded, wrong, length, end)

    def _encoded(
        self, line: RequestLine, memories: tuple[Memory, ...], wrong: Callable[[str], InvalidBackup]
    ) -> tuple[EncodedMemory, ...]:
        """The memories with the vectors that the line has of them."""
        encoded = tuple(
            remembered(memory, *vectors_of(said.vectors, self._widths))
            for memory, said in zip(memories, line.memories, strict=True)
            if said.vectors
        )
        try:
            for each in encoded:
                check_widths(each, self._widths)
        except ValueError as error:
            raise wrong(f"has vectors that do not fit the store: {error}") from None
        return encoded
