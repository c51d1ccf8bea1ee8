"""One user's memories as arrays: what search works on."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from mmmem.store.columns import Column, Unpacked, inverse_norms, unpack, whole_rows
from mmmem.store.images import ImageIndex, Images
from mmmem.store.log import Log
from mmmem.store.postings import DocumentFrequencies, Postings
from mmmem.store.rows import read_memories
from mmmem.store.speakers import Speakers, speaker
from mmmem.texts import asks, says

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from mmmem.store.protocol import Dimensions
    from mmmem.types import Float32, Int8, Int32, Int64, Memory

_OBJECT_BYTES = 500  # one Memory with its ids, its numbers and its parts, without the text
_EMPTY_BYTES = 8192  # an index without memories


@dataclass(frozen=True, slots=True, eq=False)
class UserArrays:
    """One user's memories at one moment, in the order they were stored. Never changes; arrays are read-only.

    memories: n of them, without image bytes (`ImagePart.data` is empty; see Store.load_images).
    dense: int8 [n, d], pooled vectors, and dense_scales float32 [n], 1 / L2 norm of each. Token vectors, all memories' one after the other: tokens int8 [T, k]; token_scales
    float32 [T], 1 / L2 norm of the int8 row (0 for a row of zeros); token_ids int32 [T]; memory i owns
    token_offsets[i]:token_offsets[i + 1], int64 [n + 1]; token_frequencies says how many memories hold a token, and unsaid_frequencies
    how many of those that say nothing.
    postings: which memories hold a lexical term; lengths int64 [n], terms of each memory.
    images: those of the memories.
    sessions: int32 [n], a session's number in order of first appearance. previous: int64 [n], the row before in the same
    session, -1 for none; said_before: int64 [n], the nearest one that says something, with pictures between left out. times: int64 [n], Unix ms, when each was created; `timed`, bool [n], says that the message had a time
    of its own. says: bool [n], whether a memory says something, or is pictures alone. asks: bool [n], whether it ends with a question. speakers: int32 [n], a number among
    those who are `called` something, -1 where nobody is named. keys: int64 [n], equal for memories by the same speaker that say and show the same.
    events: int64 [e, 2], times of which memories speak, [start, end) in Unix ms; event_owners int64 [e].
    nbytes: memory that these arrays, texts and objects take.
    """

    memories: Sequence[Memory]
    dense: Int8
    dense_scales: Float32
    tokens: Int8
    token_scales: Float32
    token_ids: Int32
    token_offsets: Int64
    token_frequencies: DocumentFrequencies
    unsaid_frequencies: DocumentFrequencies
    postings: Postings
    lengths: Int64
    images: Images
    sessions: Int32
    previous: Int64
    said_before: Int64
    times: Int64
    timed: NDArray[np.bool_]
    says: NDArray[np.bool_]
    asks: NDArray[np.bool_]
    speakers: Int32
    called: Speakers
    keys: Int64
    events: Int64
    event_owners: Int64
    nbytes: int
    # Shared with the index that goes on growing: an entry beyond this snapshot's rows does not count.
    _requests: Mapping[str, tuple[int, bytes]] = field(repr=False)
    _session_numbers: Mapping[str, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.memories)

    def request_hash(self, request_id: str) -> bytes | None:
        """The body hash of a stored request, None for one that is not stored."""
        row, body_hash = self._requests.get(request_id, (len(self), b""))
        return body_hash if row < len(self) else None

    def session_rows(self, session_id: str) -> Int64:
        """The memories of a session, int64 [s], ascending."""
        return np.flatnonzero(self.sessions == self._session_numbers.get(session_id, -1))

    def last_said(self, session_id: str) -> Memory | None:
        """The newest memory of a session that says something."""
        newest = (self.memories[row] for row in reversed(self.session_rows(session_id).tolist()))
        return next((memory for memory in newest if says(memory.text)), None)


class UserIndex:
    """Grows one user's arrays as rows are read or written. For one thread at a time; its snapshots are for any."""

    def __init__(self, dimensions: Dimensions) -> None:
        self._columns = {
            "dense": Column(np.int8, dimensions.dense),
            "dense_scales": Column(np.float32),
            "tokens": Column(np.int8, dimensions.token),
            "token_scales": Column(np.float32),
            "token_ids": Column(np.int32),
            "token_offsets": Column(np.int64, first=0),
            "lengths": Column(np.int64),
            "sessions": Column(np.int32),
            "previous": Column(np.int64),
            "said_before": Column(np.int64),
            "times": Column(np.int64),
            "timed": Column(np.bool_),
            "says": Column(np.bool_),
            "asks": Column(np.bool_),
            "speakers": Column(np.int32),
            "keys": Column(np.int64),
            "events": Column(np.int64, 2),
            "event_owners": Column(np.int64),
        }
        self._postings = Postings()
        self._called = Speakers()
        self._frequencies = self._unsaid_frequencies = DocumentFrequencies.empty()
        self._memories: list[Memory] = []
        self._images = ImageIndex(dimensions)
        self.log = Log()
        self._session_numbers: dict[str, int] = {}
        self._speaker_numbers: dict[str, int] = {}
        self._newest_rows: dict[str, int] = {}  # of each session
        self._newest_said: dict[str, int] = {}  # the same, of memories that say something
        self._image_rows: dict[str, int] = {}  # addresses of the memories with images, by id
        self._names: dict[bytes, str] = {}
        self._object_bytes = _EMPTY_BYTES
        self._snapshot: UserArrays | None = None

    def __len__(self) -> int:
        return len(self._memories)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        columns = sum(column.nbytes for column in self._columns.values())
        indexes = (self._postings, self._frequencies, self._unsaid_frequencies, self._called, self._images)
        return self._object_bytes + columns + sum(index.nbytes for index in indexes)

    def image_rows(self, memory_ids: Iterable[str]) -> list[int]:
        """The addresses in the table of those memories that have images, ascending."""
        return sorted(self._image_rows[id_] for id_ in set(memory_ids) if id_ in self._image_rows)

    def extend(self, table: pa.Table) -> None:
        """Add rows (columns rows.INDEXED), just written or just read; those that count, see Log."""
        first = len(self)
        table, addresses = self.log.admit(table)
        batches = table.to_batches()
        for batch in batches:
            self._extend_memories(batch)
        tokens = unpack(batches, "tokens", np.int8)
        terms = unpack(batches, "terms", np.int64)
        columns = self._columns
        for batch in batches:
            dense = whole_rows(batch.column("dense").flatten().to_numpy().reshape(-1, columns["dense"].width))
            columns["dense"].extend([dense])
            columns["dense_scales"].extend([inverse_norms(dense)])
        columns["tokens"].extend(tokens.values)
        columns["token_scales"].extend(
            [inverse_norms(chunk.reshape(-1, columns["tokens"].width)) for chunk in tokens.values]
        )
        token_ids = unpack(batches, "token_ids", np.int32)
        columns["token_ids"].extend(token_ids.values)
        columns["token_offsets"].extend_offsets(token_ids.counts)
        columns["lengths"].extend([terms.counts])
        rows = np.arange(first, len(self), dtype=np.int32)
        tokens_held, holders = _flat(token_ids, np.int32), np.repeat(rows, token_ids.counts)
        self._frequencies = self._frequencies.plus(tokens_held, holders)
        unsaid = ~columns["says"].view()[holders]
        if unsaid.any():
            self._unsaid_frequencies = self._unsaid_frequencies.plus(tokens_held[unsaid], holders[unsaid])
        self._postings = self._postings.plus(_flat(terms, np.int64), np.repeat(rows, terms.counts))
        events = unpack(batches, "events", np.int64)
        columns["events"].extend(events.values)
        columns["event_owners"].extend([np.repeat(np.arange(first, len(self)), events.counts // 2)])
        for row in np.flatnonzero(self._images.extend(batches, first)).tolist():
            self._image_rows[self._memories[first + row].id] = int(addresses[row])
        self._snapshot = None

    def snapshot(self) -> UserArrays:
        """All that is held now."""
        if self._snapshot is None:
            self._snapshot = UserArrays(
                memories=tuple(self._memories),
                images=self._images.snapshot(),
                postings=self._postings,
                called=self._called,
                token_frequencies=self._frequencies,
                unsaid_frequencies=self._unsaid_frequencies,
                nbytes=self.nbytes,
                _requests=self.log.requests,
                _session_numbers=self._session_numbers,
                **{name: column.view() for name, column in self._columns.items()},
            )
        return self._snapshot

    def _extend_memories(self, batch: pa.RecordBatch) -> None:
        first = len(self)
        self._memories.extend(read_memories(batch, self._names))
        added = self._memories[first:]
        texts = [memory.text for memory in added]
        self._extend_conversation(added, texts, first)
        self._columns["keys"].extend([batch.column("key").to_numpy()])
        self._object_bytes += sum(_OBJECT_BYTES + sys.getsizeof(text) for text in texts)

    def _extend_conversation(self, added: Sequence[Memory], texts: Sequence[str], first: int) -> None:
        """Who says each memory, when, in which session, after which other, and whether it asks."""
        numbers, names = self._session_numbers, self._speaker_numbers
        new: list[str] = []
        sessions = [numbers.setdefault(memory.session_id, len(numbers)) for memory in added]
        previous: list[int] = []
        said_before: list[int] = []
        speakers: list[int] = []
        for row, (memory, text) in enumerate(zip(added, texts, strict=True), first):
            before = self._newest_rows.get(memory.session_id, -1)
            self._newest_rows[memory.session_id] = row
            said_before.append(self._newest_said.get(memory.session_id, -1))
            if says(text):
                self._newest_said[memory.session_id] = row
            name = speaker(text, memory.role)
            if memory.piece and before >= 0:  # the rest of a message is said by whom its beginning is
                earlier = self._columns["speakers"].view()[before] if before < first else speakers[before - first]
                speakers.append(int(earlier))
            else:
                if name and name not in names:
                    names[name] = len(names)
                    new.append(name)
                speakers.append(names.get(name, -1))
            previous.append(before)
        self._called = self._called.plus(new)
        self._columns["sessions"].extend([np.array(sessions, np.int32)])
        self._columns["previous"].extend([np.array(previous, np.int64)])
        self._columns["said_before"].extend([np.array(said_before, np.int64)])
        self._columns["speakers"].extend([np.array(speakers, np.int32)])
        self._columns["times"].extend([np.array([memory.created_at for memory in added], np.int64)])
        self._columns["timed"].extend([np.array([memory.timestamp is not None for memory in added], np.bool_)])
        self._columns["says"].extend([np.array([says(text) for text in texts], np.bool_)])
        self._columns["asks"].extend([np.array([asks(text) for text in texts], np.bool_)])


def _flat(unpacked: Unpacked, dtype: DTypeLike) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *unpacked.values])
