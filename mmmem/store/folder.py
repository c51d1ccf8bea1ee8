"""A store in a local folder, which several processes may use at once."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from mmmem.errors import StoreUnavailable
from mmmem.store.durability import (
    SET_ASIDE,
    Synced,
    fsync,
    make_folder,
    mend,
    newest_manifest,
    newest_stamp,
    size_on_disk,
    sync_table,
)
from mmmem.store.faults import describe, logger
from mmmem.store.location import Committed
from mmmem.store.locks import exclusive
from mmmem.store.record import COLUMNS, RECORD

if TYPE_CHECKING:
    from mmmem.store.lance import Tables, Version
    from mmmem.store.location import Record, Stamp

_AT_ONCE = timedelta(milliseconds=1)  # at 0 LanceDB warns
_SYNCED_BYTES = 350  # one entry of Synced


class Folder:
    """Implements Location."""

    unusable = "data_dir: the folder cannot be used"

    def __init__(self, folder: Path, tables: Tables) -> None:
        self._folder = folder
        self._locks = folder / "locks"
        self.tables = tables

    def connect(self) -> None:
        """Make the folder if it is missing, and finish deletions that a dying process left half-way."""
        make_folder(self._locks)
        self.tables.connect()
        for trash in self._folder.glob("*.deleted"):
            with exclusive(self.lock_file(trash.stem)):
                shutil.rmtree(trash, ignore_errors=True)

    def record(self, new: Record) -> Record:
        """See Location."""
        with exclusive(self.lock_file(RECORD)):
            mend(self.folder(RECORD), lambda: _readable(self, RECORD, COLUMNS))
            version = self.open(RECORD)
            if version is None:
                store_format, models = new
                row = {"format": [store_format], "models": [json.dumps(models, sort_keys=True)]}
                self.tables.create(RECORD, pa.table(row))
            sync_table(self.folder(RECORD), frozenset())  # also what a process that died at this point left
        if version is None:
            return new
        row = version.read(COLUMNS).to_pylist()[0]
        return row["format"], json.loads(row["models"])

    def exists(self) -> bool:
        """See Location."""
        return (self.folder(RECORD) / "_versions").is_dir()

    def names(self) -> list[str]:
        """See Location."""
        return [folder.stem for folder in self._folder.glob("u_*.lance")]

    def set_aside(self) -> int:
        """See Location."""
        return sum(1 for _ in self._folder.glob(f"u_*.lance/{SET_ASIDE}"))

    def place(self, name: str) -> FolderPlace:
        """See Location."""
        return FolderPlace(self, name)

    def open(self, name: str) -> Version | None:
        """See Location."""
        self.tables.require_connection()
        if not self.folder(name).is_dir():
            self.require_record(name)
            return None
        return self.tables.open(name)

    def folder(self, name: str) -> Path:
        """Where a table lies."""
        return self._folder / f"{name}.lance"

    def trash(self, name: str) -> Path:
        """Where a table goes to be deleted."""
        return self._folder / f"{name}.deleted"

    def lock_file(self, name: str) -> Path:
        """The lock of a table; some share one, so that there are never more than 4,096."""
        return self._locks / hashlib.sha256(name.encode()).hexdigest()[:3]

    def require_record(self, name: str) -> None:
        """A folder without the store's record is not the store: a lost mount must not read as a user without memories."""
        if name != RECORD and not self.folder(RECORD).is_dir():
            raise StoreUnavailable("the data folder is not there")


class FolderPlace:
    """Implements Place."""

    def __init__(self, store: Folder, name: str) -> None:
        self._store = store
        self._name = name
        self._folder = store.folder(name)
        self._lock_file = store.lock_file(name)
        self._synced: Synced = frozenset()

    @property
    def files(self) -> int:
        """See Place."""
        return sum(name.endswith(".lance") for name, _ in self._synced)

    @property
    def nbytes(self) -> int:
        """See Place."""
        return _SYNCED_BYTES * len(self._synced)

    def exclusive(self) -> AbstractContextManager[None]:
        """See Place."""
        return exclusive(self._lock_file)

    def stamp(self) -> Stamp | None:
        """See Place. To open the table would take ten times as long."""
        return newest_stamp(self._folder)

    def newest(self) -> tuple[Stamp | None, Version | None]:
        """See Place."""
        stamp = newest_stamp(self._folder)  # first: a commit in between only makes the next reader look again
        return stamp, self._store.open(self._name)

    def append(self, version: Version | None, rows: pa.Table) -> Committed:
        """See Place. The caller holds the lock. What cannot be synced is taken back."""
        self.settle()  # what a writer that died left: a commit goes on top of nothing that a power cut can take
        if version:
            written = version.append(rows)
        else:
            self._store.require_record(self._name)
            written = self._store.tables.create(self._name, rows)
        self._settle_or_take_back(version)
        return Committed(written, newest_stamp(self._folder), final=True)

    def settle(self) -> None:
        """See Place. Its writer may have died before it synced."""
        if self._folder.exists():
            self._synced = sync_table(self._folder, self._synced)

    def recover(self, readable: Callable[[], bool]) -> None:
        """See Place. The caller holds the lock."""
        mend(self._folder, readable)

    def remove(self) -> bool:
        """At once, also when the process dies half-way: what has the other name is no table, and goes at the next start."""
        trash = self._store.trash(self._name)
        existed = self._folder.exists() or trash.exists()
        if trash.exists():
            shutil.rmtree(trash)
        if self._folder.exists():
            self._folder.rename(trash)
            fsync(trash.parent)
            shutil.rmtree(trash)
        return existed

    def rewrite(self, version: Version, memory_id: bytes) -> None:
        """See Place. The caller holds the lock. What cannot be synced is taken back."""
        self.settle()
        self._store.tables.rewrite(version, memory_id)
        self._settle_or_take_back(version)

    def drop_old_versions(self) -> None:
        """See Place. The caller holds the lock; a reader in another process looks again when its version is gone."""
        _, version = self.newest()
        if version:
            version.compact(_AT_ONCE)
            self.settle()

    def written(self) -> float | None:
        """See Place. A folder without a commit is what a writer left that died."""
        try:
            return (newest_manifest(self._folder) or self._folder).stat().st_mtime
        except FileNotFoundError:
            return None

    def size(self) -> int:
        """See Place. The caller holds the lock."""
        return size_on_disk(self._folder)

    def forget(self) -> None:
        """See Place."""
        self._synced = frozenset()

    def _settle_or_take_back(self, version: Version | None) -> None:
        try:
            self.settle()
        except BaseException:
            # After a failed fsync the kernel may forget what it could not write: a retry must write it again.
            self._take_back(version)
            raise

    def _take_back(self, version: Version | None) -> None:
        try:
            if version:
                version.restore()
            else:
                self.remove()
        except Exception as error:
            logger.error("a commit that is not on disk could not be taken back: %s", describe(error))


def _readable(store: Folder, name: str, columns: tuple[str, ...]) -> bool:
    try:
        version = store.open(name)
        if version:
            version.read(columns)
    except Exception:
        return False
    return True
