#!/usr/bin/env python3
"""What many small Adds leave behind, against one large write of the same; and many users in turn, in a small cache.

    python scripts/growth.py [--adds 20000] [--callers 1] [--questions 100] [--users 2000] [--cache-mib 16]

One user is told so many messages in Adds of one, through everything that an Add goes through but the encoder; another user gets the same
memories in one write. Compared are the files and bytes that each leaves, the median of searches that ask both in turn, and
the first search of each in a service that is started anew. With one caller each Add is a commit of its own, which is the hardest;
--callers 64 lets the store put those together that wait.

Then so many users of ten memories are each searched once, one after the other, in a process whose cache (MMMEM_CACHE_BYTES) holds a
few of them: after the first tenth of them its memory may not grow by more than that.

The conversation is made up, and vectors repeat (scripts/bench_search.py). Exit status 1 when the Adds left more than three times the bytes
of the one write, more than --files files, or searches that take more than 1.3 times as long, or when memory grew. Linux only.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from bench_add import Conversation, Stopwatch, adds
from bench_search import MIB, Reused, encode, in_memory, on_disk
from benchmark_data import console, progress, step, table

from mmmem import wiring
from mmmem.encoders.batched import BatchedImageEncoder, BatchedTextEncoder
from mmmem.memory import MemoryService
from mmmem.settings import Settings
from mmmem.store import StoredRequest
from mmmem.store.users import table_name
from mmmem.types import AddRequest, Query, TextEncoding, TextPart

ENCODED = 1_000  # turns that the encoder reads; later ones get their vectors, a little changed
MOST_BYTES, MOST_TIME = 3.0, 1.3  # against one write
MEMORIES = 10  # of each of the many users
SMALL, BULK = "small adds", "one write"
WARM_UP = 5


class Shared(Reused):
    """For several callers at a time."""

    def __init__(self, encodings: Sequence[TextEncoding]) -> None:
        super().__init__(encodings)
        self._turn = threading.Lock()

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """See TextEncoder."""
        with self._turn:
            return super().encode_memories(texts, previous)


class Clock:
    """Searches, and counts the time beside the encoding of the question."""

    def __init__(self) -> None:
        self._encoding = [
            Stopwatch(BatchedTextEncoder, "encode_queries"),
            Stopwatch(BatchedImageEncoder, "encode_captions"),
        ]
        self._conversation = Conversation(1)

    def question(self) -> str:
        """The next one."""
        return self._conversation.search()

    def search(self, service: MemoryService, user_id: str, question: str) -> float:
        """Milliseconds."""
        encoded, began = sum(watch.seconds for watch in self._encoding), time.perf_counter()
        service.search(Query(user_id, (TextPart(question),), 100))
        seconds = time.perf_counter() - began
        return 1_000 * (seconds - sum(watch.seconds for watch in self._encoding) + encoded)


def write_bulk(service: MemoryService, user_id: str, requests: Sequence[AddRequest]) -> None:
    """The requests' memories as one commit."""
    encoded = [service._ingest.encode(replace(request, user_id=user_id), None, received_at=0) for request in requests]
    memories = tuple(memory for request in encoded for memory in request.memories)
    service._store.add(StoredRequest(user_id, "all", b"all", memories))


def left(folder: str, user_id: str) -> tuple[int, int]:
    """Files and bytes of a user."""
    place = Path(folder) / f"{table_name(user_id)}.lance"
    return sum(file.is_file() for file in place.rglob("*")), on_disk(place)


