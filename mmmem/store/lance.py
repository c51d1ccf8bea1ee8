"""The store on LanceDB, and the only place that imports it."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lancedb
import pyarrow as pa

from mmmem.errors import StoreUnavailable
from mmmem.store.cache import TableCache
from mmmem.store.faults import store_faults
from mmmem.store.folder import Folder
from mmmem.store.location import OBJECT_STORES, scheme
from mmmem.store.record import FORMAT, check_record
from mmmem.store.rows import to_bytes, to_rows, to_text
from mmmem.store.table import UserTable
from mmmem.store.writer import Writer
from mmmem.types import ImagePart, Memory

if TYPE_CHECKING:
    from mmmem.settings import Settings
    from mmmem.store.index import UserArrays
    from mmmem.store.location import Location
    from mmmem.store.protocol import Dimensions, StoredRequest

_FORMAT_KEY = b"mmmem.format"
_INCARNATION_KEY = b"mmmem.incarnation"
_TOMBSTONE_KEY = b"mmmem.tombstone"
_ROW_IDS_KEY = b"mmmem.row_ids"  # of a table whose rows keep their ids for ever
_ROW_IDS_OPTION = "new_table_enable_stable_row_ids"
_CONFLICTS = ("commit conflict", "Incompatible transaction", "Too many concurrent writers")
_FILE_CACHE_BYTES = 64 * 1024 * 1024  # LanceDB's own, for the footers of files, at most; without a bound it grows
_FILE_CACHE_SHARE = 4  # and no more than a quarter of what users' arrays may take


class LanceStore:
    """Implements Store: one table per user, in a folder or a bucket that several processes may use at once."""

    def __init__(self, settings: Settings, *, models: Mapping[str, str], dimensions: Dimensions) -> None:
        """`models` names what made the vectors, by role; `dimensions` are the vectors' widths. Touches no file."""
        self._models = models
        self._dimensions = dimensions
        self._location = locate(settings)
        self._cache = TableCache(
            settings.cache_bytes, lambda name: UserTable(self._location.place(name), dimensions, settings)
        )
        self._writer = Writer(self._cache, settings)

    def open(self) -> None:
        """Make what is missing, and check or write what its vectors are of. Raises StoreMismatch, StoreUnavailable."""
        with store_faults(self._location.unusable):
            self._location.connect()
            check_record(self._location, self._models)

    def arrays(self, user_id: str) -> UserArrays:
        """See Store. An unknown user costs no disk space."""
        with self._table(user_id) as table:
            return table.arrays()

    def add(self, request: StoredRequest) -> None:
        """See Store. Raises ValueError when the vectors do not have the store's widths."""
        self._writer.submit(table_name(request.user_id), to_rows(request, self._dimensions)).result()

    def load_images(self, user_id: str, memories: Sequence[Memory]) -> list[Memory]:
        """See Store. One read, whatever their number."""
        with self._table(user_id) as table:
            images = table.images([memory.id for memory in memories])
        loaded = (_with_images(memory, images.get(memory.id, [])) for memory in memories)
        return [memory for memory in loaded if memory]

    def delete_user(self, user_id: str) -> bool:
        """See Store."""
        with self._table(user_id) as table:
            return table.delete()

    def close(self) -> None:
        """See Store."""
        self._writer.close()

    @contextmanager
    def _table(self, user_id: str) -> Iterator[UserTable]:
        name = table_name(user_id)
        try:
            yield self._cache.get(name)
        finally:
            self._cache.settle(name)


