#!/usr/bin/env python3
"""Whether a service that goes on and on holds ever more: memory, file descriptors, threads, files.

    python scripts/soak.py [--minutes 10] [--rate 4] [--callers 6] [--growth 3] [--markdown FILE]

A service of its own gets --rate requests a second, paced by the clock, not by its answers: Adds of three messages, some with pictures,
of users old and new (about three Adds a user), repeated Adds, and Searches, some with a picture. Every answer is judged as in disk_faults.py: each must be a 200, and
a Search must find all that was acknowledged of its user, once. The cache is small, so that it is full before the middle third begins,
and old versions go after a minute. Ten times a minute the memory, descriptors and threads of the service's process and the files
of its data folder are counted. Exit status 1 when the median memory of the last third is more than --growth percent above
that of the middle third, when its descriptors or threads are more than three above, when there are more files than four an
Add and ten a user, or when an answer was wrong. Linux only. MMMEM_* settings apply.

What leaks does so per request, so 48 hours are counted in requests: the requests of a run are those of a service that gets one every
48 h / requests. For 48 hours on the clock: --minutes 2880.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median

from attack_callers import SETTINGS, Caller, Figures
from attack_ledger import Ledger
from bench_photos import MIB, resident
from benchmark_data import console, progress, step, table, write_markdown
from demo_service import Service, ServiceError
from rich.table import Table

PAUSE = 6  # seconds between two samples
SPARE = 3  # descriptors and threads, which come and go with requests
DEFAULTS = {"MMMEM_CACHE_BYTES": "2000000", "MMMEM_VERSION_MINUTES": "1"}
TWO_DAYS = 48 * 3600


@dataclass(frozen=True, slots=True)
class Sample:
    """What the service holds at one moment; medians of several are samples too."""

    resident: float
    descriptors: float
    threads: float
    files: float


def sample(service: Service) -> Sample:
    """What it holds now."""
    process = Path("/proc", str(service.process.pid))
    descriptors, threads = (sum(1 for _ in (process / part).iterdir()) for part in ("fd", "task"))
    files = sum(len(names) for _, _, names in os.walk(service.folder / "data"))
    return Sample(resident(service.process.pid), descriptors, threads, files)


def call(callers: Sequence[Caller], figures: Figures, seconds: float, rate: float) -> None:
    """Send a request at each tick of the clock; whoever is late goes on at once."""
    ticks, turn, began = itertools.count(), threading.Lock(), time.monotonic()

    def work(caller: Caller) -> None:
        while True:
            with turn:
                at = next(ticks) / rate
            if at >= seconds:
                return
            time.sleep(max(0.0, began + at - time.monotonic()))
            caller.act(figures)

    with ThreadPoolExecutor(len(callers)) as pool:
        for each in [pool.submit(work, caller) for caller in callers]:
            each.result()


def watch(service: Service, over: threading.Event, seconds: float) -> list[Sample]:
    """A sample now and then."""
    samples = []
    with progress(console()) as shown:
        told = step(shown, "requests", round(seconds / PAUSE))
        while not over.wait(PAUSE):
            samples.append(sample(service))
            told(1)
    return samples


def thirds(samples: Sequence[Sample]) -> list[Sample]:
    """The medians of each third."""
    bounds = [len(samples) * third // 3 for third in range(4)]
    parts = [samples[start:end] for start, end in itertools.pairwise(bounds)]
    return [Sample(*(median(values) for values in zip(*map(astuple, part), strict=True))) for part in parts]


def soak(service: Service, ledger: Ledger, options: argparse.Namespace) -> tuple[list[Sample], Figures]:
    """All the requests, and the samples in between."""
    figures, over, seconds = Figures("soak", ""), threading.Event(), 60 * options.minutes
    callers = [Caller(service, ledger, str(number), f"soak {number}") for number in range(options.callers)]
    with ThreadPoolExecutor(1) as watcher:
        samples = watcher.submit(watch, service, over, seconds)
        try:
            call(callers, figures, seconds, options.rate)
        finally:
            over.set()
            for caller in callers:
                caller.close()
        return samples.result(), figures


def faults(parts: Sequence[Sample], figures: Figures, ledger: Ledger, growth: float) -> list[str]:
    """What was wrong."""
    _, middle, last = parts
    users = ledger.users()
    adds = sum(len(ledger.acknowledged(user)) for user in users)
    found = [f"{what}: {times:,}" for what, times in ledger.wrong.items()]
    found += [f"{path} was answered {status}: {n:,}" for (path, status), n in figures.answers.items() if status != 200]
    if last.resident > middle.resident * (1 + growth / 100):
        found.append(f"memory grew by {100 * (last.resident / middle.resident - 1):.1f} %")
    if last.descriptors > middle.descriptors + SPARE or last.threads > middle.threads + SPARE:
        found.append("descriptors or threads grew")
    if last.files > 4 * adds + 10 * len(users):
        found.append(f"{last.files:,.0f} files of {adds:,} Adds")
    return found


def report(parts: Sequence[Sample]) -> Table:
    """The thirds as a table."""
    rows = [
        (name, f"{part.resident / MIB:,.1f}", *(f"{count:,.0f}" for count in astuple(part)[1:]))
        for name, part in zip(("first third", "middle third", "last third"), parts, strict=True)
    ]
    return table(("median of the", "resident MiB", "descriptors", "threads", "files"), rows)


def main() -> int:
    """Run, print, write, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, metavar="N", help="default: 10, at least 1")
    parser.add_argument("--rate", type=float, default=4, metavar="N", help="requests a second; default: 4")
    parser.add_argument("--callers", type=int, default=6, metavar="N", help="connections; default: 6")
    parser.add_argument("--growth", type=float, default=3, metavar="PERCENT", help="of memory, at most; default: 3")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file too")
    options = parser.parse_args()
    os.environ.update(DEFAULTS | SETTINGS | {name: os.environ[name] for name in DEFAULTS if name in os.environ})
    ledger = Ledger()
    with Service() as service:
        service.wait_until_healthy()
        samples, figures = soak(service, ledger, options)
    parts = thirds(samples)
    console().print(report(parts))
    adds, searches = (figures.answers[path, 200] for path in ("/add", "/search"))
    print(f"{adds:,} Adds and {searches:,} Searches of {len(ledger.users()):,} users, slowest {figures.slowest:.1f} s")
    tenths = samples[len(samples) // 10 - 1 :: max(1, len(samples) // 10)]
    print("resident MiB after each tenth: " + " ".join(f"{each.resident / MIB:,.0f}" for each in tenths))
    print(f"as many as one every {TWO_DAYS / max(1, adds + searches):.0f} s makes in 48 hours")
    wrong = faults(parts, figures, ledger, options.growth)
    for fault in wrong:
        print(f"FAIL {fault}", file=sys.stderr)
    if options.markdown:
        write_markdown([report(parts)], options.markdown)
    return min(len(wrong), 1)


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(str(error)) from None
