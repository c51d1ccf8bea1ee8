"""Memories as the commands' `--json` prints them (docs/command-line.md): the number of pictures in place of the pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from mmmem.api.times import write_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from mmmem.library.results import FoundMemory, StoredMemory, Usage


def printed(value: dict[str, Any]) -> None:
    """One object on standard output. ASCII: nothing that a terminal obeys, and lone surrogates go too."""
    typer.echo(json.dumps(value, indent=2))


def found_json(memory: FoundMemory, files: Sequence[Path]) -> dict[str, Any]:
    """One that `mmmem search` found; `files`: where its pictures were saved."""
    pictures = {"pictures": len(memory.image_files), "files": [str(file) for file in files]}
    said = {"id": memory.id, "score": memory.score, "created_at": _written(memory.created_at), "text": memory.text}
    return {**said, **pictures}


def stored_json(memory: StoredMemory, files: Sequence[Path]) -> dict[str, Any]:
    """One that `mmmem list` or `mmmem show` shows."""
    return {
        "id": memory.id,
        "session_id": memory.session_id,
        "role": memory.role,
        "timestamp": memory.timestamp,
        "created_at": _written(memory.created_at),
        "position": memory.position,
        "piece": memory.piece,
        "text": memory.text,
        "pictures": memory.image_count,
        "files": [str(file) for file in files],
    }


def usage_json(usage: Usage) -> dict[str, Any]:
    """What `mmmem stats` shows."""
    counts = {"memories": usage.memories, "images": usage.images, "sessions": usage.sessions, "bytes": usage.bytes}
    return {"user_id": usage.user_id, **counts, "first": _written(usage.first), "last": _written(usage.last)}


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else write_timestamp(round(moment.timestamp() * 1000))
