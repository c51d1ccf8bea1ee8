#!/usr/bin/env python3
"""What a Search costs beside the encoding of its question, by the number of the user's memories.

    python scripts/bench_search.py [--sizes 1000 10000 100000] [--questions 50] [--top-k 100] [--profile] [--json FILE]

One user of each size is written to a real store in a temporary folder, then asked by the real service in a process of its own.
The conversation is made up (scripts/bench_add.py). Only its first 2,000 turns are encoded, each with the turn before it, since
100,000 would take the encoder minutes: later memories have texts and terms of their own, and the vectors of those 2,000, a
little changed. So rankings mean nothing here; sizes, lengths and frequencies do.

The time in `encode_queries` and `encode_captions` is taken off and shown apart. The first search of a user loads its memories
from disk (files just written, so from the system's file cache) and is shown apart too. Linux only: memory is read from /proc.
MMMEM_* settings apply.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import os
import pstats
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import chain, cycle, islice, pairwise
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from bench_add import WIDTH_OF_A_LOG, Conversation, Stopwatch, Turn, adds
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from mmmem import wiring
from mmmem.encoders.batched import BatchedImageEncoder, BatchedTextEncoder
from mmmem.memory import MemoryService
from mmmem.settings import Settings
from mmmem.store.users import table_name
from mmmem.types import Query, TextEncoding, TextPart

ENCODED = 2_000  # turns that the encoder reads
COMMIT = 100  # Adds in one: too few commits for a compaction, which leaves the old files for a while
NOISE = 8  # of 127, at most, added to each number of a token vector
WARM_UP = 5  # searches that do not count
SEED = 0
SMALL = "warm up"  # a user whose searches make what is made once a process
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured at one size. Times are in ms and without the encoding; memory and disk are in bytes.

    rss_before: the process with its models, before the user is loaded; rss after the searches; peak the most it had.
    """

    memories: int
    cores: int
    median_ms: float
    p95_ms: float
    encoding_ms: float
    cold_ms: float
    rss_before: int
    rss: int
    peak: int
    arrays: int
    disk: int
    profile: str


def encode(service: MemoryService, turns: Sequence[Turn], advance: Callable[[int], None]) -> list[TextEncoding]:
    """What the service's encoder makes of the turns, each after the one before in its session."""
    encoder = service._ingest._text  # wiring makes it and hands it to nobody else
    before = ["", *(last.text if last.session_id == turn.session_id else "" for last, turn in pairwise(turns))]
    encodings: list[TextEncoding] = []
    for first in range(0, len(turns), 100):
        texts = [turn.text for turn in turns[first : first + 100]]
        encodings += encoder.encode_memories(texts, before[first : first + 100])
        advance(len(texts))
    return encodings


class Reused(BatchedTextEncoder):
    """In the encoder's place while a user is written: each text gets the next encoding, from the second round on a changed one."""

    def __init__(self, encodings: Sequence[TextEncoding]) -> None:
        random = np.random.default_rng(SEED)
        again = (changed(encoding, random) for encoding in cycle(encodings))
        self._next = chain(encodings, again)

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """See TextEncoder."""
        return list(islice(self._next, len(texts)))


def changed(encoding: TextEncoding, random: np.random.Generator) -> TextEncoding:
    """The same tokens, their vectors and the pooled one a little elsewhere."""
    noise = random.integers(-NOISE, NOISE, encoding.tokens.shape, np.int8, endpoint=True)
    tokens = np.clip(encoding.tokens.astype(np.int16) + noise, -127, 127).astype(np.int8)
    dense = encoding.dense + random.normal(0, 0.1 / len(encoding.dense) ** 0.5, len(encoding.dense)).astype(np.float32)
    return replace(encoding, tokens=tokens, dense=dense / np.linalg.norm(dense))


def tell(
    service: MemoryService, user_id: str, size: int, encodings: Sequence[TextEncoding], advance: Callable[[int], None]
) -> None:
    """Write a user of so many memories: all that an Add does but encode, and a hundred of them in one commit."""
    ingest = service._ingest
    ingest._text = Reused(encodings)
    told = adds(islice(Conversation(SEED).turns(), size), Conversation.SESSION_TURNS, [user_id])
    while some := [ingest.encode(add, None, received_at=0) for add in islice(told, COMMIT)]:
        memories = tuple(memory for request in some for memory in request.memories)
        service._store.add(replace(some[0], memories=memories))
        advance(len(memories))


