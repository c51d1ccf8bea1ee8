"""One user's memories as arrays: what search works on."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from mmmem.store.rows import read_memories, to_text

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from mmmem.store.protocol import Dimensions
    from mmmem.types import Float32, Int8, Int32, Int64, Memory

_OBJECT_BYTES = 500  # one Memory with its ids, its numbers and its parts, without the text
_EMPTY_BYTES = 8192  # an index without memories
_SCALE_ROWS = 4096  # token vectors widened to float32 at a time, so that they stay in the CPU's cache


@dataclass(frozen=True, slots=True, eq=False)
class UserArrays:
    """One user's memories at one moment, in the order they were stored. Never changes; arrays are read-only.

    memories: n of them, without image bytes (`ImagePart.data` is empty; see Store.load_images).
    dense: float32 [n, d]. Token vectors, all memories' one after the other: tokens int8 [T, k]; token_scales
    float32 [T], 1 / L2 norm of the int8 row (0 for a row of zeros); token_ids int32 [T]; memory i owns
    token_offsets[i]:token_offsets[i + 1], int64 [n + 1]. terms int64 [L] and term_offsets int64 [n + 1] likewise.
    image_vectors: float32 [m, di]; image_owners int64 [m] says which memory each belongs to, image_sizes int64 [m] how
    many bytes its file has; labels, m tuples.
    sessions: int32 [n], a session's number in order of first appearance.
    nbytes: memory that these arrays, texts and objects take.
    """

    memories: Sequence[Memory]
    dense: Float32
    tokens: Int8
    token_scales: Float32
    token_ids: Int32
    token_offsets: Int64
    terms: Int64
    term_offsets: Int64
    image_vectors: Float32
    image_owners: Int64
    image_sizes: Int64
    labels: Sequence[tuple[str, ...]]
    sessions: Int32
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

    def last_of_session(self, session_id: str) -> Memory | None:
        """The newest memory of a session."""
        rows = np.flatnonzero(self.sessions == self._session_numbers.get(session_id, -1))
        return self.memories[rows[-1]] if len(rows) else None


class UserIndex:
    """Grows one user's arrays as rows are read or written. For one thread at a time; its snapshots are for any."""

    def __init__(self, dimensions: Dimensions) -> None:
        self._columns = {
            "dense": _Column(np.float32, dimensions.dense),
            "tokens": _Column(np.int8, dimensions.token),
            "token_scales": _Column(np.float32),
            "token_ids": _Column(np.int32),
            "token_offsets": _Column(np.int64, first=0),
            "terms": _Column(np.int64),
            "term_offsets": _Column(np.int64, first=0),
            "image_vectors": _Column(np.float32, dimensions.image),
            "image_owners": _Column(np.int64),
            "image_sizes": _Column(np.int64),
            "sessions": _Column(np.int32),
        }
        self._memories: list[Memory] = []
        self._labels: list[tuple[str, ...]] = []
        self._requests: dict[str, tuple[int, bytes]] = {}  # first row and body hash
        self._session_numbers: dict[str, int] = {}
        self._image_rows: dict[str, int] = {}  # of the memories with images, by id
        self._names: dict[bytes, str] = {}
        self._object_bytes = _EMPTY_BYTES
        self._last_seq = -1
        self._snapshot: UserArrays | None = None

    def __len__(self) -> int:
        return len(self._memories)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._object_bytes + sum(column.nbytes for column in self._columns.values())

    @property
    def next_seq(self) -> int:
        """The `seq` of the row that comes next."""
        return self._last_seq + 1

    def ends_with(self, seq: int, memory_id: str) -> bool:
        """Whether this is the last row held."""
        return self._last_seq == seq and self._memories[-1].id == memory_id

    def image_rows(self, memory_ids: Iterable[str]) -> list[int]:
        """The rows of those memories that have images, ascending."""
        return sorted(self._image_rows[id_] for id_ in set(memory_ids) if id_ in self._image_rows)

    def extend(self, rows: pa.Table) -> None:
        """Add rows (columns rows.INDEXED, `seq` ascending), just written or just read."""
        first = len(self)
        batches = rows.to_batches()
        for batch in batches:
            self._extend_memories(batch)
        tokens = _unpack(batches, "tokens", np.int8)
        terms = _unpack(batches, "terms", np.int64)
        image_vectors = _unpack(batches, "image_vectors", np.float32)
        columns = self._columns
        columns["dense"].extend([batch.column("dense").flatten().to_numpy() for batch in batches])
        columns["tokens"].extend(tokens.values)
        columns["token_scales"].extend([_scales(chunk.reshape(-1, columns["tokens"].width)) for chunk in tokens.values])
        columns["token_ids"].extend(_unpack(batches, "token_ids", np.int32).values)
        columns["token_offsets"].extend_offsets(tokens.counts // columns["tokens"].width)
        columns["terms"].extend(terms.values)
        columns["term_offsets"].extend_offsets(terms.counts)
        columns["image_vectors"].extend(image_vectors.values)
        columns["image_sizes"].extend(_unpack(batches, "image_sizes", np.int64).values)
        images = image_vectors.counts // columns["image_vectors"].width
        columns["image_owners"].extend([np.repeat(np.arange(first, len(self)), images)])
        for row in np.flatnonzero(images).tolist():
            self._image_rows[self._memories[first + row].id] = first + row
        self._snapshot = None

    def snapshot(self) -> UserArrays:
        """All that is held now."""
        if self._snapshot is None:
            self._snapshot = UserArrays(
                memories=tuple(self._memories),
                labels=tuple(self._labels),
                nbytes=self.nbytes,
                _requests=self._requests,
                _session_numbers=self._session_numbers,
                **{name: column.view() for name, column in self._columns.items()},
            )
        return self._snapshot

    def _extend_memories(self, batch: pa.RecordBatch) -> None:
        first = len(self)
        self._memories.extend(read_memories(batch, self._names))
        added = self._memories[first:]
        requests = zip(batch.column("request_id").to_pylist(), batch.column("body_hash").to_pylist(), strict=True)
        for row, (request_id, body_hash) in enumerate(requests, first):
            self._requests.setdefault(to_text(request_id), (row, body_hash))
        numbers = self._session_numbers
        sessions = [numbers.setdefault(memory.session_id, len(numbers)) for memory in added]
        self._columns["sessions"].extend([np.array(sessions, np.int32)])
        for images in batch.column("image_labels").to_pylist():
            self._labels.extend(tuple(labels) for labels in images)
        self._object_bytes += sum(_OBJECT_BYTES + sys.getsizeof(memory.text) for memory in added)
        self._last_seq = batch.column("seq")[-1].as_py()


class _Column:
    """An array that grows at its end. A view stays as it was: rows are written beyond it, or into a larger copy."""

    def __init__(self, dtype: DTypeLike, width: int = 0, first: int | None = None) -> None:
        self.width = width
        self._row = (width,) if width else ()
        self._values: NDArray[Any] = np.array([] if first is None else [first], dtype).reshape(-1, *self._row)
        self._length = len(self._values)

    @property
    def nbytes(self) -> int:
        return self.view().nbytes

    def extend(self, chunks: Sequence[NDArray[Any]]) -> None:
        chunks = [chunk.reshape(-1, *self._row) for chunk in chunks]
        length = self._length + sum(map(len, chunks))
        if length > len(self._values):
            # Half as much again, so that a few rows more are cheap; the room costs nothing until it is written to.
            grown = np.empty((length + length // 2, *self._row), self._values.dtype)
            grown[: self._length] = self._values[: self._length]
            self._values = grown
        for chunk in chunks:
            self._values[self._length : self._length + len(chunk)] = chunk
            self._length += len(chunk)

    def extend_offsets(self, counts: Int64) -> None:
        self.extend([self._values[self._length - 1] + np.cumsum(counts)])

    def view(self) -> NDArray[Any]:
        view = self._values[: self._length]
        view.flags.writeable = False
        return view


class _Unpacked(NamedTuple):
    values: list[NDArray[Any]]  # one flat array a batch
    counts: Int64  # how many of them each row holds


def _unpack(batches: Sequence[pa.RecordBatch], column: str, dtype: DTypeLike) -> _Unpacked:
    """A packed column's values, without a copy."""
    little = np.dtype(dtype).newbyteorder("<")
    values, counts = [], [np.zeros(0, np.int64)]
    for batch in batches:
        packed = batch.column(column)
        _, offsets, data = packed.buffers()
        bounds = np.frombuffer(offsets, np.int64)[packed.offset : packed.offset + len(packed) + 1]
        values.append(np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]].view(little))
        counts.append(np.diff(bounds) // little.itemsize)
    return _Unpacked(values, np.concatenate(counts))


def _scales(tokens: Int8) -> Float32:
    """1 / L2 norm of each row, 0 for a row of zeros."""
    scales = np.empty(len(tokens), np.float32)
    for start in range(0, len(tokens), _SCALE_ROWS):
        block = tokens[start : start + _SCALE_ROWS].astype(np.float32)
        squares = np.einsum("ij,ij->i", block, block)
        scales[start : start + _SCALE_ROWS] = np.where(squares > 0, 1 / np.sqrt(np.maximum(squares, 1)), 0)
    return scales
