"""A service as its operator sees it: keys, restarts, several processes, and a log that tells nothing."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import KEY
from tests.contract.pictures import data_url, draw, image_part, text_part
from tests.running import DEADLINE, RunningService

ASK = {"query": "x", "user_id": "u", "top_k": 1}


def test_only_the_key_opens_the_service(keyed_service: RunningService) -> None:
    post = keyed_service.client.post
    assert keyed_service.client.get("/health").status_code == 200
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"X-Api-Key": "wrong"}, {"Authorization": KEY}):
        answer = post("/search", json=ASK, headers=headers)
        assert answer.status_code == 401
        assert answer.json()["code"] == "unauthorized"
        assert answer.headers["www-authenticate"]
    for headers in ({"Authorization": f"Bearer {KEY}"}, {"Authorization": f"Token {KEY}"}, {"X-Api-Key": KEY}):
        assert post("/search", json=ASK, headers=headers).json() == {"data": []}


def test_a_stranger_s_add_changes_nothing(keyed_service: RunningService) -> None:
    body = {"request_id": "r", "user_id": "u", "session_id": "s", "messages": [{"role": "user", "content": "x"}]}
    assert keyed_service.client.post("/add", json=body).status_code == 401
    answer = keyed_service.client.post("/search", json=ASK, headers={"X-Api-Key": KEY})
    assert answer.json() == {"data": []}


def test_a_restart_between_add_and_search_loses_nothing_and_changes_no_answer(
    start_service: Callable[..., RunningService],
) -> None:
    picture = [text_part("my new bicycle"), image_part(data_url(draw("green"), "JPEG"))]
    questions = ["where is the bicycle?", "what does Ann eat?", [image_part(data_url(draw("green"), "PNG"))]]
    first = start_service().ready()
    first.add("u", "the bicycle is in the cellar", "Ann never eats meat", picture, timestamp=1_704_067_200_000)
    first.add("u", "a message without a time", request="r2")
    before = [first.search("u", question) for question in questions]
    first.stop()
    again = start_service().ready()
    assert [again.search("u", question) for question in questions] == before
    assert [len(found) for found in before] == [4, 4, 4]
    again.add("u", "a message without a time", request="r2")
    assert [again.search("u", question) for question in questions] == before


def test_worker_processes_end_when_what_started_them_is_killed(start_service: Callable[..., RunningService]) -> None:
    running = start_service(workers="2").ready()
    workers = children(running.process.pid)
    assert len(workers) >= 2
    running.process.kill()
    running.process.wait()
    deadline = time.monotonic() + DEADLINE
    while any(is_alive(worker) for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def children(parent: int) -> list[int]:
    """The processes that it started."""
    return [int(name) for name in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def is_alive(process: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_several_processes_serve_one_folder(start_service: Callable[..., RunningService]) -> None:
    running = start_service(workers="2").ready()
    for number in range(4):
        message = {"role": "user", "content": f"the parcel number {number} is in the hall"}
        body = {"request_id": str(number), "user_id": "u", "session_id": "s", "messages": [message]}
        assert post_anew(running, body, "/add")["success"] is True
        # New connections, so that both processes get their share.
        for _ in range(4):
            answer = post_anew(running, {"query": "parcel", "user_id": "u", "top_k": 10})
            assert len(answer["data"]) == number + 1
    running.stop()
    assert "Traceback" not in running.log.read_text()


def post_anew(running: RunningService, body: dict[str, object], path: str = "/search") -> dict[str, Any]:
    """Over a connection of its own; a process that still loads says so, and is asked again."""
    while True:
        answer = running.client.post(path, json=body, headers={"Connection": "close"})
        if answer.status_code != 503:
            found: dict[str, Any] = answer.json()
            return found


def test_the_log_holds_no_content_ids_or_keys(keyed_service: RunningService) -> None:
    secret = "quetzalcoatl"
    headers = {"X-Api-Key": KEY}
    message = {"role": "user", "content": f"the word is {secret}"}
    body = {"request_id": secret, "user_id": secret, "session_id": secret, "messages": [message]}
    keyed_service.client.post("/add", json=body, headers=headers)
    keyed_service.client.post("/add", json={**body, "messages": secret}, headers=headers)
    keyed_service.client.post(
        f"/search?q={secret}", json={"query": secret, "user_id": secret, "top_k": 1}, headers=headers
    )
    keyed_service.client.post("/search", content=f'{{"{secret}'.encode(), headers=headers)
    log = keyed_service.log.read_text()
    assert "method=POST route=/search" in log
    assert secret not in log
    assert KEY not in log
