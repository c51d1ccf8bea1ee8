"""Under load, requests wait, then are turned away with a time to come back; the two kinds do not block each other."""

import threading
from concurrent.futures import ThreadPoolExecutor

from starlette.testclient import TestClient

from tests.api.controlled import ControlledService, add_body, search_body, serving


def test_beyond_the_queue_requests_are_turned_away_and_searches_go_on(controlled: ControlledService) -> None:
    entered = threading.Semaphore(0)
    release = threading.Event()

    def wait(_: object) -> None:
        entered.release()
        release.wait()

    controlled.on_add = wait
    limits = {"max_concurrent_adds": 2, "max_waiting_adds": 1, "max_concurrent_searches": 2}
    with serving(controlled, **limits) as client, ThreadPoolExecutor(4) as callers:
        under_way = [callers.submit(client.post, "/add", json=add_body(request_id=str(i))) for i in range(3)]
        entered.acquire()
        entered.acquire()  # two are at work; the third is on its way into the queue
        refused = first_refusal(client)
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["code"] == "over_capacity"
        assert client.post("/search", json=search_body()).status_code == 200
        assert client.get("/health").status_code == 200
        release.set()
        assert [future.result().status_code for future in under_way] == [200] * 3
        assert client.post("/add", json=add_body()).status_code == 200


def first_refusal(client: TestClient):
    """Ask until the queue is full: a request that got into it would wait, so only a malformed one is sent."""
    while True:
        answer = client.post("/add", content=b"")
        if answer.status_code == 429:
            return answer
