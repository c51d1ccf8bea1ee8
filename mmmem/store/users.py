"""The store: a table for each user, behind a cache and a queue."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mmmem.errors import StoreUnavailable
from mmmem.meter import NO_METER, Meter
from mmmem.store.cache import TableCache
from mmmem.store.faults import store_faults
from mmmem.store.folder import Folder
from mmmem.store.images import with_images
from mmmem.store.lance import Tables
from mmmem.store.location import OBJECT_STORES, scheme
from mmmem.store.protocol import Usage
from mmmem.store.reading import read_requests
from mmmem.store.record import check_record
from mmmem.store.retention import DAY, Retention, remove_expired
from mmmem.store.roster import read_roster
from mmmem.store.rows import to_bytes, to_rows
from mmmem.store.table import UserTable
from mmmem.store.volume import Part, parts
from mmmem.store.writer import Writer

if TYPE_CHECKING:
    from mmmem.errors import MmmemError
    from mmmem.settings import Settings
    from mmmem.store.index import UserArrays
    from mmmem.store.location import Location
    from mmmem.store.protocol import Dimensions, Roster, StoredRequest
    from mmmem.types import Memory

_FILE_CACHE_BYTES = (
    16 * 1024 * 1024
)  # LanceDB's own, for the footers of files, at most: without a bound it grows, and each compaction fills it
_FILE_CACHE_SHARE = 4  # and no more than a quarter of what users' arrays may take


class LanceStore:
    """Implements Store: one table per user, in a folder or a bucket that several processes may use at once."""

    def __init__(
        self,
        settings: Settings,
        *,
        models: Mapping[str, str] | None,
        dimensions: Dimensions,
        meter: Meter = NO_METER,
    ) -> None:
        """`models` names what made the vectors, by role, None where what is there is only to be listed and removed; `dimensions` are the
        vectors' widths, then unencoded.WIDTHS. Touches no file."""
        self._models = models
        self._recorded: dict[str, str] = {}
        self._dimensions = dimensions
        self._location = locate(settings)
        self._folder = None if scheme(settings.data_dir) else Path(settings.data_dir)
        if models is not None:
            self._location.tables.vectors_of(models)
        self._cache = TableCache(
            settings.cache_bytes,
            lambda name: UserTable(self._location.place(name), dimensions, settings, models, meter),
            meter,
        )
        self._writer = Writer(self._cache, settings, meter)
        self._retention = Retention(self, settings.retention_days)

    def open(self) -> None:
        """Make what is missing, and check or write what its vectors are of. Raises StoreMismatch, StoreUnavailable."""
        with store_faults(self._location.unusable):
            self._location.connect()
            self._location.hold(alone=False)
            try:
                self._recorded = check_record(self._location, self._models)
            except BaseException:
                self._location.release()
                raise
        self._retention.begin()

    def arrays(self, user_id: str) -> UserArrays:
        """See Store. An unknown user costs no disk space."""
        with self._table(user_id) as table:
            return table.arrays()

    def add(self, request: StoredRequest) -> None:
        """See Store. Raises ValueError when the vectors do not have the store's widths."""
        self._writer.submit(table_name(request.user_id), to_rows(request, self._dimensions)).result()

    def add_all(self, requests: Sequence[StoredRequest]) -> list[MmmemError | None]:
        """See Store. Raises ValueError when the vectors do not have the store's widths."""
        with self._table(requests[0].user_id) as table:
            outcomes = table.commit([to_rows(request, self._dimensions) for request in requests])
            table.compact()
            return outcomes

    def name(self, user_id: str) -> str:
        """See Store."""
        return table_name(user_id)

    def names(self) -> list[str]:
        """See Store."""
        with store_faults("the store could not be read"):
            return sorted(self._location.names())

    def requests(self, name: str) -> Iterator[StoredRequest]:
        """See Store."""
        return read_requests(self._location.place(name), self._recorded)

    def models(self) -> dict[str, str]:
        """See Store."""
        return self._recorded

    def load_images(self, user_id: str, memories: Sequence[Memory]) -> list[Memory]:
        """See Store. One read, whatever their number."""
        with self._table(user_id) as table:
            images = table.images([memory.id for memory in memories])
        loaded = (with_images(memory, images.get(memory.id, [])) for memory in memories)
        return [memory for memory in loaded if memory]

    def delete_user(self, user_id: str) -> bool:
        """See Store."""
        return self.delete(table_name(user_id))

    def delete(self, name: str) -> bool:
        """Remove a user's table by its name; False when there was none."""
        with self._named(name) as table:
            return table.delete()

    def holds(self, name: str) -> bool:
        """Whether there is a user's table of this name."""
        with store_faults("the store could not be read"):
            return self._location.place(name).stamp() is not None

    def delete_memory(self, user_id: str, memory_id: str) -> bool:
        """See Store. In a folder the user's table is written anew, images included."""
        with self._table(user_id) as table:
            return table.delete_memory(memory_id)

    def delete_expired(self, days: float) -> int:
        """See Store."""
        with store_faults("the store could not be written"):
            return remove_expired(self._location, time.time() - days * DAY, self._cache.drop)

    def usage(self, user_id: str) -> Usage:
        """See Store."""
        with self._table(user_id) as table:
            arrays = table.arrays()
            if not len(arrays):
                return Usage(0, 0, 0, 0, None, None)
            images, sessions = len(arrays.images.owners), len(set(arrays.sessions.tolist()))
            first, last = int(arrays.times.min()), int(arrays.times.max())
            return Usage(len(arrays), images, sessions, table.size(), first, last)

    def roster(self, after: str, limit: int) -> Roster:
        """See Store. The place is the name of a table."""
        return read_roster(self._location, after, limit)

    def on_disk(self) -> Iterator[Part]:
        """See Store."""
        return parts(self._folder) if self._folder else iter(())

    def close(self) -> None:
        """See Store."""
        self._retention.close()
        self._writer.close()
        self._location.release()

    def _table(self, user_id: str) -> AbstractContextManager[UserTable]:
        return self._named(table_name(user_id))

    @contextmanager
    def _named(self, name: str) -> Iterator[UserTable]:
        try:
            yield self._cache.get(name)
        finally:
            self._cache.settle(name)


def locate(settings: Settings) -> Location:
    """Where `data_dir` says that the store is. Touches nothing. Raises StoreUnavailable for a URI of another kind."""
    found = scheme(settings.data_dir)
    file_cache = min(_FILE_CACHE_BYTES, settings.cache_bytes // _FILE_CACHE_SHARE)
    if found in OBJECT_STORES:
        try:
            from mmmem.store.bucket import Bucket  # noqa: PLC0415 - what it needs is an extra
        except ImportError:
            raise StoreUnavailable("data_dir: a bucket needs `pip install 'mmmem[bucket]'`") from None
        uri = settings.data_dir.rstrip("/")
        return Bucket(uri, Tables(uri, file_cache), settings.stale_seconds)
    if found:
        raise StoreUnavailable("data_dir: must be a folder, or a bucket as s3://, gs:// or az://")
    return Folder(Path(settings.data_dir), Tables(settings.data_dir, file_cache))


def table_name(user_id: str) -> str:
    """The name of a user's table: ids may hold anything and are compared exactly, names of folders do neither."""
    return "u_" + hashlib.sha256(to_bytes(user_id)).hexdigest()
