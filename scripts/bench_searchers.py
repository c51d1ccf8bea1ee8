#!/usr/bin/env python3
"""How many searches a second one service answers when many ask at once, and how many questions its encoder alone could read.

    python scripts/bench_searchers.py [--memories 10000] [--searchers 64] [--searches 1000] [--workers 1] [--json FILE]

One user is written to a store in a temporary folder as scripts/bench_search.py does it. Then `mmmem serve` answers over HTTP on
loopback, and each searcher sends one question after the other on a connection of its own, top_k 100. Every question is another one.
The searchers run on the same cores as the service, so they use the standard library's HTTP client, which computes little. What the
service's processes compute is read from /proc (Linux only).

The encoder's limit is measured before that, in a process without a service: the same questions from as many threads. The
encoder's share is what of the service's CPU time goes to encoding, were each question to cost what it costs there. Exit
status 1 when an answer was no 200 or not full. MMMEM_* settings apply.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from threading import local
from urllib.parse import urlsplit

import numpy as np
from bench_add import Conversation
from bench_search import ENCODED, SEED, encode, tell
from benchmark_data import console, progress, step
from demo_service import Service
from rich.table import Table

from mmmem import wiring
from mmmem.settings import Settings

USER = "bench_searchers"
TOP_K = 100
WARM_UP = 20  # searches that do not count
SECONDS = 600  # that a searcher waits


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured. Rates are a second, latencies in ms, `service_ms` is CPU time of one search, `failed` answers."""

    memories: int
    searchers: int
    workers: int
    cores: int
    searches: float
    p50_ms: float
    p95_ms: float
    max_ms: float
    service_ms: float
    encoder_limit: float
    encoder_share: float
    failed: int


def write(folder: str, memories: int, advance: Callable[[int], None]) -> None:
    """One user of so many memories."""
    service = wiring.build_service(Settings(data_dir=folder))
    try:
        turns = list(islice(Conversation(SEED).turns(), min(ENCODED, memories)))
        tell(service, USER, memories, encode(service, turns, lambda _: None), advance)
    finally:
        service.close()


def encoder_alone(folder: str, questions: Sequence[str], searchers: int) -> tuple[float, float]:
    """Questions a second that the encoder reads when so many threads ask and nothing else is to do, and the CPU ms of each."""
    service = wiring.build_service(Settings(data_dir=folder))
    try:
        encoder = service._search._text  # wiring makes it and hands it to nobody else
        with ThreadPoolExecutor(searchers) as pool:
            list(pool.map(lambda text: encoder.encode_queries([text]), questions[:WARM_UP]))
            began, computed = time.perf_counter(), time.process_time()
            list(pool.map(lambda text: encoder.encode_queries([text]), questions))
            seconds, computed = time.perf_counter() - began, time.process_time() - computed
            return len(questions) / seconds, 1_000 * computed / len(questions)
    finally:
        service.close()


class Searchers:
    """So many at once, each on a connection that it keeps."""

    def __init__(self, service: Service, searchers: int, full: int) -> None:
        self._service = service
        self._searchers = searchers
        self._full = full
        self._own = local()

    def ask(self, questions: Sequence[str], advance: Callable[[int], None]) -> list[tuple[float, bool]]:
        """Seconds that each took, and whether it got its full answer."""

        def one(question: str) -> tuple[float, bool]:
            if not hasattr(self._own, "connection"):
                self._own.connection = HTTPConnection(urlsplit(self._service.url).netloc, timeout=SECONDS)
            body = json.dumps({"query": question, "user_id": USER, "top_k": TOP_K})
            headers = {"Authorization": f"Bearer {self._service.key}", "Content-Type": "application/json"}
            began = time.perf_counter()
            self._own.connection.request("POST", "/search", body, headers)
            with self._own.connection.getresponse() as answer:
                found = answer.read()
            seconds = time.perf_counter() - began
            advance(1)
            return seconds, answer.status == HTTPStatus.OK and len(json.loads(found)["data"]) == self._full

        with ThreadPoolExecutor(self._searchers) as pool:
            return list(pool.map(one, questions))


def cpu_seconds(session: int) -> float:
    """CPU time of a session's processes, those that ended aside."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(options: argparse.Namespace) -> Figures:
    """Write, measure the encoder alone, then the service."""
    conversation = Conversation(SEED + 1)
    questions = [conversation.search() for _ in range(options.searches + WARM_UP)]
    with tempfile.TemporaryDirectory() as folder, progress(console()) as shown:
        data = str(Path(folder) / "data")
        write(data, options.memories, step(shown, "write", options.memories))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            limit, encoder_ms = alone.submit(encoder_alone, data, questions[WARM_UP:], options.searchers).result()
        with Service(Path(data), options.workers) as service:
            service.wait_until_healthy()
            searchers = Searchers(service, options.searchers, min(TOP_K, options.memories))
            searchers.ask(questions[:WARM_UP], lambda _: None)
            before, began = cpu_seconds(service.process.pid), time.perf_counter()
            asked = searchers.ask(questions[WARM_UP:], step(shown, "search", options.searches))
            wall = time.perf_counter() - began
            service_ms = 1_000 * (cpu_seconds(service.process.pid) - before) / options.searches
    times = 1_000 * np.array([seconds for seconds, _ in asked])
    return Figures(
        memories=options.memories,
        searchers=options.searchers,
        workers=options.workers,
        cores=len(os.sched_getaffinity(0)),
        searches=options.searches / wall,
        p50_ms=float(np.median(times)),
        p95_ms=float(np.percentile(times, 95)),
        max_ms=float(times.max()),
        service_ms=service_ms,
        encoder_limit=limit,
        encoder_share=encoder_ms / service_ms,
        failed=sum(not full for _, full in asked),
    )


def report(found: Figures) -> Table:
    """One row."""
    shown = Table(title=f"{found.searchers} searchers, one user of {found.memories:,} memories, {found.cores} cores")
    row = {
        "workers": f"{found.workers}",
        "searches/s": f"{found.searches:.1f}",
        "p50 ms": f"{found.p50_ms:,.0f}",
        "p95 ms": f"{found.p95_ms:,.0f}",
        "max ms": f"{found.max_ms:,.0f}",
        "service's CPU ms": f"{found.service_ms:.1f}",
        "encoder alone/s": f"{found.encoder_limit:.0f}",
        "encoder's share": f"{found.encoder_share:.0%}",
        "failed": f"{found.failed}",
    }
    for name in row:
        shown.add_column(name, justify="right")
    shown.add_row(*row.values())
    return shown


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=10_000, help="of the one user")
    parser.add_argument("--searchers", type=int, default=64, help="that ask at once")
    parser.add_argument("--searches", type=int, default=1_000, help="in all")
    parser.add_argument("--workers", type=int, default=1, help="processes of the service")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    options = parser.parse_args()
    found = measure(options)
    console().print(report(found))
    if options.json:
        options.json.write_text(json.dumps(asdict(found), indent=2) + "\n", encoding="utf-8")
    return 1 if found.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
