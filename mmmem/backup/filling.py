"""Requests put into a store in their order, encoded side by side, a bounded number of them in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmmem.errors import InvalidInput, MmmemError, RequestConflict, TooLarge
from mmmem.ingest import last_said
from mmmem.store import StoredRequest
from mmmem.types import ImagePart, TextPart

if TYPE_CHECKING:
    from mmmem.ingest import Ingest
    from mmmem.store import Store
    from mmmem.types import EncodedMemory, Memory

_AHEAD_BYTES, _AHEAD_REQUESTS = 64 * 1024 * 1024, 64
_COMMIT_BYTES, _COMMIT_REQUESTS = 32 * 1024 * 1024, 256
_BYTES_A_CHARACTER = 40  # of a memory with its token vectors


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What was kept of a request.

    encoded: gives it with the vectors that it came with; None where there are none of use. wrong: the error that says which
    request it is, from what is wrong with it. size: bytes that it takes in its source, and end: how far that has come with it.
    """

    user_id: str
    request_id: str
    body_hash: bytes
    memories: tuple[Memory, ...]
    encoded: Callable[[], tuple[EncodedMemory, ...]] | None
    wrong: Callable[[str], MmmemError]
    size: int = 0
    end: int = 0

    @property
    def nbytes(self) -> int:
        """About what it takes in memory, encoded."""
        parts = [part for memory in self.memories for part in memory.parts]
        images = sum(len(part.data) for part in parts if isinstance(part, ImagePart))
        texts = sum(len(part.text) for part in parts if isinstance(part, TextPart))
        return max(self.size, images + _BYTES_A_CHARACTER * texts)


@dataclass(frozen=True, slots=True, eq=False)
class _Encoding:
    kept: Kept
    known: bool
    stored: Future[StoredRequest]


class Filling:
    """Puts requests into a store. What the store has is not encoded again, so that what was interrupted goes on."""

    def __init__(self, store: Store, ingest: Ingest, threads: int) -> None:
        """`threads`: requests that are decoded and encoded at a time."""
        self._store = store
        self._ingest = ingest
        self._threads = threads

    def fill(self, requests: Iterable[Kept]) -> Iterator[tuple[Kept, bool]]:
        """Each request once it is on disk, in order, and whether it was there before. Those of a user must follow each other.

        Raises what `wrong` makes for the first that cannot be kept, and StoreUnavailable or ModelUnavailable. All before it
        is kept then, and nothing after it.
        """
        group: list[tuple[_Encoding, StoredRequest]] = []
        nbytes = 0
        with ThreadPoolExecutor(self._threads, thread_name_prefix="mmmem-filling") as pool:
            try:
                for encoding, stored in _in_order(self._begun(pool, requests)):
                    nbytes += encoding.kept.nbytes
                    another = group and group[0][1].user_id != stored.user_id
                    if another or len(group) >= _COMMIT_REQUESTS or (group and nbytes > _COMMIT_BYTES):
                        whole, group, nbytes = group, [], encoding.kept.nbytes
                        yield from self._commit(whole)
                    group.append((encoding, stored))
            except MmmemError:
                yield from self._commit(group)
                raise
            finally:
                pool.shutdown(cancel_futures=True)
        yield from self._commit(group)

    def _commit(self, group: list[tuple[_Encoding, StoredRequest]]) -> Iterator[tuple[Kept, bool]]:
        if not group:
            return
        outcomes = self._store.add_all([stored for _, stored in group])
        for (encoding, _), outcome in zip(group, outcomes, strict=True):
            if outcome:
                raise encoding.kept.wrong(str(outcome)) if isinstance(outcome, InvalidInput) else outcome
            yield encoding.kept, encoding.known

    def _begun(self, pool: ThreadPoolExecutor, requests: Iterable[Kept]) -> Iterator[_Encoding]:
        """Each request with its encoding under way."""
        user_id = None
        for kept in requests:
            if kept.user_id != user_id:
                user_id, arrays = kept.user_id, self._store.arrays(kept.user_id)
                said: dict[str, str] = {}  # what was last said, by session
            session_id = kept.memories[0].session_id
            if session_id not in said:
                newest = arrays.last_said(session_id)
                said[session_id] = newest.text if newest else ""
            known = arrays.request_hash(kept.request_id)
            if known not in {None, kept.body_hash}:
                raise kept.wrong(str(RequestConflict()))
            stored = pool.submit(self._encode, kept, said[session_id], known=known is not None)
            for memory in kept.memories:
                said[session_id] = last_said(said[session_id], memory.text)
            yield _Encoding(kept, known is not None, stored)

    def _encode(self, kept: Kept, before: str, *, known: bool) -> StoredRequest:
        try:
            if known:
                memories: tuple[EncodedMemory, ...] = ()
            elif kept.encoded:
                memories = kept.encoded()
            else:
                memories = self._ingest.encode_again(kept.memories, before)
        except (InvalidInput, TooLarge) as error:
            raise kept.wrong(str(error)) from None
        return StoredRequest(kept.user_id, kept.request_id, kept.body_hash, memories)


def _in_order(begun: Iterator[_Encoding]) -> Iterator[tuple[_Encoding, StoredRequest]]:
    """Each with its result, so many further ones under way meanwhile. An error of `begun` itself comes after what it gave."""
    waiting: deque[_Encoding] = deque()
    nbytes = 0
    fault: MmmemError | None = None
    while True:
        try:
            new = next(begun, None)
        except MmmemError as error:
            fault = error
            break
        if new is None:
            break
        waiting.append(new)
        nbytes += new.kept.nbytes
        while len(waiting) > _AHEAD_REQUESTS or nbytes > _AHEAD_BYTES:
            first = waiting.popleft()
            nbytes -= first.kept.nbytes
            yield first, first.stored.result()
    for each in waiting:
        yield each, each.stored.result()
    if fault:
        raise fault
