"""What a running service counts moves when it should, adds up over its workers, and its log holds nothing of what it is told."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import KEY
from tests.contract.pictures import data_url, draw, image_part
from tests.running import DEADLINE, RunningService
from tests.scraped import Scraped

DOCS = (Path(__file__).parents[2] / "docs" / "observability.md").read_text(encoding="utf-8")
REQUESTS = "mmmem_http_requests_total"
WORDS_ONLY = {
    "weight_maxsim": "0",
    "weight_image": "0",
    "weight_labels": "0",
    "reranker": "none",
}  # starts without models


def eventually(condition: Callable[[], Any]) -> None:
    """Wait until something holds that happens in the background, as long as a start may take on a busy machine."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def moved(service: RunningService, act: Callable[[], object]) -> Callable[..., float]:
    """How much each series moved while something was done."""
    before = Scraped(service.client)
    act()
    after = Scraped(service.client)
    return lambda name, **labels: after(name, **labels) - before(name, **labels)


def test_an_add_and_a_search_show_in_stages_encoders_and_commits(service: RunningService) -> None:
    def act() -> None:
        service.add("metered", "the bicycle is in the cellar", [image_part(data_url(draw("green"), "PNG"))])
        service.search("metered", "where is the bicycle?")
        service.search("metered", "where is the bicycle?")

    by = moved(service, act)
    for operation, times, stages in [
        ("add", 1, ["read", "wait", "parse", "load", "images", "text", "store"]),
        ("search", 2, ["read", "wait", "parse", "images", "load", "text", "turn", "rank", "present", "answer"]),
    ]:
        for stage in stages:
            assert by("mmmem_stage_duration_seconds_count", operation=operation, stage=stage) == times, stage
    assert by(REQUESTS, method="POST", route="/add", status=200) == 1
    assert by(REQUESTS, method="POST", route="/search", status=200) == 2
    assert by("mmmem_batch_size_sum", encoder="text", kind="memory") == 2
    assert by("mmmem_batch_size_sum", encoder="image", kind="image") == 1
    assert by("mmmem_batch_size_sum", encoder="text", kind="query") >= 2
    assert by("mmmem_encoder_seconds_total", encoder="text", kind="memory") > 0
    assert by("mmmem_store_commit_requests_sum") == 1
    assert by("mmmem_cache_bytes", cache="arrays") > 0
    found = Scraped(service.client)
    assert found("mmmem_workers") == found("mmmem_workers_ready") == 1
    assert found("mmmem_build_info", version="0.1.0", profile="light", device="cpu") == 1
    assert all(found(f"mmmem_queue_{what}", lane=lane) == 0 for what in ("waiting", "running") for lane in lanes(found))


def test_every_value_of_a_label_is_documented(service: RunningService) -> None:
    service.add("metered labels", "the bicycle", [image_part(data_url(draw("red"), "PNG"))])
    service.post("/explain", {"user_id": "metered labels", "query": "show me a photo of the bicycle", "top_k": 1})
    few = {"operation", "stage", "lane", "encoder", "kind", "cache"}
    families = Scraped(service.client).families.values()
    labels = [sample.labels.items() for family in families for sample in family.samples]
    values = {value for each in labels for label, value in each if label in few}
    assert len(values) > 20
    assert {value for value in values if f"`{value}`" not in DOCS} == set()


def lanes(found: Scraped) -> list[str]:
    return [sample.labels["lane"] for sample in found.families["mmmem_queue_waiting"].samples]


def test_a_repeated_search_hits_the_cache(service: RunningService) -> None:
    service.add("metered cache", "the bicycle is in the cellar")
    service.search("metered cache", "bicycle")
    by = moved(service, lambda: service.search("metered cache", "bicycle"))
    assert by("mmmem_cache_hits_total", cache="arrays") == 1
    assert by("mmmem_cache_misses_total", cache="arrays") == 0
    by = moved(service, lambda: service.search("metered nobody", "bicycle"))
    assert by("mmmem_cache_misses_total", cache="arrays") == 1


