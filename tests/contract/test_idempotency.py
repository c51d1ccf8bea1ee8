"""A request is kept once, whoever of several processes is asked, at once, later or after a restart."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.running import DEADLINE, RunningService

# Search by words only: a start takes a third of the time, and what is kept is the same.
WORDS_ONLY = {f"weight_{channel}": "0" for channel in ("maxsim", "dense", "image", "labels")} | {"reranker": "none"}
BUSY = 503  # the other process still loads


def body(text: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "noted"}]
    return {"request_id": "r1", "user_id": "u", "session_id": "s", "messages": messages}


def answers(running: RunningService, sent: dict[str, Any], times: int = 16) -> list[int]:
    """The statuses of the same Add many times at once, each over a connection of its own, so that every process gets some."""

    def ask(_: int) -> int:
        while True:
            answer = httpx.post(f"{running.url}/add", json=sent, timeout=DEADLINE, trust_env=False)
            if answer.status_code != BUSY:
                return answer.status_code
            time.sleep(0.1)

    with ThreadPoolExecutor(times) as callers:
        return list(callers.map(ask, range(times)))


def test_one_copy_at_once_on_any_worker_and_after_a_restart(start_service: Callable[..., RunningService]) -> None:
    said, other = body("the train leaves at 7:45"), body("the train leaves at 8:00")
    for _ in range(2):
        running = start_service(workers="2", **WORDS_ONLY).ready()
        for _ in range(2):
            assert answers(running, said) == [200] * 16
            assert answers(running, other, 4) == [422] * 4
            assert answers(running, body("7:45") | {"user_id": "v"}) == [200] * 16
        assert [len(running.search(user, "train")) for user in ("u", "v")] == [2, 2]
        assert any(
            text_of(memory).partition("\n")[0].endswith("the train leaves at 7:45")
            for memory in running.search("u", "train")
        )
        running.stop()
