"""A store looked at from outside: every row of every table, without the models that made the vectors. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmmem.store.faults import store_faults
from mmmem.store.images import with_images
from mmmem.store.record import check_table, under_way
from mmmem.store.rows import read_memories

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.store.location import Location, Record
    from mmmem.types import Memory

_COLUMNS = (
    "id",
    "session_id",
    "role",
    "timestamp",
    "created_at",
    "position",
    "piece",
    "parts",
    "key",
    "image_sizes",
    "images",
)
_UNREADABLE = "the store could not be read"


class StoredMemory(NamedTuple):
    """A row. `memory` has its images' bytes; None where those are not as many, or not of the sizes, that the row says."""

    memory: Memory | None
    key: int
    images: int


class Inspection:
    """The tables of a store that is there. Every method raises StoreUnavailable."""

    def __init__(self, location: Location) -> None:
        self._location = location
        with store_faults(location.unusable):
            location.connect()
            _, models = self.record()
            self._models = None if under_way(models) else models

    def record(self) -> Record:
        """Its format, and the models by role that its vectors are of."""
        with store_faults(_UNREADABLE):
            return self._location.record(None) or (0, {})

    def names(self) -> list[str]:
        """The names of all users' tables."""
        with store_faults(_UNREADABLE):
            return sorted(self._location.names())

    def memories(self, name: str) -> Iterator[StoredMemory]:
        """The rows of a table's newest version, a batch at a time; none where the table went meanwhile.

        Raises TableMismatch where they are of a newer format, or of other models than the store.
        """
        with store_faults(_UNREADABLE):
            version = self._location.open(name)
            if version:
                check_table(version, self._models)
            names: dict[bytes, str] = {}
            for batch in version.batches(_COLUMNS) if version else ():
                yield from _stored(batch, names)

    def set_aside(self) -> int:
        """Commits that a power cut tore and that were set aside."""
        with store_faults(_UNREADABLE):
            return self._location.set_aside()


def _stored(batch: pa.RecordBatch, names: dict[bytes, str]) -> Iterator[StoredMemory]:
    columns = (batch.column(column).to_pylist() for column in ("key", "image_sizes", "images"))
    for memory, key, packed, images in zip(read_memories(batch, names), *columns, strict=True):
        as_said = [len(image) for image in images] == np.frombuffer(packed, "<i8").tolist()
        yield StoredMemory(with_images(memory, images) if as_said else None, key, len(images))
