"""The store's own record: which format and models its vectors are of. Vectors of two models cannot be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from mmmem.errors import StoreMismatch
from mmmem.store.durability import mend, sync_table
from mmmem.store.locks import exclusive

if TYPE_CHECKING:
    from mmmem.store.lance import Database

FORMAT = 4
RECORD = "_store"
_COLUMNS = ("format", "models")


def check_record(database: Database, models: Mapping[str, str]) -> None:
    """Compare the record with what is configured; write it in a new store. Raises StoreMismatch."""
    with exclusive(database.lock_file(RECORD)):
        found = _read(database)
        if found is None:
            row = {"format": [FORMAT], "models": [json.dumps(dict(models), sort_keys=True)]}
            database.create(RECORD, pa.table(row))
        sync_table(database.folder(RECORD), frozenset())  # also what a process that died at this point left
    if found is None:
        return
    written_format, written_models = found
    if written_format != FORMAT:
        raise StoreMismatch(
            f"store written with format {written_format}, this version of mmmem reads format {FORMAT}; "
            "use the version that wrote it, or another data_dir"
        )
    if written_models != dict(models):
        raise StoreMismatch(
            f"store written with {_listed(written_models)}, configured {_listed(models)}; "
            "use the models that wrote it, or another data_dir"
        )


def _read(database: Database) -> tuple[int, dict[str, str]] | None:
    mend(database.folder(RECORD), lambda: _readable(database))
    version = database.open(RECORD)
    if version is None:
        return None
    row = version.read(_COLUMNS).to_pylist()[0]
    return row["format"], json.loads(row["models"])


def _readable(database: Database) -> bool:
    try:
        version = database.open(RECORD)
        if version:
            version.read(_COLUMNS)
    except Exception:
        return False
    return True


def _listed(models: Mapping[str, str]) -> str:
    return ", ".join(f"{role} {name}" for role, name in sorted(models.items()))
