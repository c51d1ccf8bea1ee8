"""A store looked at from outside: every column of every row of every table, without the models that made the vectors.

Changes nothing: no lock is made, nothing is mended. A service may write meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mmmem.errors import MmmemError
from mmmem.store.faults import store_faults
from mmmem.store.protocol import Dimensions
from mmmem.store.record import check_table, under_way
from mmmem.store.rows import check_widths, read_memories, to_text, with_encoding
from mmmem.store.users import table_name

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.store.location import Location, Record
    from mmmem.types import EncodedMemory

_UNREADABLE = "the store could not be read"
_LOOKS = 20  # at a table that others write to


class Looked(NamedTuple):
    """What was seen of a table: its memories, their images, and how many are not what was stored."""

    memories: int
    images: int
    damaged: int


class Inspection:
    """The tables of a store that is there. Every method raises StoreUnavailable."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._models: dict[str, str] | None = None
        self._dimensions: Dimensions | None = None  # those of the first memory with pictures, else of the first
        with store_faults(location.unusable):
            location.look()

    def record(self) -> Record | None:
        """Its format, and the models by role that its vectors are of; None where that is lost."""
        with store_faults("the store's record could not be read"):
            return self._location.recorded()

    def expect(self, record: Record) -> None:
        """Have `look` refuse tables of other models than the record's."""
        _, models = record
        self._models = None if under_way(models) else models

    def names(self) -> list[str]:
        """The names of all users' tables."""
        with store_faults(_UNREADABLE):
            return sorted(self._location.names())

    def look(self, name: str, right: Callable[[EncodedMemory], bool]) -> Looked:
        """Read a table's newest version whole, zeros where it went meanwhile; `right`: whether a memory is what was stored.

        Raises TableMismatch where they are of a newer format, or of other models than the store.
        """
        with store_faults(_UNREADABLE):
            place = self._location.place(name)
            for _ in range(_LOOKS):
                stamp = place.stamp()
                try:
                    return self._look(name, right)
                except MmmemError:
                    raise
                except Exception:
                    if place.stamp() == stamp:  # else a writer took the version away that was being read
                        raise
            return self._look(name, right)

    def set_aside(self) -> int:
        """Commits that a power cut tore and that were set aside."""
        with store_faults(_UNREADABLE):
            return self._location.set_aside()

    def lost_commits(self, name: str) -> int:
        """Commits of a table that its own hint names and that are not there. Of a table made anew meanwhile only a second look tells."""
        with store_faults(_UNREADABLE):
            return self._location.lost_commits(name) and self._location.lost_commits(name)

    def _look(self, name: str, right: Callable[[EncodedMemory], bool]) -> Looked:
        version = self._location.open(name)
        if version is None:
            return Looked(0, 0, 0)
        check_table(version, self._models)
        memories = images = damaged = 0
        for batch in version.batches():
            for encoded in self._read(batch, name):
                memories += 1
                images += len(encoded.images) if encoded else 0
                damaged += encoded is None or not right(encoded)
        return Looked(memories, images, damaged)

    def _read(self, batch: pa.RecordBatch, name: str) -> Iterator[EncodedMemory | None]:
        """None for a row whose columns do not fit each other."""
        names: dict[bytes, str] = {}
        for memory, row in zip(read_memories(batch, names), batch.to_pylist(), strict=True):
            try:
                encoded = with_encoding(memory, row)
                _check_row(row, name)
                self._check(encoded)
            except Exception:  # whatever a changed byte makes of it
                yield None
            else:
                yield encoded

    def _check(self, encoded: EncodedMemory) -> None:
        """Raises ValueError where vectors are not finite or not as wide as those of the store's other memories."""
        known = self._dimensions or Dimensions(len(encoded.text.dense), 0, 0, 0, 0, 0)
        if not known.token and len(encoded.text.token_ids):
            known = known._replace(token=encoded.text.tokens.shape[1])
        if not known.image and encoded.images:
            first = encoded.images[0]
            known = known._replace(
                image=len(first.vectors.vector),
                appearance=len(first.vectors.appearance),
                fingerprint=len(first.fingerprint),
                colours=len(first.colours),
            )
        if not len(encoded.text.token_ids):  # of no token, a row's width is not written down
            if encoded.text.tokens.size:
                raise ValueError("token vectors without tokens")
            check_widths(encoded, known._replace(token=encoded.text.tokens.shape[1]))
        else:
            check_widths(encoded, known)
        self._dimensions = known


def _check_row(row: dict[str, Any], name: str) -> None:
    """Raises ValueError where it is another user's, or its images are not of the sizes that it says."""
    to_text(row["request_id"])
    if table_name(to_text(row["user_id"])) != name:
        raise ValueError("another user's")
    if [len(image) for image in row["images"]] != np.frombuffer(row["image_sizes"], "<i8").tolist():
        raise ValueError("images of other sizes")
