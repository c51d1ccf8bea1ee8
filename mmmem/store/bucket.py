"""A store in a bucket of an object store, which several replicas may use at once.

A put is durable when it returns, a commit is a conditional write, and no lock keeps anyone out. So:

- A user's table has a name that nobody else gave to one. A *claim*, an object that only one can write, says which of the
  tables that were made for a user is the user's. LanceDB alone would let one of two that make a table overwrite the other.
- Of a request that two replicas committed, the first copy in the log counts (log.py).
- A deletion commits an empty table, a *tombstone*: whoever is adding meets a conflict, looks again, and claims a new table
  under the next number. To a table with a tombstone nothing can be added ever after, so its objects can go at any time.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

from mmmem.errors import StoreUnavailable
from mmmem.store.location import Committed, Superseded
from mmmem.store.objects import CONNECT_SECONDS, REQUEST_SECONDS, RETRIES, RETRY_SECONDS, Objects

if TYPE_CHECKING:
    import pyarrow as pa

    from mmmem.store.lance import Tables, Version
    from mmmem.store.location import Record, Stamp

_RECORD = "_store.json"
_CLAIMS = "claims"
_ATTEMPTS = 10
_OPTIONS = {
    "new_table_enable_stable_row_ids": "true",  # the order of the log, whatever compaction moves
    "connect_timeout": f"{CONNECT_SECONDS}s",
    "timeout": f"{REQUEST_SECONDS}s",
    "client_max_retries": str(RETRIES),
    "client_retry_timeout": str(RETRY_SECONDS),
}


class Claim(NamedTuple):
    """Which table is a user's."""

    number: int  # how many were before
    table: str


class Bucket:
    """Implements Location."""

    unusable = """data_dir: the bucket cannot be used; its name, or the endpoint and the credentials in the object store's own \
environment variables, are not right, or it cannot be reached"""

    def __init__(self, uri: str, tables: Tables, stale_seconds: float) -> None:
        self.tables = tables
        self.objects = Objects(uri)
        self.stale_seconds = stale_seconds

    def connect(self) -> None:
        """See Location."""
        self.objects.check()
        self.tables.connect(_OPTIONS)

    def record(self, new: Record) -> Record:
        """See Location."""
        store_format, models = new
        if self.objects.create(_RECORD, json.dumps({"format": store_format, "models": models}).encode()):
            return new
        found = json.loads(self.objects.read(_RECORD) or b"{}")
        return found["format"], found["models"]

    def exists(self) -> bool:
        """See Location."""
        return self.objects.read(_RECORD) is not None

    def names(self) -> list[str]:
        """See Location."""
        return sorted({path.split("/")[-2] for path in self.objects.names(_CLAIMS)})

    def set_aside(self) -> int:
        """See Location. A put is whole or not there."""
        return 0

    def place(self, name: str) -> BucketPlace:
        """See Location."""
        return BucketPlace(self, name)

    def open(self, name: str) -> Version | None:
        """See Location."""
        _, version = self.place(name).newest()
        return version

    def claims(self, name: str) -> list[str]:
        """The paths of a user's claims, the newest last."""
        return self.objects.names(f"{_CLAIMS}/{name}")

    def read_claim(self, path: str) -> Claim:
        """What a claim says."""
        data = self.objects.read(path)
        if data is None:
            raise StoreUnavailable("a claim is not there")
        return Claim(int(path.rpartition("/")[2]), data.decode())

    def claim(self, name: str, claim: Claim) -> bool:
        """Make a table the user's; False when another one is."""
        path = f"{_CLAIMS}/{name}/{claim.number:08d}"
        # A write that is repeated because its answer was lost finds its own first attempt.
        return self.objects.create(path, claim.table.encode()) or self.read_claim(path) == claim

    def table(self, name: str) -> Version:
        """The newest version of a table that a claim names."""
        version = self.tables.open(name)
        if version is None:
            raise StoreUnavailable("a table is not there")
        return version

    def sweep(self, grave: Version) -> None:
        """Remove all of a table but its tombstone, which stays so that nothing is ever added."""
        kept = f"{grave.name}.lance/_versions/{2**64 - 1 - grave.number:020d}.manifest"
        objects = self.objects.names(f"{grave.name}.lance")
        self.objects.remove(path for path in objects if not f"{grave.name}.lance/_versions" <= path <= kept)


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
