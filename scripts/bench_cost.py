#!/usr/bin/env python3
"""What a user and a memory cost in a folder and in a bucket: files, bytes on disk and in memory, CPU, requests, time.

    python scripts/bench_cost.py [--users 200] [--memories 2000] [--latency-ms 20]

The real service with its models, in a temporary folder and then in a bucket of scripts/s3_server.py, which is asked twice: as fast
as it is, and with so many milliseconds before every request, as a store across a network has. The memories are the conversations of
scripts/bench_add.py, in Adds of 20. MMMEM_* settings apply. Needs the `test` extra.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from bench_add import Conversation, adds
from s3_server import BUCKET, S3Server

from mmmem import wiring
from mmmem.memory import MemoryService
from mmmem.settings import Settings
from mmmem.store.users import locate, table_name
from mmmem.types import AddRequest, Message, TextPart

IN_AN_ADD = 20
TIMES = 20


@contextmanager
def serving(data_dir: str) -> Iterator[MemoryService]:
    """The service, as wiring makes it."""
    service = wiring.build_service(Settings(data_dir=data_dir))
    try:
        yield service
    finally:
        service.close()


def small(user: str, request: str) -> AddRequest:
    """An Add of one short message."""
    return AddRequest(request, user, "session", (Message("user", (TextPart("My sister Ines moved to Porto."),), None),))


def milliseconds(action: Callable[[int], object], times: int) -> float:
    """Median time of an action, which is given its number."""
    taken = []
    for number in range(times):
        began = time.perf_counter()
        action(number)
        taken.append(1_000 * (time.perf_counter() - began))
    return sorted(taken)[times // 2]


def of_users(service: MemoryService, folder: Path, users: int) -> None:
    """Files, bytes and time of users with one memory each."""
    files, size = on_disk(folder)
    taken = milliseconds(lambda number: service.add(small(f"user {number}", "r")), users)
    files, size = (after - before for after, before in zip(on_disk(folder), (files, size), strict=True))
    held = service._store.arrays("user 0").nbytes
    print(f"a user with one memory: {files / users:.1f} files, {size / users:,.0f} bytes on disk, {held:,} in memory")
    print(f"the first Add of a user: {taken:.1f} ms, encoding included")


def of_memories(service: MemoryService, folder: Path, memories: int) -> None:
    """Bytes and CPU of the memories of one user."""
    requests = list(islice(adds(Conversation(seed=0).turns(), IN_AN_ADD, ["told"]), memories // IN_AN_ADD))
    _, before = on_disk(folder)
    began, cpu = time.perf_counter(), time.process_time()
    for request in requests:
        service.add(request)
    cpu, seconds = time.process_time() - cpu, time.perf_counter() - began
    _, after = on_disk(folder)
    arrays = service._store.arrays("told")
    told = len(arrays)
    characters = sum(len(memory.text) for memory in arrays.memories) / len(arrays)
    tokens = len(arrays.token_ids) / len(arrays)
    print(f"{len(arrays):,} memories of {characters:.0f} characters, {tokens:.0f} tokens on average")
    newest, size, held = newest_bytes(folder) / told, (after - before) / told, arrays.nbytes / told
    print(
        f"a memory: {newest:,.0f} bytes on disk, {size:,.0f} with old versions and whole blocks, {held:,.0f} in memory"
    )
    print(
        f"to add a memory: {1_000 * cpu / len(arrays):.1f} ms of CPU, {1_000 * seconds / len(arrays):.1f} ms for one caller"
    )


def of_requests(data_dir: str, server: S3Server) -> None:
    """What is asked of the bucket, and how long it takes."""
    with serving(data_dir) as one, serving(data_dir) as other:

        def look(service: MemoryService) -> None:
            service._store.arrays("ada")

        def told_elsewhere(number: int) -> None:
            one.add(small("ada", f"elsewhere {number}"))

        def measured(
            what: str, action: Callable[[int], object], before: Callable[[int], object] = lambda _: None
        ) -> None:
            taken, asked = [], 0
            for number in range(TIMES):
                before(number)
                count, began = server.asked.total(), time.perf_counter()
                action(number)
                taken.append(1_000 * (time.perf_counter() - began))
                asked += server.asked.total() - count
            print(f"  {what}: {asked / TIMES:.1f} requests, {sorted(taken)[TIMES // 2]:.0f} ms")

        measured("the first Add of a user", lambda number: one.add(small(f"new {number}", "r")))
        measured("an Add", lambda number: one.add(small("ada", f"r{number}")))
        look(one)
        look(other)
        measured("a search, its look at the bucket", lambda _: look(one))
        measured("the same after another replica's Add", lambda _: look(other), told_elsewhere)
        measured("the same of an unknown user", lambda number: one._store.arrays(f"unknown {number}"))
        measured("a deletion", lambda number: one._store.delete_user(f"new {number}"))


def newest_bytes(folder: Path) -> int:
    """Bytes of the files that the newest version of the user's table is made of."""
    location = locate(Settings(data_dir=str(folder)))
    location.connect()
    version = location.open(table_name("told"))
    return version.nbytes if version else 0


def on_disk(folder: Path) -> tuple[int, int]:
    """Files and their bytes, in whole blocks as the file system keeps them."""
    statuses = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return len(statuses), sum(512 * status.st_blocks for status in statuses)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=200, help="with one memory each")
    parser.add_argument("--memories", type=int, default=2_000, help="of one user")
    parser.add_argument(
        "--latency-ms", type=float, default=20, help="before every request to the bucket, the second time"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(folder) as service:
        of_users(service, Path(folder), arguments.users)
        of_memories(service, Path(folder), arguments.memories)
    for milliseconds_more in (0, arguments.latency_ms):
        with S3Server() as server:
            os.environ.update(server.environment)
            server.before = lambda *_, seconds=milliseconds_more / 1_000: time.sleep(seconds)
            print(f"in a bucket with {milliseconds_more:.0f} ms more a request")
            of_requests(f"s3://{BUCKET}/{milliseconds_more:.0f}", server)


if __name__ == "__main__":
    main()
