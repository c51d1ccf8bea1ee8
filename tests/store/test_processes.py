"""Several processes serve one folder, or one bucket, together; one that is killed takes nothing with it that it acknowledged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.store.content import ANYWHERE, OpenStore, request

ROOT = Path(__file__).parents[2]


def adding(where: str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.adding", where, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def texts(open_store: OpenStore) -> list[str]:
    return [memory.text for memory in open_store().arrays("ada").memories]


def pairs(texts: list[str]) -> list[str]:
    """The requests that texts belong to, each of which must be there whole."""
    requests = [text.removesuffix(" first") for text in texts[::2]]
    assert texts == [f"{request_id} {part}" for request_id in requests for part in ("first", "second")]
    return requests


@ANYWHERE
def test_processes_at_a_new_place_see_each_other_and_lose_and_double_nothing(open_store: OpenStore, where: str) -> None:
    names = ("a", "b", "c", "d")
    processes = [adding(where, name, 10) for name in names]
    store = open_store()
    output = processes[0].stdout
    assert output is not None
    acknowledged = []
    for line in output:
        if (request_id := line.strip()) == "open":
            continue
        acknowledged.append(request_id)
        assert f"{request_id} second" in [memory.text for memory in store.arrays("ada").memories]
    assert len(acknowledged) == 20
    assert [len(process.communicate()[0].splitlines()) for process in processes] == [0, 21, 21, 21]
    assert [process.returncode for process in processes] == [0] * 4
    assert sorted(pairs(texts(open_store))) == sorted(f"{who} {n}" for who in ("shared", *names) for n in range(10))


@ANYWHERE
def test_a_killed_process_leaves_whole_requests_and_all_that_it_acknowledged(open_store: OpenStore, where: str) -> None:
    with adding(where, "killed", 10_000) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip() for _ in range(25)][1:]
        process.kill()
        acknowledged += process.stdout.read().split("\n")[:-1]
    kept = pairs(texts(open_store))
    assert set(acknowledged) <= set(kept)
    assert len(kept) == len(set(kept))
    store = open_store()
    for request_id in acknowledged:
        store.add(request("ada", request_id, f"{request_id} first", f"{request_id} second"))
    assert pairs(texts(open_store)) == kept
