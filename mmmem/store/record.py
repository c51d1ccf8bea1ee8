"""The store's own record: which format and models its vectors are of. Vectors of two models cannot be compared.

While a reindex is under way the record also names the models that the new vectors are of, under roles with "next " in front,
and nobody else opens the store. Each table says the same of itself, so that what is left over is never read as something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mmmem.errors import StoreMismatch, TableMismatch

if TYPE_CHECKING:
    from mmmem.store.lance import Version
    from mmmem.store.location import Location, Record

FORMAT = 4
RECORD = "_store"
COLUMNS = ("format", "models")
_NEXT = "next "


def check_record(location: Location, models: Mapping[str, str] | None) -> dict[str, str]:
    """Compare the record with what is configured, and write it in a new store; None: with no models. Raises StoreMismatch.

    What the store's vectors are of, by role.
    """
    record = location.record(None if models is None else (FORMAT, dict(models)))
    if record is None:
        return {}
    check_format(record)
    _, written = record
    if under_way(written):
        raise StoreMismatch("a reindex of the store was begun and has not ended; run `mmmem reindex` again")
    if models is not None and written != dict(models):
        raise StoreMismatch(
            f"store written with {_listed(written)}, configured {_listed(models)}; "
            "use the models that wrote it, another data_dir, or `mmmem reindex`"
        )
    return written


def check_format(record: Record) -> None:
    """Raises StoreMismatch for a record of another format than this version reads."""
    written, _ = record
    if written != FORMAT:
        remedy = "update mmmem" if written > FORMAT else "use the version that wrote it"
        raise StoreMismatch(
            f"store written with format {written}, this version of mmmem reads format {FORMAT}; {remedy}, or use another data_dir"
        )


def check_table(version: Version, models: Mapping[str, str] | None) -> None:
    """Raises TableMismatch for a table of a newer format, or of other models than these, where any are given."""
    if version.format > FORMAT:
        raise TableMismatch(
            f"what is stored of this user has format {version.format}, this version of mmmem reads format {FORMAT}; update mmmem"
        )
    if models is not None and version.models is not None and version.models != models:
        raise TableMismatch("what is stored of this user is of other models than the service's; run `mmmem reindex`")


def beginning(models: Mapping[str, str], following: Mapping[str, str]) -> dict[str, str]:
    """The record's models while those of the store are replaced by the `following`."""
    return {**settled(models), **{_NEXT + role: name for role, name in following.items()}}


def settled(models: Mapping[str, str]) -> dict[str, str]:
    """The record's models, those that a reindex is to bring aside."""
    return {role: name for role, name in models.items() if not role.startswith(_NEXT)}


def under_way(models: Mapping[str, str]) -> bool:
    """Whether a reindex has not ended."""
    return any(role.startswith(_NEXT) for role in models)


def _listed(models: Mapping[str, str]) -> str:
    return ", ".join(f"{role} {name}" for role, name in sorted(models.items()))
