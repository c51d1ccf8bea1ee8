"""The store's own record: which format and models its vectors are of. Vectors of two models cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mmmem.errors import StoreMismatch

if TYPE_CHECKING:
    from mmmem.store.location import Location

FORMAT = 4
RECORD = "_store"
COLUMNS = ("format", "models")


def check_record(location: Location, models: Mapping[str, str]) -> None:
    """Compare the record with what is configured; write it in a new store. Raises StoreMismatch."""
    written_format, written_models = location.record((FORMAT, dict(models)))
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


def _listed(models: Mapping[str, str]) -> str:
    return ", ".join(f"{role} {name}" for role, name in sorted(models.items()))
