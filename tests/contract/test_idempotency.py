"""A request is kept once, whoever of several processes is asked, at once, later, after a restart or a compaction."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import lancedb

from mmmem.store.users import table_name
from tests.running import DEADLINE, RunningService, text_of

# Search by words only: a start takes a third of the time, and what is kept is the same.
WORDS_ONLY = {f"weight_{channel}": "0" for channel in ("maxsim", "dense", "image", "labels")} | {"reranker": "none"}
BUSY = 503  # the other process still loads


def body(text: str, request_id: str = "r1", user_id: str = "u") -> dict[str, Any]:
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "noted"}]
    return {"request_id": request_id, "user_id": user_id, "session_id": "s", "messages": messages}


def answers(running: RunningService, sent: dict[str, Any], times: int = 16) -> list[int]:
    """The statuses of the same Add many times at once, each over a connection of its own, so that every process gets some."""

    def ask(_: int) -> int:
        deadline = time.monotonic() + DEADLINE
        while True:
            answer = httpx.post(f"{running.url}/add", json=sent, timeout=DEADLINE, trust_env=False)
            if answer.status_code != BUSY or time.monotonic() > deadline:
                return answer.status_code
            time.sleep(0.1)

    with ThreadPoolExecutor(times) as callers:
        return list(callers.map(ask, range(times)))


def texts(running: RunningService, user_id: str = "u") -> list[str]:
    return sorted(text_of(memory) for memory in running.search(user_id, "train", top_k=100))


def test_one_copy_at_once_on_any_worker_and_after_a_restart(start_service: Callable[..., RunningService]) -> None:
    said, other = body("the train leaves at 7:45"), body("the train leaves at 8:00")
    for _ in range(2):
        running = start_service(workers="2", **WORDS_ONLY).ready()
        assert answers(running, said) == [200] * 16
        assert answers(running, other) == [422] * 16
        assert answers(running, said) == [200] * 16
        assert answers(running, body("7:45", user_id="v")) == [200] * 16
        assert len(texts(running)) == len(texts(running, "v")) == 2
        assert not any("8:00" in text for text in texts(running))
        assert running.stop() == 0


def test_one_copy_after_compaction_and_the_end_of_old_versions(
    start_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    running = start_service(compact_fragments="2", **WORDS_ONLY).ready()
    said, other = body("the train leaves at 7:45"), body("the train leaves at 8:00")
    assert answers(running, said, 1) == [200]
    written = set(data_files(tmp_path))
    for number in range(8):
        assert answers(running, body(f"tea number {number}", f"more {number}"), 1) == [200]
    clean_up(tmp_path / "data")
    assert not written & set(data_files(tmp_path)), "what the request was written to is still there"
    before = texts(running)
    assert len(before) == 18
    assert answers(running, said) == [200] * 16
    assert answers(running, other) == [422] * 16
    assert texts(running) == before


def clean_up(data_dir: Path) -> None:
    """What the service does to versions of a certain age. It may be at it too: then once more."""
    began = time.monotonic()
    while True:
        table = lancedb.connect(data_dir).open_table(table_name("u"))
        try:
            table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)
        except RuntimeError as conflict:
            assert "Retryable" in str(conflict)
            assert time.monotonic() - began < DEADLINE
        else:
            return


def data_files(folder: Path) -> list[Path]:
    (table,) = folder.rglob(f"{table_name('u')}.lance")
    return list((table / "data").iterdir())
