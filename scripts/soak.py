#!/usr/bin/env python3
"""Two days of use in ten minutes, and whether the service's memory, file handles, threads and files stay as they are.

    python scripts/soak.py [--minutes 10] [--hours 48] [--adds-an-hour 40] [--cache-mib 16]

An agent in daily use is taken to send --adds-an-hour Adds, of four messages on average, and as many Searches: 1,920 of each
in 48 hours, paced evenly over the minutes. Half of the requests are of five users who stay, the others of users who come once or
a few times; every tenth Add is large (60 messages), every fifth shows a picture, every twentieth request is refused (a broken picture,
another body). What --cache-mib lets the service keep in memory is small, so that it is full, and full for most of the time.

Every ten seconds the service's resident memory, descriptors, threads and files on disk are read. Of the last third the median may
not be above that of the middle third by more than 5 % in memory and 10 % or eight in descriptors and threads. Every answer must have the
status that it should have. Exit status 1 otherwise. Linux only. MMMEM_* settings apply.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
from bench_add import Conversation, Turn
from bench_photos import MIB, resident
from benchmark_data import console, table
from demo_service import Service, ServiceError
from disk_faults import picture

SECONDS = 120  # within which an answer must come
SAMPLE_SECONDS = 10.0
CALLERS = 16
STAYING = [f"stays {number}" for number in range(5)]
LARGE = 60  # messages
BROKEN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


@dataclass(frozen=True, slots=True)
class Sample:
    """The service at a moment. memory in bytes."""

    seconds: float
    memory: int
    descriptors: int
    threads: int
    files: int
    answered: int


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and the status that it should have."""

    path: str
    body: dict[str, Any]
    expected: int


def requests(seed: int) -> Iterator[Request]:
    """Adds and Searches in turn, without end; the same for the same seed."""
    chance, conversation = random.Random(seed), Conversation(seed)
    turns = conversation.turns()
    number = 0
    while True:
        number += 1
        user = chance.choice(STAYING) if chance.random() < 0.5 else f"passes {number - chance.randrange(20)}"
        count = LARGE if number % 10 == 0 else chance.randint(1, 7)
        messages = [message(turn) for turn in islice(turns, count)]
        if number % 5 == 0:
            messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"]}, picture("PNG", number % 50)]
        ids = {"request_id": f"{seed} {number}", "user_id": user, "session_id": f"session {number // 50}"}
        yield Request("/add", {**ids, "messages": messages}, 200)
        yield Request("/search", {"user_id": user, "query": conversation.search(), "top_k": 100}, 200)
        if number % 20 == 0:
            broken = [*messages, {"role": "user", "content": [BROKEN]}]
            yield Request("/add", {**ids, "request_id": f"broken {number}", "messages": broken}, 422)


def message(turn: Turn) -> dict[str, Any]:
    """A turn as the API takes it."""
    return {"role": turn.role, "content": turn.text, "timestamp": turn.timestamp}


class Soak:
    """Sends requests at an even pace to a service, and watches it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        headers = {"Authorization": f"Bearer {service.key}"}
        limits = httpx.Limits(max_connections=CALLERS)
        self._client = httpx.Client(
            base_url=service.url, headers=headers, timeout=SECONDS, limits=limits, trust_env=False
        )
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self.answers: Counter[tuple[str, int]] = Counter()
        self.wrong: Counter[str] = Counter()

    def run(self, seconds: float, count: int) -> list[Sample]:
        """So many Adds and Searches in so many seconds; what was seen meanwhile."""
        samples: list[Sample] = []
        told = requests(0)
        waiting = threading.BoundedSemaphore(CALLERS)  # a slow service is not run over: the pace is then its own
        next_sample = 0.0
        with ThreadPoolExecutor(CALLERS) as pool:
            for number, request in enumerate(islice(told, count)):
                due = self._began + seconds * number / count
                while (now := time.monotonic()) < due or now - self._began >= next_sample:
                    if now - self._began >= next_sample:
                        samples.append(self.sample())
                        next_sample += SAMPLE_SECONDS
                    else:
                        time.sleep(min(0.05, due - now))
                waiting.acquire()
                pool.submit(self._send, request, waiting)
        samples.append(self.sample())
        self._client.close()
        return samples

    def sample(self) -> Sample:
        """The service now."""
        process = Path(f"/proc/{self._service.process.pid}")
        return Sample(
            time.monotonic() - self._began,
            resident(self._service.process.pid),
            len(list((process / "fd").iterdir())),
            len(list((process / "task").iterdir())),
            sum(len(files) for _, _, files in os.walk(self._service.folder / "data")),
            self.answers.total(),
        )

    def _send(self, request: Request, waiting: threading.BoundedSemaphore) -> None:
        try:
            status = self._client.post(request.path, json=request.body).status_code
        except httpx.HTTPError as error:
            status = 0
            with self._lock:
                self.wrong[f"{request.path}: {type(error).__name__}"] += 1
        finally:
            waiting.release()
        with self._lock:
            self.answers[request.path, status] += 1
            if status not in {0, request.expected}:
                self.wrong[f"{request.path} was answered {status}, not {request.expected}"] += 1


def grown(samples: list[Sample]) -> list[str]:
    """What is higher in the last third than in the middle one."""
    third = len(samples) // 3
    middle, last = samples[third : 2 * third], samples[2 * third :]
    faults = []
    for name, share, least in (("memory", 0.05, 0), ("descriptors", 0.10, 8), ("threads", 0.10, 8)):
        before, after = (statistics.median(getattr(sample, name) for sample in part) for part in (middle, last))
        if after > before + max(share * before, least):
            faults.append(f"{name} grew from {before:,.0f} to {after:,.0f}")
    return faults


def report(samples: list[Sample], rows: int = 20) -> None:
    """Some of the samples, evenly."""
    shown = samples[:: max(1, len(samples) // rows)]
    cells = [
        (f"{s.seconds:.0f}", f"{s.memory / MIB:,.0f}", *(f"{n:,}" for n in (s.descriptors, s.threads, s.files, s.answered)))
        for s in shown
    ]  # fmt: skip
    console().print(table(("second", "memory MiB", "descriptors", "threads", "files", "answers"), cells))


def main() -> int:
    """Soak, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--hours", type=float, default=48, help="of use, in these minutes")
    parser.add_argument("--adds-an-hour", type=float, default=40)
    parser.add_argument("--cache-mib", type=int, default=16, help="for users' arrays")
    options = parser.parse_args()
    os.environ["MMMEM_CACHE_BYTES"] = str(options.cache_mib * MIB)
    adds = round(options.hours * options.adds_an_hour)
    with Service() as service:
        service.wait_until_healthy()
        soak = Soak(service)
        began = time.monotonic()
        samples = soak.run(60 * options.minutes, 2 * adds + adds // 20)
        minutes = (time.monotonic() - began) / 60
        if service.process.poll() is not None:
            soak.wrong["the service ended"] += 1
    report(samples)
    faults = [*grown(samples), *(f"{what}: {times:,}" for what, times in soak.wrong.items())]
    counts = ", ".join(f"{count:,} {path} {status}" for (path, status), count in sorted(soak.answers.items()))
    print(f"{options.hours:g} hours of {options.adds_an_hour:g} Adds an hour in {minutes:.1f} minutes: {counts}")
    for fault in faults:
        print(f"FAIL {fault}", file=sys.stderr)
    return min(len(faults), 1)


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(str(error)) from None
