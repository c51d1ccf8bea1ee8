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
    """Every part of a store. A caller that has time looks at one, and comes back for the next. Raises OSError for the folder itself."""
    with os.scandir(folder) as entries:
        for entry in entries:
            kind: Literal["users", "other"] = "users" if _is_table(entry.name) else "other"
            yield Part(kind, *_held(entry))


def _is_table(name: str) -> bool:
    return name.startswith("u_") and name.endswith(".lance")


def _held(entry: os.DirEntry[str]) -> tuple[int, int]:
    """Files and bytes of a file, or of everything below a folder that can be looked into, however deep."""
    files = nbytes = 0
    waiting = [entry]
    while waiting:
        each = waiting.pop()
        with suppress(OSError):  # it went meanwhile, or may not be looked into
            if each.is_dir(follow_symlinks=False):
                with os.scandir(each.path) as below:
                    waiting += below
            else:
                nbytes += each.stat(follow_symlinks=False).st_size
                files += 1
    return files, nbytes
