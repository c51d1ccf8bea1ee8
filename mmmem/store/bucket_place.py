"""One user's table in a bucket: see bucket.py for what it rests on."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from mmmem.errors import StoreUnavailable
from mmmem.store.location import Committed, Superseded

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.store.bucket import Bucket
    from mmmem.store.lance import Version
    from mmmem.store.location import Stamp

_ATTEMPTS = 10
_AT_ONCE = timedelta(milliseconds=1)  # at 0 LanceDB warns


class Claim(NamedTuple):
    """Which table is a user's."""

    number: int  # how many were before
    table: str


class BucketPlace:
    """Implements Place."""

    nbytes = 0

    def __init__(self, bucket: Bucket, name: str) -> None:
        self._bucket = bucket
        self._name = name
        self._lock = threading.Lock()
        self._claim: Claim | None = None
        self._seen: tuple[Stamp | None, float] = (None, float("-inf"))  # and when
        self._added_to = ""  # a table, while what was added is not seen in the log
        self.files = 0

    def exclusive(self) -> AbstractContextManager[object]:
        """See Place. Threads of this process only: fewer conflicts."""
        return self._lock

    def stamp(self) -> Stamp | None:
        """See Place. Costs one request, unless what was seen a moment ago may do."""
        stamp, when = self._seen
        return stamp if time.monotonic() - when < self._bucket.stale_seconds else self.newest()[0]

    def newest(self) -> tuple[Stamp | None, Version | None]:
        """See Place."""
        when = time.monotonic()
        version = self._current()
        stamp = (version.name, version.number) if version else None
        self._seen = (stamp, when)
        return stamp, version

    def append(self, version: Version | None, rows: pa.Table) -> Committed:
        """See Place. Not decided before the log was read again: an old commit's name is free once it was cleaned up."""
        version = version or self._begin(rows.schema)
        self._added_to = version.name
        try:
            written = version.append(rows)
        except Exception as error:
            if self._bucket.tables.conflicting(error) or self._bucket.table(version.name).is_tombstone:
                raise Superseded from error
            raise
        self.files = written.fragments
        return Committed(written, (written.name, written.number), final=False)

    def settle(self) -> None:
        """See Place. What was put is durable."""

    def recover(self, readable: Callable[[], bool]) -> None:
        """See Place. Whoever cleans up may take away what is being read; the newest version can be read."""

    def remove(self) -> bool:
        """See Place. What others add at the same time is gone with it, or kept after it."""
        claims = [self._bucket.read_claim(path) for path in self._bucket.claims(self._name)]
        return any([self._bury(claim.table) for claim in claims])  # noqa: C419 - every one of them

    def rewrite(self, version: Version, memory_id: bytes) -> None:
        """See Place. To write the table anew could lose what others add meanwhile, so its row is only marked."""
        try:
            version.delete(memory_id)
        except Exception as error:
            if self._bucket.tables.conflicting(error):
                raise Superseded from error
            raise

    def replace(self, version: Version, rows: pa.RecordBatchReader) -> None:
        """See Place. A commit that came between is seen by the number, and its rows are brought back."""
        written = self._bucket.tables.overwrite(version.name, rows)
        if written.number != version.number + 1:
            written.restore(written.number - 1)
            raise StoreUnavailable("somebody else writes to the store; stop every replica first")
        written.compact(_AT_ONCE)

    def drop_old_versions(self) -> None:
        """See Place. Nobody can be told that a version goes before its time."""

    def written(self) -> float | None:
        """See Place."""
        version = self._current()
        return version.written if version else None

    def size(self) -> int:
        """See Place."""
        _, version = self.newest()
        return version.nbytes if version else 0

    def forget(self) -> None:
        """See Place."""

    def _current(self) -> Version | None:
        claim = self._claim
        version = self._bucket.table(claim.table) if claim else None
        if version and not version.is_tombstone:
            return version
        if version and version.name == self._added_to:  # perhaps after those who deleted it had looked
            self._bucket.sweep(version)
        claims = self._bucket.claims(self._name)
        newest = self._bucket.read_claim(claims[-1]) if claims else None
        if newest is None or newest == claim:
            return None
        version = self._bucket.table(newest.table)
        self._claim = newest
        return None if version.is_tombstone else version

    def _begin(self, schema: pa.Schema) -> Version:
        """An empty table of the user's, which nothing was added to. Raises Superseded."""
        claims = self._bucket.claims(self._name)
        last = self._bucket.read_claim(claims[-1]) if claims else Claim(-1, "")
        if last.table and not self._bucket.table(last.table).is_tombstone:
            raise Superseded
        claim = Claim(last.number + 1, f"{self._name}-{uuid.uuid4().hex}")
        version = self._bucket.tables.create(claim.table, schema.empty_table())
        if not self._bucket.claim(self._name, claim):
            self._bucket.objects.remove(self._bucket.objects.names(f"{claim.table}.lance"))
            raise Superseded
        self._claim = claim
        return version

    def _bury(self, table: str) -> bool:
        """Delete a table; False when that was done before, and then what a deletion that died left is removed."""
        for attempt in range(_ATTEMPTS):
            version = self._bucket.table(table)
            if version.is_tombstone:
                self._bucket.sweep(version)
                return attempt > 0
            try:
                self._bucket.tables.bury(table)
            except Exception as error:
                if not self._bucket.tables.conflicting(error):
                    raise
        raise StoreUnavailable("the store could not be written: too many others write for this user")
