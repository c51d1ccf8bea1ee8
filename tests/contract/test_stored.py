"""What is stored of a user can be asked for and removed over HTTP, whatever the ids are made of."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.conftest import KEY
from tests.contract.pictures import data_url, draw, image_part, text_part
from tests.running import RunningService, run

IDS = [
    "plain",
    "a/b",
    "/",
    "..",
    "a b+c",
    "q?x=1&y#z",
    "100%25",
    "%",
    "日本 ✓",
    "line\nbreak\r",
    "nul\0",
    "'\"\\",
    "\ud800",
    "x" * 9_000,
]
EMPTY = {"memories": 0, "images": 0, "sessions": 0, "bytes": 0, "first": None, "last": None}


def address(user_id: str) -> str:
    return "/users/" + quote(user_id.encode("utf-8", "surrogatepass"), safe="")


def memory_address(memory_id: str, user_id: str) -> str:
    return f"/memories/{memory_id}?user_id=" + quote(user_id.encode("utf-8", "surrogatepass"), safe="")


@pytest.mark.parametrize("user_id", IDS, ids=range(len(IDS)))
def test_any_id_can_be_asked_for_and_removed_and_means_that_user_alone(service: RunningService, user_id: str) -> None:
    user, near = f"stored {user_id}", f"stored {user_id}%"
    service.add(user, "the bicycle is in the cellar", timestamp=1_704_067_200_000)
    service.add(near, "somebody else's")
    found = service.client.get(address(user)).json()
    size = found.pop("bytes")
    time = "2024-01-01T00:00:00Z"
    assert found == {"user_id": user, "memories": 1, "images": 0, "sessions": 1, "first": time, "last": time}
    assert size > 1_000
    for deleted in (True, False):
        answer = service.client.delete(address(user))
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"success": True, "user_id": user, "deleted": deleted}
    assert service.search(user, "bicycle") == []
    assert service.client.get(address(user)).json() == {"user_id": user, **EMPTY}
    assert len(service.search(near, "somebody")) == 1
    service.client.delete(address(near))


@pytest.mark.parametrize("user_id", ["stored one", "stored ä/?&=+%\n"])
def test_one_memory_is_removed_by_the_id_that_a_search_gave(service: RunningService, user_id: str) -> None:
    picture = [text_part("my new bicycle"), image_part(data_url(draw("green"), "JPEG"))]
    service.add(user_id, "the bicycle is in the cellar", picture, "Ann never eats meat")
    before = service.search(user_id, "bicycle")
    pictured = next(memory["id"] for memory in before if isinstance(memory["content"], list))
    assert service.client.get(address(user_id)).json()["images"] == 1
    assert service.client.delete(memory_address(pictured, "stored somebody else")).json()["deleted"] is False
    for deleted in (True, False):
        answer = service.client.delete(memory_address(pictured, user_id))
        assert answer.json() == {"success": True, "user_id": user_id, "id": pictured, "deleted": deleted}
    left = service.search(user_id, "bicycle")
    assert {memory["id"] for memory in left} == {memory["id"] for memory in before} - {pictured}
    assert service.client.get(address(user_id)).json()["images"] == 0


@pytest.mark.parametrize(
    ("method", "path", "field", "problem"),
    [
        ("GET", "/users/%FF", "user_id", "must be percent-encoded UTF-8"),
        ("DELETE", "/users/a%C3", "user_id", "must be percent-encoded UTF-8"),
        ("DELETE", "/users/" + "x" * 16_385, "user_id", "is longer than 16,384 characters"),
        ("DELETE", "/memories/m", "user_id", "is required"),
        ("DELETE", "/memories/m?user_id=", "user_id", "must not be empty"),
        ("DELETE", "/memories/m?user_id=a&user_id=b", "user_id", "must be given once"),
        ("DELETE", "/memories/m?user_id=%FF", "user_id", "must be percent-encoded UTF-8"),
    ],
)
def test_an_address_that_names_nobody_is_refused(
    service: RunningService, method: str, path: str, field: str, problem: str
) -> None:
    answer = service.client.request(method, path)
    assert answer.status_code == 422
    assert answer.json()["detail"] == {"reason": f"{field}: {problem}", "field": field, "problem": problem}


@pytest.mark.parametrize("path", ["/users", "/users/", "/memories", "/memories/?user_id=u"])
def test_nothing_is_removed_without_a_name(service: RunningService, path: str) -> None:
    assert service.client.delete(path).status_code in {404, 405}


def test_nobody_asks_or_removes_without_the_key(keyed_service: RunningService) -> None:
    key = {"X-Api-Key": KEY}
    body = {"request_id": "r", "user_id": "kept", "session_id": "s", "messages": [{"role": "user", "content": "x"}]}
    assert keyed_service.client.post("/add", json=body, headers=key).status_code == 200
    found = keyed_service.client.post("/search", json={"query": "x", "user_id": "kept", "top_k": 1}, headers=key)
    memory = found.json()["data"][0]["id"]
    for method, path in [
        ("GET", "/users/kept"),
        ("DELETE", "/users/kept"),
        ("DELETE", f"/memories/{memory}?user_id=kept"),
    ]:
        assert keyed_service.client.request(method, path).status_code == 401
    assert keyed_service.client.get("/users/kept", headers=key).json()["memories"] == 1


def test_a_process_is_alive_while_it_loads_and_ready_when_it_has(start_service: Callable[..., RunningService]) -> None:
    starting = start_service()
    assert starting.client.get("/health/live").json() == {"status": "alive"}
    first = starting.client.get("/health/ready")
    assert first.status_code in {200, 503}
    starting.ready()
    assert starting.client.get("/health/ready").json() == starting.client.get("/health").json()


def test_purge_removes_one_user_or_those_whose_time_is_over_beside_a_running_service(
    start_service: Callable[..., RunningService],
) -> None:
    running = start_service(weight_maxsim="0").ready()
    for user in ("ann", "bob", "cleo"):
        running.add(user, "one")
    folder = str(running.log.parent / "data")
    done = run("purge", "--user", "ann", "--data-dir", folder)
    assert (done.returncode, done.stdout) == (0, "1 user removed\n")
    assert run("purge", "--user", "ann", "--data-dir", folder).stdout == "0 users removed\n"
    assert [len(running.search(user, "one")) for user in ("ann", "bob", "cleo")] == [0, 1, 1]
    assert run("purge", "--data-dir", folder, MMMEM_RETENTION_DAYS="1").stdout == "0 users removed\n"
    assert run("purge", "--days", "0.000001", "--data-dir", folder).stdout == "2 users removed\n"
    assert [running.search(user, "one") for user in ("bob", "cleo")] == [[], []]
    for arguments, message in [
        (["--data-dir", folder], "nothing to remove: give --user or --days, or set MMMEM_RETENTION_DAYS"),
        (["--user", "ann", "--data-dir", str(running.log.parent / "none")], "data_dir: there is no store"),
    ]:
        done = run("purge", *arguments)
        assert (done.returncode, done.stderr) == (1, f"mmmem: {message}\n")
