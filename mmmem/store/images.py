"""The images of one user's memories as arrays, apart from their files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mmmem.store.columns import Column, unpack
from mmmem.types import ImagePart

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.store.protocol import Dimensions
    from mmmem.types import Float32, Int64, Memory, UInt8


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """m images in the order of their memories. Never changes; arrays are read-only.

    vectors: float32 [m, d], in the space that texts share. appearances: float32 [m, a]. fingerprints: uint8 [m, f]. colours: uint8 [m, c].
    owners: int64 [m], the row of the memory that each belongs to. sizes: int64 [m], bytes of the file. labels: what each seems
    to show; texts: what is written in each.
    """

    vectors: Float32
    appearances: Float32
    fingerprints: UInt8
    colours: UInt8
    owners: Int64
    sizes: Int64
    labels: Sequence[tuple[str, ...]]
    texts: Sequence[str]

    def __len__(self) -> int:
        return len(self.owners)


class ImageIndex:
    """Grows as rows are read or written. For one thread at a time; its snapshots are for any."""

    def __init__(self, dimensions: Dimensions) -> None:
        self._columns = {
            "vectors": Column(np.float32, dimensions.image),
            "appearances": Column(np.float32, dimensions.appearance),
            "fingerprints": Column(np.uint8, dimensions.fingerprint),
            "colours": Column(np.uint8, dimensions.colours),
            "owners": Column(np.int64),
            "sizes": Column(np.int64),
        }
        self._labels: list[tuple[str, ...]] = []
        self._texts: list[str] = []
        self._text_bytes = 0

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._text_bytes + sum(column.nbytes for column in self._columns.values())

    def extend(self, batches: Sequence[pa.RecordBatch], first: int) -> Int64:
        """Add the images of rows that begin at number `first`; the number of images of each row, int64 [rows]."""
        columns = self._columns
        vectors = unpack(batches, "image_vectors", np.float32)
        counts: Int64 = vectors.counts // columns["vectors"].width
        columns["vectors"].extend(vectors.values)
        columns["appearances"].extend(unpack(batches, "appearances", np.float32).values)
        columns["fingerprints"].extend(unpack(batches, "fingerprints", np.uint8).values)
        columns["colours"].extend(unpack(batches, "colours", np.uint8).values)
        columns["sizes"].extend(unpack(batches, "image_sizes", np.int64).values)
        columns["owners"].extend([np.repeat(np.arange(first, first + len(counts)), counts)])
        for batch in batches:
            self._labels.extend(tuple(labels) for row in batch.column("image_labels").to_pylist() for labels in row)
            texts = [text for row in batch.column("image_texts").to_pylist() for text in row]
            self._texts.extend(texts)
            self._text_bytes += sum(map(sys.getsizeof, texts))
        return counts

    def snapshot(self) -> Images:
        """All that is held now."""
        views = {name: column.view() for name, column in self._columns.items()}
        return Images(labels=tuple(self._labels), texts=tuple(self._texts), **views)


def with_images(memory: Memory, images: Sequence[bytes]) -> Memory | None:
    """A memory with the bytes of its images, in their order; None where they are not all there."""
    pictures = [part for part in memory.parts if isinstance(part, ImagePart)]
    if not pictures:
        return memory
    if len(images) != len(pictures):
        return None
    data = iter(images)
    return replace(
        memory,
        parts=tuple(replace(part, data=next(data)) if isinstance(part, ImagePart) else part for part in memory.parts),
    )
