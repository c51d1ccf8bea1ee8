"""One user's table: read what is new, commit a group, repair, compact, delete.

Two locks, in this order: the place's, held around every change against other threads and, where that can be, other
processes; then the thread lock, around the arrays.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from mmmem.errors import MmmemError, StoreUnavailable
from mmmem.store.faults import describe, store_faults
from mmmem.store.group import sort_out
from mmmem.store.index import UserArrays, UserIndex
from mmmem.store.location import Superseded
from mmmem.store.mending import mending
from mmmem.store.record import check_table
from mmmem.store.rows import INDEXED, to_bytes, with_seq
from mmmem.store.unencoded import read_unencoded

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.meter import Meter
    from mmmem.settings import Settings
    from mmmem.store.lance import Version
    from mmmem.store.location import Place, Stamp
    from mmmem.store.protocol import Dimensions
    from mmmem.store.rows import RequestRows

logger = logging.getLogger(__name__)

_NOTHING = (b"", 0)  # incarnation and number of the version that an index holds
_FRAGMENT_BYTES = 1024 * 1024  # see UserTable.compact
_OLD_BYTES = 4 * 1024 * 1024  # of old versions that a table may keep for their whole time, beside as much as it holds
_LEEWAY = timedelta(seconds=0.1)  # that a look at the table takes; a merge comes much less often
_ATTEMPTS = 10  # to commit where others commit at the same time and cannot be kept out

_TOO_MANY = "the store could not be written: too many others write for this user"


class _Newest(NamedTuple):
    version: Version | None  # None: there is no table
    arrays: UserArrays
    next_seq: int
    image_rows: list[int]


class UserTable:
    """What this process knows of one user's table. Safe to use from many threads."""

    def __init__(
        self,
        place: Place,
        dimensions: Dimensions,
        settings: Settings,
        models: Mapping[str, str] | None,
        meter: Meter,
    ) -> None:
        """`models` made the vectors, by role; None where none are read."""
        self._place = place
        self._models = models
        self._meter = meter
        self._dimensions = dimensions
        self._fragments = settings.compact_fragments
        self._version_age = timedelta(minutes=settings.version_minutes)
        self._lock = threading.Lock()
        self._index = UserIndex(dimensions)
        self._held = _NOTHING
        self._stamp: Stamp | None = None  # of the newest commit that the index holds
        self._appended: float | None = None  # when the commit began that may have left too many fragments

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._index.nbytes + self._place.nbytes

    def arrays(self) -> UserArrays:
        """The table's memories as last committed, by any process. Raises StoreUnavailable."""
        with store_faults("the store could not be read"):
            arrays = self._unchanged()
            self._meter.looked_up("arrays", hits=int(arrays is not None), misses=int(arrays is None))
            return mending(self._place, self._newest, self._place.exclusive()).arrays if arrays is None else arrays

    def images(self, memory_ids: Sequence[str]) -> dict[str, list[bytes]]:
        """The image files of those memories that have any and are still there, by id. Raises StoreUnavailable."""

        def read() -> dict[str, list[bytes]]:
            newest = self._newest(memory_ids)
            return newest.version.images(newest.image_rows) if newest.version and newest.image_rows else {}

        with store_faults("the store could not be read"):
            return mending(self._place, read, self._place.exclusive())

    def commit(self, group: Sequence[RequestRows]) -> list[MmmemError | None]:
        """Keep a group of requests as one commit, durable when this returns; what became of each, None for kept.

        A request that is there already is kept, once what holds it is durable: its writer may have died before that.
        Where another writer may have come between, the table is read again: what it says first of a request counts.
        Raises StoreUnavailable; in a folder none of the group is kept then.
        """
        with store_faults("the store could not be written"), self._place.exclusive():
            for _ in range(_ATTEMPTS):
                newest = mending(self._place, self._newest, nullcontext())
                outcomes, new = sort_out(newest.arrays, group)
                if not new:
                    self._place.settle()
                    return outcomes
                if self._append(newest.version, with_seq(new, newest.next_seq)):
                    return outcomes
        raise StoreUnavailable(_TOO_MANY)

    def compact(self) -> None:
        """Merge fragments and drop old versions if a commit left too many. A failure is logged: it costs speed, not data.

        Merging writes the whole table again, images included, so a table may have one fragment more for each MiB: that
        bounds what a commit costs, however large the table. Only right after a commit, because old versions go before
        the merged one is on disk, and the one to fall back on must be too young to go.

        Each merge leaves the whole table in its old files. Where Adds come faster than those grow old, they go as soon as
        the merged ones are on disk, all but the last: a reader has the time until the next merge.
        """
        began = self._appended
        if began is None or self._place.files <= self._fragments:
            return
        self._appended = None
        try:
            with self._place.exclusive():
                _, version = self._place.newest()
                if version and version.fragments > self._fragments + version.nbytes // _FRAGMENT_BYTES:
                    version.compact(self._version_age)
                    self._place.settle()
                    if self._place.size() > 2 * version.nbytes + _OLD_BYTES:
                        version.compact(timedelta(seconds=time.monotonic() - began) + _LEEWAY)
        except Exception as error:
            logger.warning("a table could not be compacted: %s", describe(error))

    def delete(self) -> bool:
        """Remove the table; False when there was none. Raises StoreUnavailable."""
        with store_faults("the store could not be written"), self._place.exclusive():
            existed = self._place.remove()
            with self._lock:
                self._forget()
            return existed

    def delete_memory(self, memory_id: str) -> bool:
        """Remove one memory; False when it is not there. Either way what only old versions hold goes. Raises StoreUnavailable."""
        with store_faults("the store could not be written"), self._place.exclusive():
            for _ in range(_ATTEMPTS):
                newest = mending(self._place, self._newest, nullcontext())
                there = any(memory.id == memory_id for memory in newest.arrays.memories)
                try:
                    if there and len(newest.arrays) == 1:
                        self._place.remove()
                    elif there and newest.version:
                        self._place.rewrite(newest.version, to_bytes(memory_id))
                except Superseded:
                    continue
                with self._lock:
                    self._forget()
                self._place.drop_old_versions()
                return there
        raise StoreUnavailable(_TOO_MANY)

    def size(self) -> int:
        """Bytes on disk. Raises StoreUnavailable."""
        with store_faults("the store could not be read"), self._place.exclusive():
            return self._place.size()

    def _unchanged(self) -> UserArrays | None:
        """What is held, where no commit came since."""
        stamp = self._place.stamp()
        with self._lock:
            return self._index.snapshot() if stamp and stamp == self._stamp else None

    def _newest(self, memory_ids: Sequence[str] = ()) -> _Newest:
        with self._lock:
            version = self._refresh()
            index = self._index
            return _Newest(version, index.snapshot(), index.log.next_seq, index.image_rows(memory_ids))

    def _refresh(self) -> Version | None:
        """Bring the index up to the newest version. A table made anew under the same name has another incarnation."""
        stamp, version = self._place.newest()
        if version is None:
            self._forget()
            return None
        check_table(version, self._models)
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
        held = self._index.log
        if held.length:
            rows = self._rows(version, held.length - 1)
            if held.continues(rows, version):
                self._index.extend(rows.slice(1))
                return
            self._index = UserIndex(self._dimensions)  # rows were removed, or moved
        self._index.extend(self._rows(version))

    def _rows(self, version: Version, offset: int = 0) -> pa.Table:
        return read_unencoded(version, offset) if self._models is None else version.read(INDEXED, offset)

    def _append(self, version: Version | None, rows: pa.Table) -> bool:
        """Commit rows; whether that decides what becomes of them."""
        before = (version.incarnation, version.number) if version else _NOTHING
        began = time.monotonic()
        try:
            committed = self._place.append(version, rows)
        except Superseded:
            return False
        self._appended = began
        written = committed.version
        with self._lock:
            # Else a reader came first, another writer came between, or the arrays have to be loaded again.
            if self._held == before and written.number == before[1] + 1 and self._index.log.foresees(rows, written):
                self._index.extend(rows)
                self._held, self._stamp = (written.incarnation, written.number), committed.stamp
        return committed.final

    def _forget(self) -> None:
        self._index = UserIndex(self._dimensions)
        self._held = _NOTHING
        self._stamp = None
        self._place.forget()
