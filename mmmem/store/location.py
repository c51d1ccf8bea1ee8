"""Where a store can lie: a local folder (folder.py) or a bucket of an object store (bucket.py).

What differs is how a change is made safe. In a folder one writer at a time holds a lock file, syncs what it wrote and takes
back what it could not sync. In a bucket nobody can be kept out and nothing can be taken back: every writer commits, and
what counts is decided by the order of the table's rows (log.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.store.lance import Tables, Version

OBJECT_STORES = ("s3", "gs", "az")

Stamp = Hashable
"""What tells one commit of a table from every other, those of a table made anew under the same name included."""

Record = tuple[int, dict[str, str]]
"""A store's format, and the models by role that its vectors are of (record.py)."""

IN_USE = "data_dir: the store is in use; stop the service, and every other command on it, first"
REINDEXING = "data_dir: `mmmem reindex` is at work on the store; wait until it has ended"


class Superseded(Exception):
    """A commit came to nothing because of another one. Nothing of it counts; look again and retry."""


class Committed(NamedTuple):
    """A commit that is durable."""

    version: Version
    stamp: Stamp | None  # None: to be looked up
    final: bool  # whether nobody can have come between it and the version it was made on


class Location(Protocol):
    """Where a store lies. Safe to use from many threads."""

    unusable: str
    """What to say when it cannot be used; names the setting, not its value."""

    tables: Tables

    def connect(self) -> None:
        """Make it ready, and check that it can be used. Raises StoreUnavailable, or any error of the operating system."""

    def look(self) -> None:
        """Get ready to read what is there as it lies: nothing is made, mended or synced. Then only what reads may be called."""

    def hold(self, *, alone: bool) -> None:
        """Hold the store, alone or with others, until `release` or the process's end. Raises StoreUnavailable.

        In a bucket nobody can be kept out.
        """

    def release(self) -> None:
        """Hold it no longer."""

    def record(self, new: Record | None) -> Record | None:
        """The store's record; `new`, if any, written and durable, where there was none."""

    def recorded(self) -> Record | None:
        """The store's record as it lies, None where there is none."""

    def write_record(self, new: Record) -> None:
        """Put another record in the place of the store's, durable when this returns. Only by who holds the store alone."""

    def destroy(self) -> None:
        """Remove the whole store."""

    def exists(self) -> bool:
        """Whether a store is there, without making one."""

    def names(self) -> list[str]:
        """The names of all users' tables."""

    def set_aside(self) -> int:
        """How many commits a power cut tore, and were set aside, where that happens."""

    def lost_commits(self, name: str) -> int:
        """How many commits of a table were made, as its own hint says, and are not there; 0 where nobody says so."""

    def place(self, name: str) -> Place:
        """A user's table, which need not exist."""

    def open(self, name: str) -> Version | None:
        """The newest version of a table, None where there is none."""


class Place(Protocol):
    """Where one user's table lies, and what makes a change to it safe there. Any method may raise any error."""

    def exclusive(self) -> AbstractContextManager[object]:
        """Held around every change, against all who can be kept out."""

    def stamp(self) -> Stamp | None:
        """The stamp of the newest commit, None where there is none."""

    def newest(self) -> tuple[Stamp | None, Version | None]:
        """The newest version, and a stamp that is not newer than it; None where there is no table."""

    def append(self, version: Version | None, rows: pa.Table) -> Committed:
        """Commit rows to a table, of which `version` is the newest, or to a new one. Raises Superseded."""

    def settle(self) -> None:
        """See to it that what was committed, by anyone, is durable."""

    def recover(self, readable: Callable[[], bool]) -> None:
        """Do what can be done about a table that could not be read. Raises StoreUnavailable when nothing can."""

    def remove(self) -> bool:
        """Remove all of the table, old versions too; False when there was none."""

    def rewrite(self, version: Version, memory_id: bytes) -> None:
        """Commit a table without one memory; `version` is its newest. Durable when this returns. Raises Superseded."""

    def replace(self, version: Version, rows: pa.RecordBatchReader) -> None:
        """Commit these rows in place of a table's, of which `version` is the newest. Durable when this returns.

        Old versions may go. Only by who holds the store alone. Raises StoreUnavailable, the table as it was, where somebody else wrote all the same.
        """

    def drop_old_versions(self) -> None:
        """Remove what only versions before the newest hold; where they have to stay, nothing."""

    def written(self) -> float | None:
        """When the table was last written, Unix seconds; None where there is none."""

    def size(self) -> int:
        """Bytes of the table's files, old versions too; where those have to stay, of the newest one's alone."""

    def forget(self) -> None:
        """Drop what is held in memory of the table."""

    @property
    def files(self) -> int:
        """How many files the rows were spread over when they were last written here; 0 when unknown."""

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""


def scheme(data_dir: str) -> str:
    """The scheme of a URI, empty for a folder."""
    before, separator, _ = data_dir.partition("://")
    return before if separator else ""
