"""GET /metrics counts what is asked by route and status, without a trace of who asks for what."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from mmmem.errors import StoreUnavailable
from tests.api.controlled import ControlledService, add_body, search_body, serving
from tests.scraped import Scraped

REQUESTS = "mmmem_http_requests_total"


def test_requests_are_counted_by_the_template_of_their_path(client: TestClient) -> None:
    client.post("/search", json=search_body())
    client.post("/search", json=search_body(top_k="many"))
    for path in ("/users/", "/nowhere/ann", "/search/ann", "/"):
        assert client.get(path).status_code == 404
    client.delete("/memories/mem_1")
    client.get("/search")
    client.request("BREW", "/health/live")
    client.head("/health/live")
    found = Scraped(client)
    for count, method, route, status in [
        (1, "POST", "/search", 200),
        (1, "POST", "/search", 422),
        (4, "GET", "other", 404),
        (1, "DELETE", "/memories/{id}", 422),
        (1, "GET", "/search", 405),
        (1, "other", "/health/live", 405),
        (1, "HEAD", "/health/live", 200),
    ]:
        assert found(REQUESTS, method=method, route=route, status=status) == count, (method, route, status)
    assert found("mmmem_http_request_duration_seconds_count", route="/search") == 3
    assert found("mmmem_http_errors_total", code="invalid_input") == 2
    assert found("mmmem_http_errors_total", code="not_found") == 4
    assert found("mmmem_http_errors_total", code="method_not_allowed") == 2
    assert "ann" not in found.text
    assert "mem_1" not in found.text
    assert "BREW" not in found.text
    assert Scraped(client)(REQUESTS, method="GET", route="/metrics", status=200) == 1


def test_what_waits_what_runs_and_what_is_turned_away_are_seen(controlled: ControlledService) -> None:
    entered, release = threading.Semaphore(0), threading.Event()

    def wait(_: object) -> None:
        entered.release()
        release.wait()

    controlled.on_add = wait
    with (
        serving(controlled, max_concurrent_adds=1, max_waiting_adds=1) as client,
        ThreadPoolExecutor(2) as callers,
    ):
        under_way = [callers.submit(client.post, "/add", json=add_body(request_id=str(i))) for i in range(2)]
        entered.acquire()
        while Scraped(client)("mmmem_queue_waiting", lane="adds") < 1:
            pass
        assert Scraped(client)("mmmem_queue_running", lane="adds") == 1
        assert client.post("/add", json=add_body()).status_code == 429
        assert Scraped(client)("mmmem_http_errors_total", code="over_capacity") == 1
        assert Scraped(client)(REQUESTS, method="POST", route="/add", status=429) == 1
        release.set()
        assert [future.result().status_code for future in under_way] == [200, 200]
        found = Scraped(client)
        assert (found("mmmem_queue_waiting", lane="adds"), found("mmmem_queue_running", lane="adds")) == (0, 0)
        assert found("mmmem_stage_duration_seconds_count", operation="add", stage="wait") == 2


def test_failures_are_counted_by_their_code(client: TestClient, controlled: ControlledService) -> None:
    def fail(error: Exception) -> None:
        raise error

    controlled.on_search = lambda _: fail(StoreUnavailable("the store could not be read"))
    client.post("/search", json=search_body())
    controlled.on_search = lambda _: fail(RuntimeError("a secret"))
    client.post("/search", json=search_body())
    found = Scraped(client)
    assert found("mmmem_http_errors_total", code="store_unavailable") == 1
    assert found("mmmem_http_errors_total", code="internal_error") == 1
    assert found(REQUESTS, method="POST", route="/search", status=500) == 1


def test_metrics_ask_for_the_key(controlled: ControlledService) -> None:
    with serving(controlled, api_key="4711") as client:
        for method in ("GET", "HEAD"):
            assert client.request(method, "/metrics").status_code == 401
        found = Scraped(client, Authorization="Bearer 4711")
        assert found("mmmem_http_errors_total", code="unauthorized") == 2
        assert "4711" not in found.text


def test_metrics_can_be_switched_off(controlled: ControlledService) -> None:
    with serving(controlled, metrics=False) as client:
        assert client.get("/metrics").status_code == 404
        assert "/metrics" not in client.get("/openapi.json").json()["paths"]


def test_a_bucket_has_no_count_of_files(controlled: ControlledService) -> None:
    with serving(controlled, data_dir="s3://bucket") as client:
        assert not [name for name in Scraped(client).families if "store_files" in name or "store_bytes" in name]


@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready", "/metrics", "/openapi.json"])
def test_head_is_answered_as_get_without_a_body(client: TestClient, path: str) -> None:
    asked, told = client.head(path), client.get(path)
    assert asked.status_code == told.status_code == 200
    assert asked.content == b""
    assert asked.headers["content-type"] == told.headers["content-type"]


def test_head_of_what_cannot_be_got_is_refused_and_what_can_says_so(client: TestClient) -> None:
    assert client.head("/nowhere").status_code == 404
    assert client.head("/search").status_code == 405
    assert client.head("/search").headers["allow"] == "POST"
    assert client.post("/health").headers["allow"] == "GET, HEAD"
