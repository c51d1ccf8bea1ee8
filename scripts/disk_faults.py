#!/usr/bin/env python3
"""Breaks the disk under a running service, mends it again, and compares what the service answered with what it kept.

    python scripts/disk_faults.py [--seconds 8] [--callers 8] [--only FAULT ...] [--seed 1]

A real `mmmem serve` is kept from opening files before it has served anything, then meets a full disk, a read-only folder, a folder
and folders in it that it may not enter, and no file handles again; the same process all the time. While a fault lasts, callers
Add (three messages, with pictures, of users old and new) and Search. Each answer must come within a minute and be a 200 or a 503
with a reason and no path. A Search that is a 200 must find all that was acknowledged, every Add whole or not at all, nothing twice. When the fault
is over, all that was refused is sent again and must be a 200 without a restart, and every memory must be there once; and
once more after a restart. An Add that was a 503 may have been kept: its repetition changes nothing.

As root on Linux the disk is a small tmpfs of the script's own, and the service runs without the right to ignore permissions (setpriv).
Other users get a temporary folder: the full disk is then RLIMIT_FSIZE, and read-only is chmod. Exit status 1 when anything was wrong.
MMMEM_* settings apply.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from attack_callers import SETTINGS, Caller, Figures
from attack_ledger import UNAVAILABLE, Ledger
from benchmark_data import console, table
from demo_service import Service, ServiceError
from disk_place import FAULTS, Fault, NoHandles, Place, under

RECOVERY = 30  # seconds in which a request that is sent again and again must be a 200
STRIKES = 4  # a second
PATIENCE = 0.3  # seconds that a caller who was refused waits
CACHE_BYTES = "200000"  # a few users: most searches read from the disk


def attack(fault: Fault, callers: list[Caller], ledger: Ledger, seconds: float) -> Figures:
    """Let the fault last, with everybody calling, then see everything recover."""
    figures = Figures(fault.name, fault.means)
    over = threading.Event()

    def call(caller: Caller) -> None:
        while not over.is_set():
            if caller.act(figures) != 200:
                over.wait(PATIENCE)

    with ThreadPoolExecutor(len(callers)) as pool:
        fault.strike()
        calling = [pool.submit(call, caller) for caller in callers]
        try:
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                time.sleep(1 / STRIKES)
                fault.strike()
        finally:
            over.set()
            for each in calling:
                each.result()
            fault.lift()
    figures.recovered = recover(callers, ledger)
    if not any(status == UNAVAILABLE for _, status in figures.answers):
        ledger.count(f"{fault.name}: nothing was ever refused, so this was no fault")
    return figures


def recover(callers: list[Caller], ledger: Ledger) -> float:
    """Send what was refused again, then look for everything; the seconds until there was no refusal."""
    began = time.monotonic()
    after = Figures("", "")
    each_in_turn(callers, lambda caller, body: until_200(lambda: caller.add(body, after)), ledger.open())
    seconds = time.monotonic() - began
    find_all(callers, ledger)
    ledger.count("an Add was refused for good", len(ledger.open()))
    return seconds


def find_all(callers: list[Caller], ledger: Ledger) -> None:
    """Every user must have all that was ever sent, once."""
    after = Figures("", "")
    each_in_turn(
        callers,
        lambda caller, user: until_200(lambda: caller.search(user, after, all_of_it=True)),
        ledger.users(),
    )


def until_200(call: Callable[[], int]) -> None:
    """Again while the service says that it is unavailable, for a while."""
    began = time.monotonic()
    while call() == UNAVAILABLE and time.monotonic() < began + RECOVERY:
        time.sleep(0.1)


def each_in_turn(callers: list[Caller], action: Callable[[Caller, Any], None], items: list[Any]) -> None:
    """Share the work among the callers."""

    def work(number: int) -> None:
        for item in items[number :: len(callers)]:
            action(callers[number], item)

    with ThreadPoolExecutor(len(callers)) as pool:
        list(pool.map(work, range(len(callers))))


@contextmanager
def calling(service: Service, ledger: Ledger, count: int, seed: str) -> Iterator[list[Caller]]:
    """So many callers."""
    callers = [Caller(service, ledger, f"{seed}.{number}", f"{seed} {number}") for number in range(count)]
    try:
        yield callers
    finally:
        for caller in callers:
            caller.close()


def run(options: argparse.Namespace, place: Place, ledger: Ledger) -> Iterator[Figures]:
    """Every fault on one process, then a restart."""
    chance = random.Random(options.seed)
    with Service(place.data, under=under()) as service:
        service.wait_until_healthy()
        kinds: list[type[Fault]] = [*FAULTS, NoHandles]
        for number, kind in enumerate(kind for kind in kinds if not options.only or kind.name in options.only):
            fault = kind(place, service.process.pid, chance)
            with calling(service, ledger, options.callers, f"{options.seed}.{number}") as callers:
                yield attack(fault, callers, ledger, options.seconds)
            if service.process.poll() is not None:
                ledger.count("the service ended")
                return
        log = service.log.read_text(errors="replace")
        ledger.count("the log shows what was said", log.count("noted on day"))
    with Service(place.data, under=under()) as service:
        service.wait_until_healthy()
        with calling(service, ledger, options.callers, "restarted") as callers:
            find_all(callers, ledger)


def main() -> int:
    """Break, mend, print; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8, help="that each fault lasts")
    parser.add_argument("--callers", type=int, default=8, help="at a time")
    names = [kind.name for kind in FAULTS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="FAULT", help=f"some of: {', '.join(names)}")
    parser.add_argument("--seed", type=int, default=1, help="the same choices again")
    options = parser.parse_args()
    os.environ.update(SETTINGS, MMMEM_CACHE_BYTES=CACHE_BYTES)
    place, ledger = Place(), Ledger()
    try:
        rows = []
        for figures in run(options, place, ledger):
            counts = [figures.answers[path, status] for path in ("/add", "/search") for status in (200, UNAVAILABLE)]
            other = figures.answers.total() - sum(counts)
            cells = [*map(str, counts), str(other), f"{figures.slowest:.1f}", f"{figures.recovered:.1f}"]
            rows.append((f"{figures.name} ({figures.means})", *cells))
    finally:
        place.close()
    header = ("fault", "Add 200", "503", "Search 200", "503", "other", "slowest s", "recovered in s")
    console().print(table(header, rows))
    for what, times in ledger.wrong.items():
        print(f"FAIL {what}: {times:,}", file=sys.stderr)
    sent = sum(len(ledger.acknowledged(user)) for user in ledger.users())
    print(f"{sent:,} Adds of {len(ledger.users()):,} users acknowledged, {ledger.wrong.total():,} things wrong")
    return min(ledger.wrong.total(), 1)


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(str(error)) from None
