"""Columns of numbers: growing ones in memory, packed ones in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import DTypeLike, NDArray

    from mmmem.types import Float32, Int8, Int64

_SCALE_ROWS = 4096  # token vectors widened to float32 at a time, so that they stay in the CPU's cache


class Column:
    """An array that grows at its end. A view stays as it was: rows are written beyond it, or into a larger copy."""

    def __init__(self, dtype: DTypeLike, width: int = 0, first: int | None = None) -> None:
        self.width = width
        self._row = (width,) if width else ()
        self._values: NDArray[Any] = np.array([] if first is None else [first], dtype).reshape(-1, *self._row)
        self._length = len(self._values)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes, room for growth aside."""
        return self.view().nbytes

    def extend(self, chunks: Sequence[NDArray[Any]]) -> None:
        """Add the rows of each chunk."""
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
        """Add where each row ends in another column, from how many values it has there."""
        self.extend([self._values[self._length - 1] + np.cumsum(counts)])

    def view(self) -> NDArray[Any]:
        """What is held now, read-only."""
        view = self._values[: self._length]
        view.flags.writeable = False
        return view


class Unpacked(NamedTuple):
    """A packed column's content."""

    values: list[NDArray[Any]]  # one flat array a batch
    counts: Int64  # how many of them each row holds


def unpack(batches: Sequence[pa.RecordBatch], column: str, dtype: DTypeLike) -> Unpacked:
    """A packed column's values, without a copy."""
    little = np.dtype(dtype).newbyteorder("<")
    values, counts = [], [np.zeros(0, np.int64)]
    for batch in batches:
        packed = batch.column(column)
        _, offsets, data = packed.buffers()
        bounds = np.frombuffer(offsets, np.int64)[packed.offset : packed.offset + len(packed) + 1]
        values.append(np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]].view(little))
        counts.append(np.diff(bounds) // little.itemsize)
    return Unpacked(values, np.concatenate(counts))


def whole_rows(vectors: Float32) -> Int8:
    """Each row's direction in whole numbers, int8 [n, d]: a quarter of the memory, and products that are exact."""
    rows = np.empty(vectors.shape, np.int8)
    for start in range(0, len(vectors), _SCALE_ROWS):
        block = vectors[start : start + _SCALE_ROWS]
        peaks = np.maximum(block.max(axis=1, initial=0), -block.min(axis=1, initial=0))
        rows[start : start + _SCALE_ROWS] = np.rint(block * (127 / np.where(peaks > 0, peaks, 1))[:, None])
    return rows


def inverse_norms(tokens: Int8) -> Float32:
    """1 / L2 norm of each row, 0 for a row of zeros."""
    scales = np.empty(len(tokens), np.float32)
    for start in range(0, len(tokens), _SCALE_ROWS):
        block = tokens[start : start + _SCALE_ROWS].astype(np.float32)
        squares = np.einsum("ij,ij->i", block, block)
        scales[start : start + _SCALE_ROWS] = np.where(squares > 0, 1 / np.sqrt(np.maximum(squares, 1)), 0)
    return scales
