#!/usr/bin/env python3
"""How well your own questions find your own memories: recall at 1, 3 and 10, and mean reciprocal rank.

    python examples/evaluate.py cases.json [--url http://127.0.0.1:8000] [--key KEY]

cases.json is a list of {"memories": [...], "questions": [{"question": "...", "answers": [0, 4]}]}: texts that are told, in order, and for each
question the places of those that answer it, from 0. Without --url the engine runs in this process, in a folder that is thrown away.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmmem import Client, Memory

if TYPE_CHECKING:
    from mmmem.library.door import Door

DEPTHS = (1, 3, 10)


def ranks(door: Door, case: dict[str, Any]) -> list[int | None]:
    """The rank of the first memory that answers each question, from 1; None where there is none among the first."""
    user = f"evaluation {uuid.uuid4().hex}"
    for place, text in enumerate(case["memories"]):
        door.add(text, user_id=user, session_id="told", timestamp=1_704_067_200_000 + 60_000 * place)
    stored = {memory.id: memory.timestamp for memory in door.memories(user_id=user, images=False)}
    found = []
    for asked in case["questions"]:
        wanted = {1_704_067_200_000 + 60_000 * place for place in asked["answers"]}
        hits = door.search(asked["question"], user_id=user, top_k=max(DEPTHS))
        places = (rank for rank, hit in enumerate(hits, start=1) if stored[hit.id] in wanted)
        found.append(next(places, None))
    door.delete_all(user_id=user)
    return found


def report(found: list[int | None]) -> str:
    """One line a figure."""
    lines = [
        f"recall@{depth:<3} {sum(rank is not None and rank <= depth for rank in found) / len(found):.3f}"
        for depth in DEPTHS
    ]
    return "\n".join([*lines, f"mrr        {sum(1 / rank for rank in found if rank) / len(found):.3f}"])


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--url")
    parser.add_argument("--key")
    arguments = parser.parse_args()
    cases = json.loads(arguments.cases.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        door: Door = Client(arguments.url, key=arguments.key) if arguments.url else Memory(folder)
        with door:
            print(report([rank for case in cases for rank in ranks(door, case)]))


if __name__ == "__main__":
    main()
