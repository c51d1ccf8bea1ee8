"""What LanceDB notes beside a table's commits of how many there were."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mmmem.store.durability import newest_manifest

if TYPE_CHECKING:
    from pathlib import Path

_HINT = "_versions/latest_version_hint.json"
_NEWEST = 2**64 - 1  # less a version is its manifest's name


def commits_behind(folder: Path) -> int:
    """How many commits LanceDB's hint is ahead of the newest that is there. The hint is read first: a writer only adds to both."""
    try:
        hinted = int(json.loads((folder / _HINT).read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):  # a hint is all that it is
        return 0
    newest = newest_manifest(folder)
    return max(0, hinted - (_NEWEST - int(newest.stem))) if newest else 0