def grow(folder: str, options: argparse.Namespace) -> list[str]:
    """Write both users, ask both, print; what is wrong."""
    clock = Clock()
    service = wiring.build_service(Settings(data_dir=folder))
    turns = list(islice(Conversation(0).turns(), options.adds))
    requests = list(adds(iter(turns), 1, [SMALL]))
    try:
        with progress(console()) as shown:
            encodings = encode(service, turns[:ENCODED], step(shown, "encode", min(ENCODED, options.adds)))
            told = step(shown, "add one by one", len(requests))
            service._ingest._text = Shared(encodings)

            def tell(request: AddRequest) -> None:
                service.add(request)
                told(1)

            began = time.monotonic()
            with ThreadPoolExecutor(options.callers) as pool:
                list(pool.map(tell, requests))
            seconds = time.monotonic() - began
            service._ingest._text = Shared(encodings)
            write_bulk(service, BULK, requests)
        warm = ask_in_turn(service, clock, options.questions)
    finally:
        service.close()
    service = wiring.build_service(Settings(data_dir=folder))
    try:
        clock.search(service, "nobody", clock.question())
        cold = {user: clock.search(service, user, "Who was in Lisbon?") for user in (BULK, SMALL)}
        again = ask_in_turn(service, clock, options.questions)
        held = {user: len(service._store.arrays(user)) for user in (SMALL, BULK)}
    finally:
        service.close()
    sizes = {user: left(folder, user) for user in (SMALL, BULK)}
    rows = [
        (
            user,
            f"{sizes[user][0]:,}",
            f"{sizes[user][1] / MIB:,.1f}",
            *(f"{ms[user]:.1f}" for ms in (warm, cold, again)),
        )
        for user in (SMALL, BULK)
    ]
    ratios = {
        "bytes": sizes[SMALL][1] / sizes[BULK][1],
        "time of a search": warm[SMALL] / warm[BULK],
        "time of a search after a restart": again[SMALL] / again[BULK],
    }
    rows.append(("ratio", "", f"{ratios['bytes']:.2f}", *(f"{ms[SMALL] / ms[BULK]:.2f}" for ms in (warm, cold, again))))
    header = ("user", "files", "MiB", "search ms", "first after a restart", "later")
    console().print(table(header, rows))
    print(
        f"{len(requests):,} Adds of one message by {options.callers} at a time: {len(requests) / seconds:.0f} a second"
    )
    wrong = [
        f"{what}: {ratio:.2f} times"
        for what, ratio in ratios.items()
        if ratio > (MOST_BYTES if what == "bytes" else MOST_TIME)
    ]
    if sizes[SMALL][0] > options.files:
        wrong.append(f"{sizes[SMALL][0]:,} files")
    if set(held.values()) != {len(requests)}:
        wrong.append(f"{held} memories of {len(requests):,}")
    return wrong


def ask_in_turn(service: MemoryService, clock: Clock, questions: int) -> dict[str, float]:
    """Median milliseconds of each user's searches."""
    times: dict[str, list[float]] = {SMALL: [], BULK: []}
    for number in range(WARM_UP + questions):
        question = clock.question()
        for user in times if number % 2 else reversed(times):
            times[user].append(clock.search(service, user, question))
    return {user: statistics.median(each[WARM_UP:]) for user, each in times.items()}


def write_users(folder: str, users: int) -> None:
    """Many users with the same few memories."""
    service = wiring.build_service(Settings(data_dir=folder))
    turns = list(islice(Conversation(0).turns(), 10 * MEMORIES))
    try:
        with progress(console()) as shown:
            encodings = encode(service, turns, step(shown, "encode", len(turns)))
            service._ingest._text = Shared(encodings)
            told = step(shown, "write users", users)
            for number, request in enumerate(
                islice(adds(islice(Conversation(2).turns(), users * MEMORIES), MEMORIES, ["any"]), users)
            ):
                write_bulk(service, f"visited {number}", [request])
                told(1)
    finally:
        service.close()


def visit(folder: str, users: int, cache_bytes: int) -> tuple[list[int], int]:
    """Search each user once; memory (RSS) after each tenth of them, in bytes, and what the arrays of all would take."""
    service = wiring.build_service(Settings(data_dir=folder, cache_bytes=cache_bytes))
    clock, memory, arrays = Clock(), [], 0
    try:
        for number in range(users):
            clock.search(service, f"visited {number}", clock.question())
            arrays += service._store.arrays(f"visited {number}").nbytes
            if (number + 1) % max(1, users // 10) == 0:
                memory.append(in_memory("VmRSS"))
        return memory, arrays
    finally:
        service.close()


def visits(folder: str, options: argparse.Namespace) -> list[str]:
    """Write the users, visit them in a process of its own, print; what is wrong."""
    limit = options.cache_mib * MIB
    write_users(folder, options.users)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        memory, arrays = alone.submit(visit, folder, options.users, limit).result()
    print(
        f"{options.users:,} users in turn, {arrays / MIB:.0f} MiB of arrays in a cache of {options.cache_mib} MiB; RSS after each tenth, MiB:"
    )
    print("  " + " ".join(f"{size / MIB:.0f}" for size in memory))
    grown = max(memory) - memory[0]
    return [f"memory grew by {grown / MIB:.0f} MiB"] if grown > limit else []


def main() -> int:
    """Grow, visit, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adds", type=int, default=20_000, metavar="N", help="of one message; default: 20,000")
    parser.add_argument("--callers", type=int, default=1, metavar="N", help="that Add at a time; default: 1")
    parser.add_argument("--questions", type=int, default=100, metavar="N", help="searches of each user; default: 100")
    parser.add_argument("--files", type=int, default=2_000, metavar="N", help="that may be left; default: 2,000")
    parser.add_argument("--users", type=int, default=2_000, metavar="N", help="that are visited; default: 2,000")
    parser.add_argument("--cache-mib", type=int, default=16, metavar="N", help="for their arrays; default: 16")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mmmem-growth-") as folder:
        wrong = visits(str(Path(folder) / "users"), options) if options.users else []
        wrong += grow(str(Path(folder) / "growth"), options) if options.adds else []
    for fault in wrong:
        print(f"FAIL {fault}", file=sys.stderr)
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
