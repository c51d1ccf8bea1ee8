#!/usr/bin/env python3
"""Brings what mem0 remembers into mmmem.

    python scripts/import_mem0.py EXPORT.json (--data-dir FOLDER | --url URL [--key KEY]) [--user USER]

EXPORT.json is what mem0's `get_all` returns, or an export of its platform, as JSON: a list of memories, or an object with that list under "results" or "memories".
Each becomes one memory: its `memory` text, of its `user_id` (else `agent_id`, else --user), in the session of its `run_id` (else "mem0"), at its
`created_at`. Its id is the request_id: the same file again changes nothing. Exit code: 1 when a memory was left out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import track

from mmmem import Client, Memory
from mmmem.errors import InvalidInput, MmmemError

if TYPE_CHECKING:
    from mmmem.library.door import Door


def memories_of(export: Any) -> list[dict[str, Any]]:
    """The memories of an export. Raises InvalidInput."""
    if isinstance(export, dict):
        export = next((export[name] for name in ("results", "memories") if name in export), None)
    if not isinstance(export, list) or not all(isinstance(each, dict) for each in export):
        raise InvalidInput("EXPORT", "must be a list of memories, or have one under `results` or `memories`")
    return export


def bring(door: Door, memory: dict[str, Any], user: str | None) -> None:
    """Add one memory. Raises MmmemError."""
    text = memory.get("memory") or memory.get("text") or memory.get("data")
    owner = memory.get("user_id") or memory.get("agent_id") or user
    if not isinstance(text, str):
        raise InvalidInput("memory", "must be a text")
    if not isinstance(owner, str):
        raise InvalidInput("user_id", "is not there; say with --user whose it is")
    door.add(
        text,
        user_id=owner,
        session_id=str(memory.get("run_id") or "mem0"),
        timestamp=_time(memory.get("created_at")),
        request_id=f"mem0 {memory['id']}" if memory.get("id") else None,
    )


def _time(written: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        return None


def main() -> None:
    """Bring all of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", type=Path)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--data-dir", type=Path)
    place.add_argument("--url")
    parser.add_argument("--key", default=os.environ.get("MMMEM_API_KEY"))
    parser.add_argument("--user")
    arguments = parser.parse_args()
    console = Console(stderr=True)
    try:
        found = memories_of(json.loads(arguments.export.read_text(encoding="utf-8")))
        door: Door = Client(arguments.url, key=arguments.key) if arguments.url else Memory(arguments.data_dir)
    except (OSError, ValueError, MmmemError) as error:
        console.print(
            str(error) if isinstance(error, MmmemError) else f"EXPORT: cannot be read as JSON ({type(error).__name__})"
        )
        sys.exit(1)
    left_out = 0
    with door:
        for number, memory in enumerate(track(found, "import", console=console)):
            try:
                bring(door, memory, arguments.user)
            except MmmemError as error:
                left_out += 1
                console.print(f"left out memory {number}: {error}", markup=False)
    print(f"{len(found) - left_out:,} memories brought, {left_out:,} left out")
    sys.exit(bool(left_out))


if __name__ == "__main__":
    main()
