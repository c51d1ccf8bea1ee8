"""Every path says what it can be asked with, and answers HEAD wherever it answers GET."""

import pytest
from starlette.testclient import TestClient

from mmmem.api.tracking import METHODS
from tests.api.controlled import ControlledService

PATHS = {
    "/add": {"POST"},
    "/search": {"POST"},
    "/explain": {"POST"},
    "/health": {"GET", "HEAD"},
    "/health/live": {"GET", "HEAD"},
    "/health/ready": {"GET", "HEAD"},
    "/metrics": {"GET", "HEAD"},
    "/openapi.json": {"GET", "HEAD"},
    "/users/ann": {"GET", "HEAD", "DELETE"},
    "/users/a/b": {"GET", "HEAD", "DELETE"},
    "/memories": {"GET", "HEAD"},
    "/memories/mem_1": {"GET", "HEAD", "DELETE"},
}


def test_no_route_is_missing_here(client: TestClient) -> None:
    listed = {path.partition("{")[0] for path in client.get("/openapi.json").json()["paths"]}
    assert listed | {"/openapi.json"} == {
        next((folder for folder in ("/users/", "/memories/") if path.startswith(folder)), path) for path in PATHS
    }


@pytest.mark.parametrize("path", PATHS)
def test_any_other_method_is_told_all_that_the_path_has(client: TestClient, path: str) -> None:
    for method in (METHODS | {"BREW"}) - {"CONNECT"} - PATHS[path]:
        answer = client.request(method, path)
        assert answer.status_code == 405, method
        assert sorted(answer.headers["allow"].split(", ")) == sorted(PATHS[path])


@pytest.mark.parametrize("path", [path for path, methods in PATHS.items() if "HEAD" in methods])
def test_a_head_is_answered_as_a_get_without_its_body(
    client: TestClient, controlled: ControlledService, path: str
) -> None:
    def usage(_: str) -> None:
        raise KeyError

    controlled.usage = usage  # type: ignore[attr-defined]  # an error is a GET's answer too
    head, get = client.head(path), client.get(path)
    assert head.status_code == get.status_code
    assert head.headers["content-type"] == get.headers["content-type"]
    assert head.content == b""
    assert get.content
