"""A store in a local folder, which several processes may use at once."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from mmmem.errors import StoreUnavailable
from mmmem.store.durability import SET_ASIDE, make_folder, mend, sync_table
from mmmem.store.folder_place import FolderPlace
from mmmem.store.hints import commits_behind
from mmmem.store.location import IN_USE, REINDEXING
from mmmem.store.locks import exclusive, hold
from mmmem.store.record import COLUMNS, RECORD

if TYPE_CHECKING:
    from mmmem.store.lance import Tables, Version
    from mmmem.store.location import Record


class Folder:
    """Implements Location."""

    unusable = "data_dir: the folder cannot be used"

    def __init__(self, folder: Path, tables: Tables) -> None:
        self._folder = folder
        self._locks = folder / "locks"
        self._held: int | None = None
        self.tables = tables

    def connect(self) -> None:
        """Make the folder if it is missing, and finish deletions that a dying process left half-way."""
        make_folder(self._locks)
        self.tables.connect()
        for trash in self._folder.glob("*.deleted"):
            with exclusive(self.lock_file(trash.stem)):
                shutil.rmtree(trash, ignore_errors=True)

    def look(self) -> None:
        """See Location."""
        self.tables.connect()

    def hold(self, *, alone: bool) -> None:
        """See Location."""
        self._held = hold(self._locks / "store", alone=alone)
        if self._held is None:
            raise StoreUnavailable(IN_USE if alone else REINDEXING)

    def release(self) -> None:
        """See Location."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def record(self, new: Record | None) -> Record | None:
        """See Location."""
        with exclusive(self.lock_file(RECORD)):
            mend(self.folder(RECORD), lambda: _readable(self, RECORD, COLUMNS))
            version = self.open(RECORD)
            if version is None and new is None:
                return None
            if version is None and new is not None:
                self.tables.create(RECORD, _rows(new))
            sync_table(self.folder(RECORD), frozenset())  # also what a process that died at this point left
        if version is None:
            return new
        return _read(version)

    def recorded(self) -> Record | None:
        """See Location."""
        version = self.open(RECORD)
        return None if version is None else _read(version)

    def write_record(self, new: Record) -> None:
        """See Location."""
        with exclusive(self.lock_file(RECORD)):
            self.tables.create(RECORD, _rows(new), over=True)
            sync_table(self.folder(RECORD), frozenset())

    def destroy(self) -> None:
        """See Location."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def exists(self) -> bool:
        """See Location."""
        return (self.folder(RECORD) / "_versions").is_dir()

    def names(self) -> list[str]:
        """See Location."""
        return [folder.stem for folder in self._folder.glob("u_*.lance")]

    def set_aside(self) -> int:
        """See Location."""
        return sum(1 for _ in self._folder.glob(f"u_*.lance/{SET_ASIDE}"))

    def lost_commits(self, name: str) -> int:
        """See Location. A commit that was set aside was never acknowledged."""
        folder = self.folder(name)
        return 0 if any(folder.glob(SET_ASIDE)) else commits_behind(folder)

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


def _read(version: Version) -> Record:
    row = version.read(COLUMNS).to_pylist()[0]
    return row["format"], json.loads(row["models"])


def _rows(record: Record) -> pa.Table:
    store_format, models = record
    return pa.table({"format": [store_format], "models": [json.dumps(models, sort_keys=True)]})


def _readable(store: Folder, name: str, columns: tuple[str, ...]) -> bool:
    try:
        version = store.open(name)
        if version:
            version.read(columns)
    except Exception:
        return False
    return True
