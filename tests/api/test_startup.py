"""The port answers at once; /health says when the service is ready, and why when it never will be."""

import logging
import threading

import pytest
from starlette.testclient import TestClient

import mmmem
from mmmem.api.app import create_app
from mmmem.errors import WeightsError
from mmmem.meter import Meter
from mmmem.settings import Settings
from tests.api.controlled import ControlledService, add_body, search_body


def wait_for_change(client: TestClient, status: str) -> dict[str, object]:
    while (answer := client.get("/health").json())["status"] == status:
        pass
    return answer


def test_health_is_503_until_the_models_are_loaded(controlled: ControlledService) -> None:
    loaded = threading.Event()

    def build(_: Meter) -> ControlledService:
        loaded.wait()
        return controlled

    with TestClient(create_app(Settings(), build, lambda: None)) as client:
        starting = client.get("/health")
        assert starting.status_code == 503
        assert starting.json()["status"] == "starting"
        assert starting.json()["code"] == "not_ready"
        assert starting.json()["detail"]["reason"]
        for path, body in (("/add", add_body()), ("/search", search_body())):
            answer = client.post(path, json=body)
            assert answer.status_code == 503
            assert answer.json()["code"] == "not_ready"
            assert int(answer.headers["retry-after"]) >= 1
        loaded.set()
        assert wait_for_change(client, "starting") == {"status": "ok", "version": mmmem.__version__, "profile": "light"}
        assert client.post("/add", json=add_body()).status_code == 200
    assert controlled.closed


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (WeightsError("the weights are missing; run `mmmem models fetch`"), "run `mmmem models fetch`"),
        (RuntimeError("a secret"), "the log says where"),
    ],
)
def test_a_start_that_fails_says_why_and_ends_the_process(
    error: Exception, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    ended = threading.Event()

    def build(_: Meter) -> ControlledService:
        raise error

    with caplog.at_level(logging.INFO), TestClient(create_app(Settings(), build, ended.set)) as client:
        assert ended.wait(10)
        answer = client.get("/health")
        assert answer.status_code == 503
        assert answer.json()["status"] == "failed"
        assert reason in answer.json()["detail"]["reason"]
        assert client.post("/add", json=add_body()).status_code == 503
    assert type(error).__name__ in caplog.text or str(error) in caplog.text
    assert "a secret" not in caplog.text
