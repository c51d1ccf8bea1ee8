#!/usr/bin/env python3
"""Tries damaged image files and spoiled data URLs, to find what the image decoder does not take well.

    python scripts/fuzz_images.py [--minutes 10] [--cases N] [--seed SEED] [--memory MIB] [--seconds S] [--keep FOLDER]
    python scripts/fuzz_images.py --case CASE

A case is a number, and made from it: a file of the tests' zoo is changed, as bytes and by its structure, and sent as a data URL that
may be spoiled as well. It is read in a process of its own, and must come out as an RGB image within the limits or be refused by
InvalidImage or TooLarge. Anything else is a finding: a crash, no answer in time, too much memory, another exception. Findings
are printed, each is kept as a data URL in FOLDER, and `--case` tries one again. Exit code: 1 when there are any. Needs the `test` extra.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

from fuzz_cases import url, work
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

MIB = 1024 * 1024


class Worker:
    """A process that reads cases. It is replaced after it was lost, and after a case that took too much memory."""

    def __init__(self, most_bytes: int, seconds: float) -> None:
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._lost = False
        self._start()

    def outcome(self, case: int) -> str:
        """What became of a case; see fuzz_cases.outcome."""
        if self._lost:
            self._start()
        self._cases.send(case)
        if not self._cases.poll(self._seconds):
            self.stop()
            return f"no answer within {self._seconds:g} s"
        try:
            result: str = self._cases.recv()
        except EOFError:
            self._process.join()
            self._lost = True
            return f"a crash, exit code {self._process.exitcode}"
        if result.endswith("bytes of memory"):  # the largest it ever took: the next case would be blamed for it too
            self.stop()
        return result

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._lost = True

    def _start(self) -> None:
        context = get_context("spawn")
        self._cases, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, self._most_bytes), daemon=True)
        self._process.start()
        theirs.close()
        self._lost = False


def cases(arguments: argparse.Namespace) -> Iterator[int]:
    """The one that was asked for, or new ones until the time or their number is reached."""
    if arguments.case is not None:
        yield arguments.case
        return
    rng = random.Random(arguments.seed)
    end = time.monotonic() + 60 * arguments.minutes
    tried = 0
    while time.monotonic() < end and (arguments.cases is None or tried < arguments.cases):
        yield rng.getrandbits(48)
        tried += 1


def main() -> int:
    """Try cases; gives the exit code."""
    arguments = parse_arguments()
    console = Console()
    worker = Worker(arguments.memory * MIB, arguments.seconds)
    outcomes: Counter[str] = Counter()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as shown:
        task = shown.add_task("", total=60 * arguments.minutes)
        began = time.monotonic()
        for case in cases(arguments):
            result = worker.outcome(case)
            outcomes[result if result in ("read", "refused") else "found"] += 1
            if result not in ("read", "refused"):
                keep(case, result, arguments.keep, console)
            shown.update(task, completed=time.monotonic() - began, description=f"{outcomes.total():,} cases")
    worker.stop()
    console.print(
        f"seed {arguments.seed}: {outcomes.total():,} cases, {outcomes['read']:,} read, {outcomes['refused']:,} refused, "
        f"{outcomes['found']:,} findings"
    )
    return min(outcomes["found"], 1)


def keep(case: int, result: str, folder: Path, console: Console) -> None:
    """Print a finding, and write what was read."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{case}.txt").write_text(url(case), encoding="utf-8", errors="surrogatepass")
    console.print(f"--case {case}: {result}", markup=False)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="how long")
    parser.add_argument("--cases", type=int, help="stop after so many")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32), help="of the cases; random")
    parser.add_argument("--case", type=int, help="try only this one")
    parser.add_argument("--memory", type=int, default=1_024, help="MiB that the process may take")
    parser.add_argument("--seconds", type=float, default=30, help="in which a case must be answered")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder for findings")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
