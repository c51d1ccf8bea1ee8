"""Under load, requests wait, then are turned away with a time to come back; the two kinds do not block each other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mmmem.api.admission import Lane
from mmmem.errors import OverCapacity
from tests.api.controlled import ControlledService, add_body, search_body, serving


def test_beyond_capacity_requests_are_turned_away_and_searches_go_on(controlled: ControlledService) -> None:
    entered = threading.Semaphore(0)
    release = threading.Event()

    def wait(_: object) -> None:
        entered.release()
        release.wait()

    controlled.on_add = wait
    limits = {"max_concurrent_adds": 2, "max_waiting_adds": 0, "max_concurrent_searches": 2}
    with serving(controlled, **limits) as client, ThreadPoolExecutor(2) as callers:
        under_way = [callers.submit(client.post, "/add", json=add_body(request_id=str(i))) for i in range(2)]
        entered.acquire()
        entered.acquire()
        refused = client.post("/add", json=add_body(request_id="one too many"))
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["code"] == "over_capacity"
        assert client.post("/search", json=search_body()).status_code == 200
        assert client.get("/health").status_code == 200
        release.set()
        assert [future.result().status_code for future in under_way] == [200] * 2
        assert client.post("/add", json=add_body()).status_code == 200


def test_as_many_may_wait_as_the_settings_say_and_a_place_is_free_again_afterwards() -> None:
    lane = Lane("adds", concurrent=2, waiting=1)
    places = [lane.admit() for _ in range(4)]
    for place in places[:3]:
        place.__enter__()
    with pytest.raises(OverCapacity):
        places[3].__enter__()
    places[0].__exit__(None, None, None)
    with lane.admit(), pytest.raises(OverCapacity), lane.admit():
        pass
    lane.close()
