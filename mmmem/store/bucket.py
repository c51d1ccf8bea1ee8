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
from typing import TYPE_CHECKING

from mmmem.errors import StoreUnavailable
from mmmem.store.bucket_place import BucketPlace, Claim
from mmmem.store.objects import CONNECT_SECONDS, REQUEST_SECONDS, RETRIES, RETRY_SECONDS, Objects

if TYPE_CHECKING:
    from mmmem.store.lance import Tables, Version
    from mmmem.store.location import Record

_RECORD = "_store.json"
_CLAIMS = "claims"
_OPTIONS = {
    "new_table_enable_stable_row_ids": "true",  # the order of the log, whatever compaction moves
    "connect_timeout": f"{CONNECT_SECONDS}s",
    "timeout": f"{REQUEST_SECONDS}s",
    "client_max_retries": str(RETRIES),
    "client_retry_timeout": str(RETRY_SECONDS),
}


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

    def look(self) -> None:
        """See Location. Whether the bucket honours conditional writes is not tried: that writes."""
        self.tables.connect(_OPTIONS)

    def hold(self, *, alone: bool) -> None:
        """See Location."""

    def release(self) -> None:
        """See Location."""

    def record(self, new: Record | None) -> Record | None:
        """See Location."""
        if new and self.objects.create(_RECORD, _written(new)):
            return new
        found = self.objects.read(_RECORD)
        if found is None and new is None:
            return None
        read = json.loads(found or b"{}")
        return read["format"], read["models"]

    def recorded(self) -> Record | None:
        """See Location."""
        return self.record(None)

    def write_record(self, new: Record) -> None:
        """See Location."""
        self.objects.write(_RECORD, _written(new))

    def destroy(self) -> None:
        """See Location."""
        self.objects.remove(self.objects.names(""))

    def exists(self) -> bool:
        """See Location."""
        return self.objects.read(_RECORD) is not None

    def names(self) -> list[str]:
        """See Location."""
        return sorted({path.split("/")[-2] for path in self.objects.names(_CLAIMS)})

    def set_aside(self) -> int:
        """See Location. A put is whole or not there."""
        return 0

    def lost_commits(self, name: str) -> int:
        """See Location. Nothing takes an object away by halves."""
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


def _written(record: Record) -> bytes:
    store_format, models = record
    return json.dumps({"format": store_format, "models": models}).encode()
