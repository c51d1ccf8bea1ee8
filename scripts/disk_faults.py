#!/usr/bin/env python3
"""Breaks the disk under a running service, mends it again, and compares what the service answered with what it kept.

    python scripts/disk_faults.py [--seconds 8] [--callers 8] [--seed 1]

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
import base64
import io
import os
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
from benchmark_data import console, table
from demo_service import Service, ServiceError
from disk_ledger import UNAVAILABLE, Ledger, mark
from disk_place import FAULTS, Fault, NoHandles, Place, under
from PIL import Image

MESSAGES = 3  # of an Add
SECONDS = 60  # within which an answer must come
RECOVERY = 30  # seconds in which a request that is sent again and again must be a 200
STRIKES = 4  # a second
SHOWN = 0.3  # of the requests have a picture
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
SETTINGS = {
    "MMMEM_CONTEXT_TURNS": "0",  # so that a memory comes back with its own mark alone
    "MMMEM_MAX_RETURN_CHARS": "10000000",
    "MMMEM_CACHE_BYTES": "200000",  # a few users: most searches read from the disk
    "MMMEM_COMPACT_FRAGMENTS": "8",
    "MMMEM_OCR": "off",  # more requests in the time
}


@dataclass
class Figures:
    """What came of one fault."""

    name: str
    means: str
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    slowest: float = 0.0
    recovered: float = 0.0


class Caller:
    """Keeps a connection to the service, sends it Adds and Searches, and has the ledger judge the answers. For one thread."""

    def __init__(self, service: Service, ledger: Ledger, name: str, seed: str) -> None:
        self._headers = {"Authorization": f"Bearer {service.key}"}
        self._client = httpx.Client(base_url=service.url, headers=self._headers, timeout=SECONDS, trust_env=False)
        self._ledger = ledger
        self._name = name
        self._chance = random.Random(seed)
        self._count = 0
        self._client.get("/health")  # connected before anything is wrong

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def act(self, figures: Figures) -> None:
        """An Add, of an old user or a new one, a repetition or a Search."""
        users = self._ledger.users()
        choice = self._chance.random()
        if not users or choice < 0.4:
            known = users and self._chance.random() < 0.7
            self.add(self._body(self._chance.choice(users) if known else f"user {self._name} {self._count}"), figures)
        elif choice < 0.5 and (refused := self._ledger.open()):
            self.add(self._chance.choice(refused), figures)
        else:
            self.search(self._chance.choice(users), figures)

    def add(self, body: dict[str, Any], figures: Figures) -> int:
        """The status; 0 when there was no answer."""
        self._ledger.sent(body)
        status, answer = self._post("/add", body, figures)
        if status:
            self._ledger.answered(body, status, answer)
        return status

    def search(self, user: str, figures: Figures, *, all_of_it: bool = False) -> int:
        """The status; 0 when there was no answer."""
        before = self._ledger.acknowledged(user)
        query: list[dict[str, Any]] = [{"type": "text", "text": "what was noted?"}]
        if self._chance.random() < SHOWN:
            query.append(self._picture())
        status, answer = self._post("/search", {"user_id": user, "query": query, "top_k": 1_000}, figures)
        if status:
            self._ledger.found(user, before, status, answer, all_of_it=all_of_it)
        return status

    def _body(self, user: str) -> dict[str, Any]:
        self._count += 1
        request_id = f"{self._name}-{self._count}"
        texts = [f"{mark(request_id, place, MESSAGES)} noted on day {self._count}" for place in range(MESSAGES)]
        shown = [self._picture()] if self._chance.random() < SHOWN else []
        contents = [texts[0], [{"type": "text", "text": texts[1]}, *shown], texts[2] + " in full, 一字不漏" * 9]
        messages = [{"role": "user", "content": content} for content in contents]
        return {"request_id": request_id, "user_id": user, "session_id": "s", "messages": messages}

    def _picture(self) -> dict[str, Any]:
        return picture(self._chance.choice(FORMATS), self._chance.randrange(50))

    def _post(self, path: str, body: dict[str, Any], figures: Figures) -> tuple[int, Any]:
        began = time.monotonic()
        try:
            response = self._client.post(path, json=body)
            status, answer = response.status_code, response.json()
        except (httpx.HTTPError, ValueError) as error:
            self._ledger.count(f"{path}: {type(error).__name__}")
            status, answer = 0, None
        figures.slowest = max(figures.slowest, time.monotonic() - began)
        figures.answers[path, status] += 1
        return status, answer


@cache
def picture(file_format: str, number: int) -> dict[str, Any]:
    """A content part with a small picture."""
    file = io.BytesIO()
    Image.linear_gradient("L").rotate(7 * number).resize((64, 64)).save(file, file_format)
    url = f"data:image/{file_format.lower()};base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def attack(fault: Fault, callers: list[Caller], ledger: Ledger, seconds: float) -> Figures:
    """Let the fault last, with everybody calling, then see everything recover."""
    figures = Figures(fault.name, fault.means)
    over = threading.Event()

    def call(caller: Caller) -> None:
        while not over.is_set():
            caller.act(figures)

    with ThreadPoolExecutor(len(callers)) as pool:
        try:
            fault.strike()
            calling = [pool.submit(call, caller) for caller in callers]
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
    with Service(place.data, under()) as service:
        service.wait_until_healthy()
        kinds: list[type[Fault]] = [*FAULTS, NoHandles]
        for number, kind in enumerate(kinds):
            fault = kind(place, service.process.pid, chance)
            with calling(service, ledger, options.callers, f"{options.seed}.{number}") as callers:
                yield attack(fault, callers, ledger, options.seconds)
            if service.process.poll() is not None:
                ledger.count("the service ended")
                return
        log = service.log.read_text(errors="replace")
        ledger.count("the log shows what was said", log.count("noted on day"))
    with Service(place.data, under()) as service:
        service.wait_until_healthy()
        with calling(service, ledger, options.callers, "restarted") as callers:
            find_all(callers, ledger)


def main() -> int:
    """Break, mend, print; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8, help="that each fault lasts")
    parser.add_argument("--callers", type=int, default=8, help="at a time")
    parser.add_argument("--seed", type=int, default=1, help="the same choices again")
    options = parser.parse_args()
    os.environ.update(SETTINGS)
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
