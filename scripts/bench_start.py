#!/usr/bin/env python3
"""How long the service takes until it is healthy, and its first search of a user whose memories it has not read yet.

    python scripts/bench_start.py [--memories 10000] [--rounds 5] [--json FILE]

One user is written to a store in a temporary folder as scripts/bench_search.py does it. Then, in each round, `mmmem serve` starts
in a process of its own, and is asked over HTTP, top_k 100: the first question about that user, when nothing of them is in its
memory, and 20 more. Their files were read before, so they come from the system's file cache, as after a restart. The search of
another, small user goes before, so that no round measures the first use of the models. Exit status 1 when an answer was no 200
or not full. MMMEM_* settings apply.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from bench_add import Conversation
from bench_search import SEED
from bench_searchers import TOP_K, USER, write
from benchmark_data import console, progress, step
from demo_service import Service
from rich.table import Table

WARM = 20  # searches after the first one


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds until healthy; ms of the first search of the user and of one after it, the median; answers that were not full."""

    start_s: float
    first_ms: float
    warm_ms: float
    failed: int


def measure(data: Path, questions: Sequence[str], full: int) -> Round:
    """Start once and ask."""
    with Service(data) as service:
        started = service.wait_until_healthy()
        service.call("POST", "/search", {"query": questions[0], "user_id": "somebody else", "top_k": TOP_K})
        times, failed = [], 0
        for question in questions:
            began = time.perf_counter()
            status, answer = service.call("POST", "/search", {"query": question, "user_id": USER, "top_k": TOP_K})
            times.append(1_000 * (time.perf_counter() - began))
            failed += status != 200 or len(answer["data"]) != full
    return Round(started, times[0], median(times[1:]), failed)


def report(rounds: Sequence[Round], memories: int) -> Table:
    """A row for each round, and their medians."""
    shown = Table(title=f"start, and first search of one user of {memories:,} memories")
    for name in ("round", "healthy after s", "first search ms", "later searches ms", "failed"):
        shown.add_column(name, justify="right")
    middle = Round(
        median(one.start_s for one in rounds),
        median(one.first_ms for one in rounds),
        median(one.warm_ms for one in rounds),
        sum(one.failed for one in rounds),
    )
    for name, one in [*((f"{number}", one) for number, one in enumerate(rounds, 1)), ("median", middle)]:
        shown.add_row(name, f"{one.start_s:.1f}", f"{one.first_ms:.0f}", f"{one.warm_ms:.0f}", f"{one.failed}")
    return shown


def main() -> int:
    """Write, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000, help="of the one user")
    parser.add_argument("--rounds", type=int, default=5, help="starts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    options = parser.parse_args()
    conversation = Conversation(SEED + 1)
    questions = [conversation.search() for _ in range(1 + WARM)]
    with tempfile.TemporaryDirectory() as folder, progress(console()) as shown:
        data = Path(folder) / "data"
        write(str(data), options.memories, step(shown, "write", options.memories))
        advance = step(shown, "start", options.rounds)
        rounds = []
        for _ in range(options.rounds):
            rounds.append(measure(data, questions, min(TOP_K, options.memories)))
            advance(1)
    console().print(report(rounds, options.memories))
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in rounds], indent=2) + "\n", encoding="utf-8")
    return 1 if any(one.failed for one in rounds) else 0


if __name__ == "__main__":
    raise SystemExit(main())
