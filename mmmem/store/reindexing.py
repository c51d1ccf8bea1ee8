"""A store whose tables are replaced, one after the other, by the same memories with vectors of other models.

A user's new rows gather in a store of their own below the first one, and go into the user's table as one commit. Each table
says which models its vectors are of, so what a process that died had done is known, and of the user it was at the rows that
had gathered are there. From the first table to the last the store's record says that this is under way, and nobody else
opens the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mmmem.errors import StoreMismatch, StoreUnavailable
from mmmem.store.faults import store_faults
from mmmem.store.reading import look, read_requests
from mmmem.store.record import FORMAT, beginning, check_format, check_table, settled
from mmmem.store.users import LanceStore, locate

if TYPE_CHECKING:
    from mmmem.settings import Settings
    from mmmem.store.protocol import Dimensions, StoredRequest

FOLDER = "reindexing"  # no name of a table


class Reindexing:
    """`gathered` is the store that a user's new rows gather in. For one thread."""

    def __init__(self, settings: Settings, *, models: Mapping[str, str], dimensions: Dimensions) -> None:
        """`models` are those to come, by role, `dimensions` the widths of their vectors. Touches no file."""
        self._models = dict(models)
        self._location = locate(settings)
        below = settings.model_copy(update={"data_dir": f"{settings.data_dir.rstrip('/')}/{FOLDER}"})
        self._below = locate(below)
        self.gathered = LanceStore(below, models=models, dimensions=dimensions)
        self._before: dict[str, str] = {}  # the models that the store was of
        self._is_new = False  # whether the record is to change

    def open(self) -> None:
        """Hold the store alone, and have its record say what is under way. Raises StoreMismatch, StoreUnavailable."""
        with store_faults(self._location.unusable):
            if not self._location.exists():
                raise StoreUnavailable("data_dir: there is no store")
            self._location.connect()
            self._location.hold(alone=True)
            record = self._location.record(None)
            if record is None:
                raise StoreUnavailable("data_dir: there is no store")
            check_format(record)
            _, written = record
            self._before = settled(written)
            self._is_new = written != self._models
            if self._is_new:
                self._location.write_record((FORMAT, beginning(self._before, self._models)))
        self._open_gathered()

    def names(self) -> list[str]:
        """The names of all users' tables."""
        with store_faults("the store could not be read"):
            return sorted(self._location.names())

    def waits(self, name: str) -> bool:
        """Whether a table's vectors are not of the models to come."""
        with store_faults("the store could not be read"):
            _, version = self._location.place(name).newest()
            if version is None:
                return False
            check_table(version, None)
            return (version.models or self._before) != self._models

    def requests(self, name: str) -> Iterator[StoredRequest]:
        """What is kept in a table, in order."""
        return read_requests(self._location.place(name), models=None)

    def replace(self, name: str, count: int) -> None:
        """Put what has gathered, so many memories, in the place of a table's rows. A table without any goes."""
        place = self._location.place(name)
        with store_faults("the store could not be written"), place.exclusive():
            version, requests = look(place, None)
            _, new = self._below.place(name).newest()
            kept, gathered = sum(len(each.seqs) for each in requests), new.rows if new else 0
            if version is None or not kept == gathered == count:
                self.gathered.delete(name)
                raise StoreUnavailable(
                    "the store changed meanwhile; stop whoever uses it, and run `mmmem reindex` again"
                )
            if new:
                place.replace(version, new.batches())
            else:
                place.remove()

    def clear(self, name: str) -> None:
        """Remove what is left of a table's old vectors, and what gathered for it, once it was replaced."""
        if self.gathered.holds(name):
            place = self._location.place(name)
            with store_faults("the store could not be written"), place.exclusive():
                place.drop_old_versions()
            self.gathered.delete(name)

    def finish(self) -> None:
        """Have the record say that the store is of the new models, and nothing else."""
        self.gathered.close()
        with store_faults("the store could not be written"):
            self._below.destroy()
            if self._is_new:
                self._location.write_record((FORMAT, self._models))

    def close(self) -> None:
        """Hold the store no longer."""
        self.gathered.close()
        self._location.release()

    def _open_gathered(self) -> None:
        try:
            self.gathered.open()
        except StoreMismatch:  # left by one who was to bring other models
            self._below.destroy()
            self.gathered.open()
        self._below.connect()
