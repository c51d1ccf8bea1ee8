"""One user's table: read what is new, commit a group, repair, compact, delete.

Two locks, in this order: the lock file, held around every change on disk against other threads and processes, then the
thread lock, around the arrays.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mmmem.errors import MmmemError
from mmmem.store.durability import Stamp, Synced, fsync, mend, newest_stamp, size_on_disk, sync_table
from mmmem.store.faults import describe, store_faults
from mmmem.store.group import sort_out
from mmmem.store.index import UserArrays, UserIndex
from mmmem.store.locks import exclusive
from mmmem.store.rows import INDEXED, to_text, with_seq

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.settings import Settings
    from mmmem.store.lance import Database, Version
    from mmmem.store.protocol import Dimensions
    from mmmem.store.rows import RequestRows

logger = logging.getLogger(__name__)
T = TypeVar("T")

_NOTHING = (b"", 0)  # incarnation and number of the version that an index holds
_FRAGMENT_BYTES = 1024 * 1024  # see UserTable.compact
_SYNCED_BYTES = 350  # one entry of Synced
_OLD_BYTES = 4 * 1024 * 1024  # of old versions that a table may keep for their whole time, beside as much as it holds
_LEEWAY = timedelta(seconds=0.1)  # that a look at the table takes; a merge comes much less often


class _Newest(NamedTuple):
    version: Version | None  # None: there is no table
    arrays: UserArrays
    next_seq: int
    image_rows: list[int]


class UserTable:
    """What this process knows of one user's table on disk. Safe to use from many threads."""

    def __init__(self, database: Database, name: str, dimensions: Dimensions, settings: Settings) -> None:
        self._database = database
        self._name = name
        self._dimensions = dimensions
        self._fragments = settings.compact_fragments
        self._version_age = timedelta(minutes=settings.version_minutes)
        self._folder = database.folder(name)
        self._lock_file = database.lock_file(name)
        self._lock = threading.Lock()
        self._index = UserIndex(dimensions)
        self._held = _NOTHING
        self._stamp: Stamp | None = None  # of the newest manifest that the index holds
        self._synced: Synced = frozenset()
        self._appended: float | None = None  # when the commit began that may have left too many fragments

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._index.nbytes + _SYNCED_BYTES * len(self._synced)

    def arrays(self) -> UserArrays:
        """The table's memories as last committed, by any process. Raises StoreUnavailable."""
        with store_faults("the store could not be read"):
            arrays = self._unchanged()
            return self._mending(self._newest, exclusive(self._lock_file)).arrays if arrays is None else arrays

    def images(self, memory_ids: Sequence[str]) -> dict[str, list[bytes]]:
        """The image files of those memories that have any and are still there, by id. Raises StoreUnavailable."""

        def read() -> dict[str, list[bytes]]:
            newest = self._newest(memory_ids)
            return newest.version.images(newest.image_rows) if newest.version and newest.image_rows else {}

        with store_faults("the store could not be read"):
            return self._mending(read, exclusive(self._lock_file))

    def commit(self, group: Sequence[RequestRows]) -> list[MmmemError | None]:
        """Keep a group of requests as one commit, on disk when this returns; what became of each, None for kept.

        A request that is there already is kept, once what holds it is on disk: its writer may have died before that.
        Raises StoreUnavailable, and then none of the group is kept.
        """
        with store_faults("the store could not be written"), exclusive(self._lock_file):
            newest = self._mending(self._newest, nullcontext())
            outcomes, new = sort_out(newest.arrays, group)
            if new:
                self._sync()  # what a writer that died left: a commit goes on top of nothing that a power cut can take
                self._append(newest.version, with_seq(new, newest.next_seq))
            else:
                self._sync()
            return outcomes

    def compact(self) -> None:
        """Merge fragments and drop old versions if a commit left too many. A failure is logged: it costs speed, not data.

        Merging writes the whole table again, images included, so a table may have one fragment more for each MiB: that
        bounds what a commit costs, however large the table. Only right after a commit, because old versions go before
        the merged one is on disk, and the one to fall back on must be too young to go.

        Each merge leaves the whole table in its old files. Where Adds come faster than those grow old, they go as soon as
        the merged ones are on disk, all but the last: a reader has the time until the next merge.
        """
        began = self._appended
        if began is None or sum(name.endswith(".lance") for name, _ in self._synced) <= self._fragments:
            return
        self._appended = None
        try:
            with exclusive(self._lock_file):
                version = self._database.open(self._name)
                if version and version.fragments > self._fragments + version.nbytes // _FRAGMENT_BYTES:
                    version.compact(self._version_age)
                    self._sync()
                    if size_on_disk(self._folder) > 2 * version.nbytes + _OLD_BYTES:
                        version.compact(timedelta(seconds=time.monotonic() - began) + _LEEWAY)
        except Exception as error:
            logger.warning("a table could not be compacted: %s", describe(error))

    def delete(self) -> bool:
        """Remove the table; False when there was none. Raises StoreUnavailable."""
        with store_faults("the store could not be written"), exclusive(self._lock_file):
            existed = self._folder.exists() or self._database.trash(self._name).exists()
            self._remove()
            with self._lock:
                self._forget()
            return existed

    def _unchanged(self) -> UserArrays | None:
        """What is held, where no commit came since. To open the table would take ten times as long."""
        stamp = newest_stamp(self._folder)
        with self._lock:
            return self._index.snapshot() if stamp and stamp == self._stamp else None

    def _newest(self, memory_ids: Sequence[str] = ()) -> _Newest:
        with self._lock:
            version = self._refresh()
            index = self._index
            return _Newest(version, index.snapshot(), index.next_seq, index.image_rows(memory_ids))

    def _refresh(self) -> Version | None:
        """Bring the index up to the newest version. A table made anew under the same name has another incarnation."""
        stamp = newest_stamp(self._folder)  # first: a commit in between only makes the next reader look again
        version = self._database.open(self._name)
        if version is None:
            self._forget()
            return None
        incarnation, number = self._held
        if version.incarnation != incarnation or version.number < number:
            self._forget()
        if version.number != self._held[1]:
            try:
                self._read(version)
            except BaseException:
                self._forget()  # rather than half a batch
                raise
            self._held = (version.incarnation, version.number)
        self._stamp = stamp
        return version

    def _read(self, version: Version) -> None:
        if len(self._index):
            rows = version.read(INDEXED, offset=len(self._index) - 1)
            if rows.num_rows and self._index.ends_with(rows["seq"][0].as_py(), to_text(rows["id"][0].as_py())):
                self._index.extend(rows.slice(1))
                return
            self._index = UserIndex(self._dimensions)  # the last row held is not in its place: rows were removed
        self._index.extend(version.read(INDEXED))

    def _append(self, version: Version | None, rows: pa.Table) -> None:
        before = (version.incarnation, version.number) if version else _NOTHING
        began = time.monotonic()
        written = version.append(rows) if version else self._database.create(self._name, rows)
        try:
            self._sync()
        except BaseException:
            # After a failed fsync the kernel may forget what it could not write: a retry must write it again.
            self._take_back(version)
            raise
        self._appended = began
        with self._lock:
            if self._held == before:  # else a reader came first, or the arrays have to be loaded again
                self._index.extend(rows)
                self._held = (written.incarnation, written.number)

    def _take_back(self, version: Version | None) -> None:
        try:
            if version:
                version.restore()
            else:
                self._remove()
        except Exception as error:
            logger.error("a commit that is not on disk could not be taken back: %s", describe(error))  # noqa: TRY400

    def _sync(self) -> None:
        if self._folder.exists():
            self._synced = sync_table(self._folder, self._synced)

    def _remove(self) -> None:
        """At once, also when the process dies half-way: what has the other name is no table, and goes at the next start."""
        trash = self._database.trash(self._name)
        if trash.exists():
            shutil.rmtree(trash)
        if self._folder.exists():
            self._folder.rename(trash)
            fsync(trash.parent)
            shutil.rmtree(trash)

    def _forget(self) -> None:
        self._index = UserIndex(self._dimensions)
        self._held = _NOTHING
        self._stamp = None
        self._synced = frozenset()

    def _mending(self, action: Callable[[], T], lock: AbstractContextManager[None]) -> T:
        """Do something that reads the table; if it fails, once more after a look at the newest commit.

        Under the lock: what failed may have been a read of a version that another process, having merged it, removed.
        """
        try:
            return action()
        except MmmemError:
            raise
        except Exception:
            with lock:
                mend(self._folder, self._readable)
                return action()

    def _readable(self) -> bool:
        try:
            version = self._database.open(self._name)
            if version:
                version.read(INDEXED)
        except Exception:
            return False
        return True