def test_a_caller_who_leaves_is_counted_as_that(service: RunningService) -> None:
    def left() -> float:
        return Scraped(service.client)(REQUESTS, method="POST", route="/add", status=499)

    before = left()
    with socket.create_connection((service.client.base_url.host, service.client.base_url.port or 80)) as connection:
        connection.sendall(b"POST /add HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
    eventually(lambda: left() == before + 1)
    found = Scraped(service.client)
    assert found("mmmem_http_errors_total", code="client_left") >= 1
    assert found("mmmem_queue_waiting", lane="adds") == 0


def test_metrics_of_a_running_service_ask_for_its_key(keyed_service: RunningService) -> None:
    assert keyed_service.client.get("/metrics").status_code == 401
    assert Scraped(keyed_service.client, Authorization=f"Bearer {KEY}").families


def test_four_workers_count_together_outlive_each_other_and_leave_nothing(
    start_service: Callable[..., RunningService], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    service = start_service(tmp_path / "four", "--workers", "4", **WORDS_ONLY, metrics_store_seconds="0.2").ready()

    def scraped() -> Scraped:
        return Scraped(service.client)

    eventually(lambda: scraped()("mmmem_workers_ready") == 4)
    count = 120

    def ask(number: int) -> None:
        service.add(f"user {number % 8}", f"the bicycle is in cellar {number}", request=f"{number}")
        service.search(f"user {number % 8}", "bicycle")

    with ThreadPoolExecutor(16) as callers:
        list(callers.map(ask, range(count)))
    for _ in range(8):  # whichever worker answers
        found = scraped()
        assert found(REQUESTS, method="POST", route="/add", status=200) == count
        assert found(REQUESTS, method="POST", route="/search", status=200) == count
        assert found("mmmem_http_request_duration_seconds_count", route="/add") == count
        assert found("mmmem_store_commit_requests_sum") == count
        assert found("mmmem_queue_waiting", lane="adds") == found("mmmem_queue_running", lane="adds") == 0
    assert sum("route=/add" in line for line in requests_in(service)) == count

    [folder] = temporary.iterdir()
    slots = {file.name for file in folder.iterdir()}
    os.kill(started_in(service)[0], signal.SIGKILL)
    eventually(lambda: len(started_in(service)) == 5)
    eventually(lambda: scraped()("mmmem_workers_ready") == 4)
    assert {file.name for file in folder.iterdir()} == slots
    assert scraped()("mmmem_workers") == 4
    assert scraped()(REQUESTS, method="POST", route="/add", status=200) == count

    eventually(lambda: scraped()("mmmem_store_users") == 8)
    files, size = scraped()("mmmem_store_files", kind="users"), scraped()("mmmem_store_bytes", kind="users")
    assert files >= 8 * 4
    for number in range(4):
        assert service.client.delete(f"/users/user%20{number}").status_code == 200
    eventually(lambda: scraped()("mmmem_store_users") == 4)
    assert scraped()("mmmem_store_files", kind="users") < files
    assert scraped()("mmmem_store_bytes", kind="users") < size
    assert time.time() - scraped()("mmmem_store_measured_timestamp_seconds") < 60

    service.stop()
    assert list(temporary.iterdir()) == []


def requests_in(service: RunningService) -> list[str]:
    return [line for line in service.log.read_text().splitlines() if "mmmem.api.tracking" in line]


def started_in(service: RunningService) -> list[int]:
    """The workers that were started, by process id."""
    return [int(number) for number in re.findall(r"Started server process \[(\d+)\]", service.log.read_text())]


MARK = "Xylophon"


def tell_everywhere(service: RunningService, key: str) -> list[int]:
    """Send the marker in every place that a caller can write to, in requests that work and in some that do not."""
    picture = image_part(f"data:image/{MARK};base64," + base64.b64encode(MARK.encode()).decode())
    ids = {"request_id": f"{MARK} r", "user_id": f"{MARK} u", "session_id": f"{MARK} s"}
    message = {"role": MARK, "content": f"{MARK} is in the cellar\n{MARK}"}
    search = {"query": f"where is {MARK}?", "user_id": ids["user_id"], "top_k": 5, "options": [MARK], MARK: MARK}
    headers = {
        "X-Api-Key": key,
        "X-Request-ID": f"{MARK} {MARK}",
        "User-Agent": MARK,
        "Cookie": f"{MARK}={MARK}",
        f"X-{MARK}": MARK,
        "Content-Type": MARK,
        "Referer": f"http://{MARK}/",
    }
    sent: list[tuple[str, str, Any]] = [
        ("POST", "/add", {**ids, "messages": [message]}),
        ("POST", "/add", {**ids, "messages": [{**message, "content": MARK * 2}]}),
        ("POST", "/add", {**ids, "request_id": f"{MARK} 2", "messages": [{**message, "content": [picture]}]}),
        ("POST", "/add", {**ids, "messages": [{**message, "role": [MARK]}]}),
        ("POST", f"/search?{MARK}={MARK}", search),
        ("POST", "/search", {**search, "top_k": MARK}),
        ("POST", f"/search/{MARK}", search),
        ("POST", "/explain", search),
        ("GET", f"/users/{MARK}?{MARK}", None),
        ("PUT", f"/users/{MARK}", None),
        ("HEAD", f"/users/{MARK}", None),
        ("DELETE", f"/memories/{MARK}?user_id={MARK}", None),
        ("DELETE", f"/memories/{MARK}?user_id={MARK}%FF", None),
        ("DELETE", f"/users/{MARK}", None),
        (MARK.upper(), f"/{MARK}", None),
    ]
    answers = [
        service.client.request(
            method, path, headers=headers, content=None if body is None else json.dumps(body).encode()
        )
        for method, path, body in sent
    ]
    answers.append(service.client.get(f"/users/{MARK}", headers={**headers, "X-Api-Key": f"{key} {MARK}"}))
    answers.append(service.client.post("/add", headers=headers, content=f'{{"{MARK}": {MARK}'.encode()))
    return [answer.status_code for answer in answers]


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_no_line_of_the_log_holds_anything_of_what_a_caller_sent(
    start_service: Callable[..., RunningService], log_format: str
) -> None:
    key = f"{MARK}-key"
    service = start_service(api_key=key, log_format=log_format, log_level="debug", **WORDS_ONLY).ready()
    statuses = tell_everywhere(service, key)
    assert set(statuses) == {200, 401, 404, 405, 422}
    assert MARK.lower() not in Scraped(service.client, **{"X-Api-Key": key}).text.lower()
    service.stop()
    text = service.log.read_text()
    assert MARK.lower() not in text.lower()
    lines = requests_in(service)
    assert len(lines) >= len(statuses)
    assert "stages_ms" in text
    if log_format == "json":
        told = [json.loads(line) for line in text.splitlines()]
        assert {"message", "level", "logger", "time"} <= set.intersection(*(set(line) for line in told))
        assert all(line["request_id"] for line in told if line["logger"] == "mmmem.api.tracking")
