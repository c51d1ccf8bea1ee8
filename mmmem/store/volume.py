"""How many files and bytes a store's folder holds, without a lock: what others remove meanwhile is left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class Part(NamedTuple):
    """One user's table ("users"), or something else that lies beside them ("other"): locks, the store's record, a cache."""

    kind: Literal["users", "other"]
    files: int
    nbytes: int


def parts(folder: Path) -> Iterator[Part]:
    """Every part of a store. A caller that has time looks at one, and comes back for the next. Raises OSError."""
    with os.scandir(folder) as entries:
        for entry in entries:
            kind: Literal["users", "other"] = "users" if _is_table(entry.name) else "other"
            files, nbytes = _held(entry)
            yield Part(kind, files, nbytes)


def _is_table(name: str) -> bool:
    return name.startswith("u_") and name.endswith(".lance")


def _held(entry: os.DirEntry[str]) -> tuple[int, int]:
    files = nbytes = 0
    with suppress(FileNotFoundError):
        if not entry.is_dir(follow_symlinks=False):
            return 1, entry.stat(follow_symlinks=False).st_size
        with os.scandir(entry.path) as below:
            for each in below:
                more, size = _held(each)
                files, nbytes = files + more, nbytes + size
    return files, nbytes
