#!/usr/bin/env python3
"""Kills a service again and again while it is told things, and looks for what was lost, doubled or torn.

    python scripts/crash_service.py [--rounds 200] [--workers 1] [--callers 24] [--seconds 2] [--seed 1] [--no-models]

Each round starts `mmmem serve` on one folder that all rounds share, tells it requests of several messages, some with a photo, for four
users from many callers at once, and kills all its processes (SIGKILL) at a random moment within --seconds. After the next start every
acknowledged request must be there exactly once and every other one whole or not at all; each of those is then sent again, twice at the
same time, and must be answered 200 and be there once; an acknowledged one is sent again too (200, no second copy), and with another
body (422). Two earlier users are looked at each round, all at the end, and the rows of the tables are counted. Tables are compacted after
a few commits, so that kills meet that as well.

--no-models: search by words only, which starts in half the time. Exit code: 1 when anything broke.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import lancedb
from crash_requests import NO_MODELS, Fate, Teller, Told, shown
from demo_service import SECONDS_TO_START, Service, ServiceError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

SETTINGS = {
    "MMMEM_OCR": "off",  # what it costs would only make fewer requests
    "MMMEM_CONTEXT_TURNS": "0",
    "MMMEM_MAX_IMAGES": "1000",
    "MMMEM_COMPACT_FRAGMENTS": "5",
    "MMMEM_VERSION_MINUTES": "1",
}
OLDER = 2  # users of earlier rounds that a round looks at
BUSY = 503  # a worker process that still loads


class Crashes:
    """Rounds on one folder."""

    def __init__(self, data: Path, workers: int, callers: int, seed: int) -> None:
        self.fate = Fate()
        self._data = data
        self._workers = workers
        self._callers = callers
        self._chance = random.Random(seed)
        self._tell = Teller(seed)
        self._acknowledged: dict[str, list[Told]] = {}  # by user
        self._others: list[Told] = []  # of the last round

    def round(self, seconds: float) -> None:
        """Start, look at what the last kill left, tell, kill."""
        with Service(self._data, self._workers) as service:
            service.wait_until_healthy()
            self._look(service)
            self._tell_and_kill(service, self._chance.uniform(0, seconds))
        self.fate.kills += 1

    def end(self) -> None:
        """Start once more, look at everyone, stop and count."""
        with Service(self._data, self._workers) as service:
            service.wait_until_healthy()
            self._look(service)
            self._compare(service, self._acknowledged)
        database = lancedb.connect(self._data)
        rows = sum(database.open_table(folder.stem).count_rows() for folder in self._data.glob("u_*.lance"))
        if rows != (told := self._tell.messages.total()):
            self.fate.faults.append(f"the tables hold {rows} memories of {told}")

    def _tell_and_kill(self, service: Service, seconds: float) -> None:
        over = threading.Event()
        with ThreadPoolExecutor(self._callers) as callers:
            outcomes = [callers.submit(self._call_until, over, service) for _ in range(self._callers)]
            time.sleep(seconds)
            service.kill()
            over.set()
        for told, acknowledged in (each for outcome in outcomes for each in outcome.result()):
            if acknowledged:
                self.fate.acknowledged += 1
                self._acknowledged.setdefault(told.user_id, []).append(told)
            else:
                self.fate.unacknowledged += 1
                self._others.append(told)

    def _call_until(self, over: threading.Event, service: Service) -> list[tuple[Told, bool]]:
        outcomes = []
        while not over.is_set():
            told = self._tell()
            try:
                status, _ = service.call("POST", "/add", told.body)
            except ServiceError:
                outcomes.append((told, False))
                break
            outcomes.append((told, status == 200))
            if status not in {200, BUSY}:
                self.fate.faults.append(f"an Add was answered {status}")
        return outcomes

    def _look(self, service: Service) -> None:
        """At the users of the last round and some others, then send again what was not acknowledged."""
        users = {told.user_id for told in self._others}
        older = sorted(self._acknowledged.keys() - users)
        self._compare(service, users | set(self._chance.sample(older, min(OLDER, len(older)))), self._others)
        with ThreadPoolExecutor(self._callers) as callers:
            for told, status in callers.map(lambda told: (told, patient(service, told.body)), 2 * self._others):
                self.fate.expect(f"the retry of {told.body['request_id']}", status, 200)
            for told in self._others:
                self._acknowledged.setdefault(told.user_id, []).append(told)
            known = [self._chance.choice(self._acknowledged[user]) for user in sorted(users)]
            for status in callers.map(lambda told: patient(service, told.altered), known):
                self.fate.expect("another body", status, 422)
            for status in callers.map(lambda told: patient(service, told.body), known):
                self.fate.expect("a retry of what was acknowledged", status, 200)
        self._others = []
        self._compare(service, users)

    def _compare(self, service: Service, users: Iterable[str], others: Iterable[Told] = ()) -> None:
        for user in users:
            mine = [told for told in others if told.user_id == user]
            self.fate.look(everything(service, user), self._acknowledged.get(user, []), mine)


def everything(service: Service, user: str) -> list[str]:
    """All memories of a user, asked for again while a worker process still loads. Raises ServiceError if none ever answers."""
    deadline = time.monotonic() + SECONDS_TO_START
    asked = {"user_id": user, "query": "what was said?", "top_k": 1_000}
    while (answer := service.call("POST", "/search", asked))[0] == BUSY:
        if time.monotonic() > deadline:
            raise ServiceError(f"a search was refused for {SECONDS_TO_START} s. {service.log_tail()}")
        time.sleep(0.1)
    return [shown(memory["content"]) for memory in answer[1]["data"]]


def patient(service: Service, body: Any) -> int:
    """The status of an Add, asked again while a worker process still loads."""
    deadline = time.monotonic() + SECONDS_TO_START
    while (status := service.call("POST", "/add", body)[0]) == BUSY and time.monotonic() < deadline:
        time.sleep(0.1)
    return status


def report(fate: Fate) -> Table:
    """The counts."""
    counts = {each.name: getattr(fate, each.name) for each in fields(fate) if each.name != "faults"}
    table = Table(*counts)
    table.add_row(*(f"{count:,}" for count in counts.values()))
    return table


def main() -> int:
    """Crash it; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="how often it is killed; default: 200")
    parser.add_argument("--workers", type=int, default=1, help="processes of the service; default: 1")
    parser.add_argument("--callers", type=int, default=24, help="requests on their way at a time; default: 24")
    parser.add_argument("--seconds", type=float, default=2, help="latest moment of a kill; default: 2")
    parser.add_argument("--seed", type=int, default=1, help="the same requests and moments again; default: 1")
    parser.add_argument("--no-models", action="store_true", help="search by words only")
    options = parser.parse_args()
    os.environ.update(SETTINGS | (NO_MODELS if options.no_models else {}))
    console, interrupted = Console(), False
    with tempfile.TemporaryDirectory(prefix="mmmem-crash-", ignore_cleanup_errors=True) as folder:
        crashes = Crashes(Path(folder) / "data", options.workers, options.callers, options.seed)
        try:
            with Progress(
                BarColumn(), MofNCompleteColumn(), TextColumn("kills"), TimeElapsedColumn(), console=console
            ) as shown_:
                task = shown_.add_task("", total=options.rounds)
                for _ in range(options.rounds):
                    crashes.round(options.seconds)
                    shown_.advance(task)
            crashes.end()
        except KeyboardInterrupt:
            console.print("interrupted; so far:")
            interrupted = True
    console.print(report(crashes.fate))
    for fault in crashes.fate.faults:
        console.print(f"FAIL {fault}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"seed {options.seed}: {len(crashes.fate.faults):,} faults")
    return 130 if interrupted else min(len(crashes.fate.faults), 1)


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(f"crash_service: {error}") from error
    except KeyboardInterrupt:
        raise SystemExit(130) from None