class Tables:
    """The tables of LanceDB in one folder, or under one URI."""

    def __init__(self, uri: str, file_cache: int) -> None:
        """`file_cache`: bytes that LanceDB may keep of the files' footers."""
        self._uri = uri
        self.session = lancedb.Session(index_cache_size_bytes=0, metadata_cache_size_bytes=file_cache)
        self._connection: Any = None
        self._metadata: dict[bytes, bytes] = {}

    def require_connection(self) -> None:
        """Raises StoreUnavailable before `connect`."""
        if self._connection is None:
            raise StoreUnavailable("the store is not open")

    def connect(self, options: dict[str, str] | None = None) -> None:
        """Get ready. `options` are those of an object store, in LanceDB's words."""
        if options and _ROW_IDS_OPTION in options:
            self._metadata = {_ROW_IDS_KEY: b"stable"}
        self._connection = lancedb.connect(self._uri, session=self.session, storage_options=options)

    def open(self, name: str) -> Version | None:
        """The newest version of a table, None where there is none."""
        self.require_connection()
        try:
            return Version(self._connection.open_table(name))
        except ValueError as error:
            # Or it is a folder without a commit: its writer died, or was never acknowledged.
            if "was not found" in str(error):
                return None
            raise

    def create(self, name: str, rows: pa.Table) -> Version:
        """A new table with these rows as its first commit. Of two that do this at once one may overwrite the other."""
        rows = rows.replace_schema_metadata(_new_metadata() | self._metadata)
        return Version(self._connection.create_table(name, rows))

    def bury(self, name: str) -> None:
        """Commit that a table is empty and stays so: an append that is under way fails."""
        nothing = pa.table({"seq": pa.array([], pa.int64())})
        metadata = _new_metadata() | {_TOMBSTONE_KEY: b"1"}
        self._connection.create_table(name, nothing.replace_schema_metadata(metadata), mode="overwrite")

    @staticmethod
    def conflicting(error: Exception) -> bool:
        """Whether a commit failed because of another one."""
        return any(words in str(error) for words in _CONFLICTS)


class Version:
    """A table as of one commit. Later commits, by anyone, do not change what it reads."""

    def __init__(self, table: Any) -> None:
        metadata = table.schema.metadata or {}
        self._table = table
        self.number: int = table.version
        # A manifest of zeros reads as an empty table of version 0: without this, everything before it would be lost.
        self.incarnation: bytes = metadata[_INCARNATION_KEY]
        self.is_tombstone = _TOMBSTONE_KEY in metadata
        self._has_row_ids = _ROW_IDS_KEY in metadata

    @property
    def name(self) -> str:
        """The table's."""
        return str(self._table.name)

    @property
    def fragments(self) -> int:
        """How many files the rows are spread over."""
        return int(self._table.stats()["fragment_stats"]["num_fragments"])

    @property
    def nbytes(self) -> int:
        """Size on disk, old versions aside."""
        return int(self._table.stats()["total_bytes"])

    def read(self, columns: Sequence[str], offset: int = 0) -> pa.Table:
        """These columns of the rows from `offset` on, as they lie there, and their ids where the table keeps those."""
        return self._table.search().select(list(columns)).with_row_id(self._has_row_ids).offset(offset).to_arrow()

    def images(self, rows: Sequence[int]) -> dict[str, list[bytes]]:
        """The image files of these rows, named by id where the table keeps those, else by place; by the memory's id."""
        take = self._table.take_row_ids if self._has_row_ids else self._table.take_offsets
        found = take(list(rows)).select(["id", "images"]).to_arrow().to_pylist()
        return {to_text(row["id"]): row["images"] for row in found}

    def append(self, rows: pa.Table) -> Version:
        """Commit these rows after the others. Only on the newest version."""
        self._table.add(rows)
        return Version(self._table)

    def restore(self) -> None:
        """Commit this version's rows again, without those that came after."""
        self._table.restore(self.number)

    def compact(self, keep: timedelta) -> None:
        """Commit the same rows in few files, then remove versions older than `keep`."""
        self._table.optimize(cleanup_older_than=keep)


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


def _new_metadata() -> dict[bytes, bytes]:
    return {_FORMAT_KEY: str(FORMAT).encode(), _INCARNATION_KEY: uuid.uuid4().bytes.hex().encode()}


def _with_images(memory: Memory, images: Sequence[bytes]) -> Memory | None:
    pictures = [part for part in memory.parts if isinstance(part, ImagePart)]
    if not pictures:
        return memory
    if len(images) != len(pictures):
        return None
    data = iter(images)
    return replace(
        memory,
        parts=tuple(replace(part, data=next(data)) if isinstance(part, ImagePart) else part for part in memory.parts),
    )
