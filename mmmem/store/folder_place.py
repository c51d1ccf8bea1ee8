"""One user's table in a local folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from mmmem.store.durability import Synced, fsync, mend, newest_manifest, newest_stamp, size_on_disk, sync_table
from mmmem.store.faults import describe, logger
from mmmem.store.location import Committed
from mmmem.store.locks import exclusive

if TYPE_CHECKING:
    from mmmem.store.folder import Folder
    from mmmem.store.lance import Version
    from mmmem.store.location import Stamp

_AT_ONCE = timedelta(milliseconds=1)  # at 0 LanceDB warns
_SYNCED_BYTES = 350  # one entry of Synced


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
        """See Place."""
        self.replace(version, version.others(memory_id))

    def replace(self, version: Version, rows: pa.RecordBatchReader) -> None:
        """See Place. The caller holds the lock. What cannot be synced is taken back."""
        self.settle()
        self._store.tables.overwrite(version.name, rows)
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
