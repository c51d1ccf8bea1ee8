"""LanceDB: tables in a folder or a bucket, and their versions. The only place that imports it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import lancedb
import pyarrow as pa

from mmmem.errors import StoreUnavailable
from mmmem.store.record import FORMAT
from mmmem.store.rows import to_text

_FORMAT_KEY = b"mmmem.format"
_MODELS_KEY = b"mmmem.models"
_INCARNATION_KEY = b"mmmem.incarnation"
_TOMBSTONE_KEY = b"mmmem.tombstone"
_ROW_IDS_KEY = b"mmmem.row_ids"  # of a table whose rows keep their ids for ever
_ROW_IDS_OPTION = "new_table_enable_stable_row_ids"
_BATCH_ROWS = 16
_CONFLICTS = ("commit conflict", "Incompatible transaction", "Too many concurrent writers")


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

    def vectors_of(self, models: Mapping[str, str]) -> None:
        """Have every table that is made from now on say that its vectors are of these models, by role."""
        self._metadata[_MODELS_KEY] = json.dumps(dict(models), sort_keys=True).encode()

    def connect(self, options: dict[str, str] | None = None) -> None:
        """Get ready. `options` are those of an object store, in LanceDB's words."""
        if options and _ROW_IDS_OPTION in options:
            self._metadata[_ROW_IDS_KEY] = b"stable"
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

    def create(self, name: str, rows: pa.Table, *, over: bool = False) -> Version:
        """A new table with these rows as its first commit. Of two that do this at once one may overwrite the other.

        `over`: where there is one already, the rows take the place of its own.
        """
        rows = rows.replace_schema_metadata(_new_metadata() | self._metadata)
        return Version(self._connection.create_table(name, rows, mode="overwrite" if over else "create"))

    def bury(self, name: str) -> None:
        """Commit that a table is empty and stays so: an append that is under way fails."""
        nothing = pa.table({"seq": pa.array([], pa.int64())})
        metadata = _new_metadata() | {_TOMBSTONE_KEY: b"1"}
        self._connection.create_table(name, nothing.replace_schema_metadata(metadata), mode="overwrite")

    def overwrite(self, name: str, rows: pa.RecordBatchReader) -> Version:
        """Commit these rows, a batch at a time, in place of a table's; their schema says what the table says of itself."""
        return Version(self._connection.create_table(name, rows, mode="overwrite"))

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
        self.format = int(metadata.get(_FORMAT_KEY, b"1"))
        models = metadata.get(_MODELS_KEY)
        self.models: dict[str, str] | None = models and json.loads(models)  # None: the store's record says it
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

    def first(self, column: str) -> Any:
        """A column's value in one row, None where there is none."""
        rows = self._table.search().select([column]).limit(1).to_arrow()
        return rows[column][0].as_py() if rows.num_rows else None

    def batches(self, columns: Sequence[str] | None = None) -> pa.RecordBatchReader:
        """These columns, or all, of all rows in their order, a few rows at a time: each may hold many images."""
        rows = self._table.search()
        return (rows.select(list(columns)) if columns else rows).to_batches(batch_size=_BATCH_ROWS)

    def images(self, rows: Sequence[int]) -> dict[str, list[bytes]]:
        """The image files of these rows, named by id where the table keeps those, else by place; by the memory's id."""
        take = self._table.take_row_ids if self._has_row_ids else self._table.take_offsets
        found = take(list(rows)).select(["id", "images"]).to_arrow().to_pylist()
        return {to_text(row["id"]): row["images"] for row in found}

    def take(self, rows: Sequence[int]) -> pa.Table:
        """These rows whole, named as in `images`, in whatever order."""
        take = self._table.take_row_ids if self._has_row_ids else self._table.take_offsets
        return take(list(rows)).to_arrow()

    def append(self, rows: pa.Table) -> Version:
        """Commit these rows after the others. Only on the newest version."""
        self._table.add(rows)
        return Version(self._table)

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self._table.count_rows())

    def rows_below(self, row_id: int) -> int | None:
        """How many rows have an id below this one; None where the table keeps no ids."""
        return int(self._table.count_rows(f"_rowid < {row_id}")) if self._has_row_ids else None

    def others(self, memory_id: bytes) -> pa.RecordBatchReader:
        """All rows but one memory's, in their order."""
        return self._table.search().where(f"id != {_literal(memory_id)}").to_batches()

    def delete(self, memory_id: bytes) -> None:
        """Commit that one memory's rows are no longer there. Their bytes stay until a compaction writes their file anew."""
        self._table.delete(f"id = {_literal(memory_id)}")

    @property
    def written(self) -> float:
        """When it was committed, Unix seconds."""
        return max(float(version["timestamp"].timestamp()) for version in self._table.list_versions())

    def restore(self, number: int | None = None) -> None:
        """Commit the rows of this version, or of an older one, again, without those that came after."""
        self._table.restore(self.number if number is None else number)

    def compact(self, keep: timedelta) -> None:
        """Commit the same rows in few files, then remove versions older than `keep`."""
        self._table.optimize(cleanup_older_than=keep)


def _literal(value: bytes) -> str:
    """In a filter: hexadecimal, so that nothing of a value is read as anything else."""
    return f"X'{value.hex()}'"


def _new_metadata() -> dict[bytes, bytes]:
    return {_FORMAT_KEY: str(FORMAT).encode(), _INCARNATION_KEY: uuid.uuid4().bytes.hex().encode()}