def measure(folder: str, size: int, questions: int, top_k: int, profiled: bool) -> Figures:
    """Search as the user of this size, in a process that has loaded no other but a small one."""
    torch.set_num_threads(1)  # as on the threads of searches: what is profiled runs on this one
    service = wiring.build_service(Settings(data_dir=folder))
    encoding = [Stopwatch(BatchedTextEncoder, "encode_queries"), Stopwatch(BatchedImageEncoder, "encode_captions")]
    conversation = Conversation(SEED + 1)

    def search(user_id: str) -> tuple[float, float]:
        """One question: ms beside its encoding, and ms of its encoding."""
        query = Query(user_id, (TextPart(conversation.search()),), top_k)
        encoded, began = sum(watch.seconds for watch in encoding), time.perf_counter()
        service.search(query)
        seconds, encoded = time.perf_counter() - began, sum(watch.seconds for watch in encoding) - encoded
        return 1_000 * (seconds - encoded), 1_000 * encoded

    user_id = user(size)
    try:
        for _ in range(WARM_UP):
            search(SMALL)
        rss_before = in_memory("VmRSS")
        cold, _ = search(user_id)
        for _ in range(WARM_UP):
            search(user_id)
        times = np.array([search(user_id) for _ in range(questions)])
        return Figures(
            memories=len(service._store.arrays(user_id)),
            cores=len(os.sched_getaffinity(0)),
            median_ms=float(np.median(times[:, 0])),
            p95_ms=float(np.percentile(times[:, 0], 95)),
            encoding_ms=float(np.median(times[:, 1])),
            cold_ms=cold,
            rss_before=rss_before,
            rss=in_memory("VmRSS"),
            peak=in_memory("VmHWM"),
            arrays=service._store.arrays(user_id).nbytes,
            disk=on_disk(Path(folder) / f"{table_name(user_id)}.lance"),
            profile=profile(service, lambda: search(user_id), questions) if profiled else "",
        )
    finally:
        service.close()


def user(size: int) -> str:
    """The user_id of the user with so many memories."""
    return f"{size} memories"


def in_memory(name: str) -> int:
    """A figure of this process, in bytes: VmRSS, or VmHWM for the largest that it ever was."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def on_disk(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def profile(service: MemoryService, action: Callable[[], object], times: int) -> str:
    """The fifteen functions in which most time went, with what they called; the encoder's own threads are not in it."""
    profiler = cProfile.Profile()
    # What a search computes on the threads of searches is computed here, where the profiler sees it.
    with patch.object(service._search._threads, "compute", lambda function, *arguments: function(*arguments)):
        profiler.enable()
        for _ in range(times):
            action()
        profiler.disable()
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("cumulative").print_stats(15)
    return text.getvalue().strip()


def run(options: argparse.Namespace, progress: Progress) -> Iterator[Figures]:
    """Write every user, then measure each in a new process."""
    sizes: list[int] = sorted(options.sizes)

    def step(name: str, total: int | None = None) -> Callable[[int], None]:
        task = progress.add_task(name, total=total)
        return lambda done: progress.advance(task, done)

    with tempfile.TemporaryDirectory() as folder:
        service = wiring.build_service(Settings(data_dir=folder))
        try:
            turns = list(islice(Conversation(SEED).turns(), min(ENCODED, sizes[-1])))
            encodings = encode(service, turns, step("encode", len(turns)))
            tell(service, SMALL, len(turns[:100]), encodings, step("write a small user", len(turns[:100])))
            for size in sizes:
                tell(service, user(size), size, encodings, step(f"write {size:,} memories", size))
        finally:
            service.close()
        for size in sizes:
            advance = step(f"search {size:,} memories", 1)
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                profiled = options.profile and size == sizes[-1]
                yield alone.submit(measure, folder, size, options.questions, options.top_k, profiled).result()
            advance(1)


def report(measured: Sequence[Figures]) -> Table:
    """A row a size."""
    table = Table(
        title=f"One search, on {measured[0].cores} cores", caption="MiB: before the user is loaded, after, peak"
    )
    for name in ("memories", "median ms", "p95 ms", "first ms", "encoding ms", "process MiB", "arrays MiB", "disk MiB"):
        table.add_column(name, justify="right")
    for row in measured:
        times = (row.median_ms, row.p95_ms, row.cold_ms, row.encoding_ms)
        process = " ".join(f"{size / MIB:,.0f}" for size in (row.rss_before, row.rss, row.peak))
        kept = (f"{size / MIB:,.1f}" for size in (row.arrays, row.disk))
        table.add_row(f"{row.memories:,}", *(f"{ms:.1f}" for ms in times), process, *kept)
    return table


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="memories of each user")
    parser.add_argument("--questions", type=int, default=50, help="searches that are measured, at each size")
    parser.add_argument("--top-k", type=int, default=100, help="memories to return")
    parser.add_argument("--profile", action="store_true", help="show where the time goes at the largest size")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    options = parser.parse_args()
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_LOG
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        measured = list(run(options, progress))
    console.print(report(measured))
    if options.profile:
        console.print(measured[-1].profile, markup=False, soft_wrap=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in measured], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
