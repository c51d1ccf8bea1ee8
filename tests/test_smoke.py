"""The smoke test of a deployment passes on a good one, and each of its checks finds the fault that it is there for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import KEY
from tests.faulty import Call, Forward, Reply, error, faulty
from tests.running import RunningService
from tests.smoke_faults import FAULTS

SCRIPTS = Path(__file__).parents[1] / "scripts"
TOGETHER = 3  # runs that the faults are spread over: each is without the faults of the others
SLOW = {"large-body", "too-large"}
PICTURES = {"text-to-image", "image-to-image", "image-bytes", "parts", "bad-images"}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that asks for KEY. Without OCR, whose worth is not checked here, pictures take a tenth of the time."""
    running = RunningService(tmp_path_factory.mktemp("smoke"), api_key=KEY, ocr="off")
    yield running.ready()
    running.stop()


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("smoke_checks.running")


def smoke(url: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "smoke.py"), url, *options]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MMMEM_")} | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def results(running: Any, url: str, names: list[str], deadline: float = 600) -> dict[str, Any]:
    """What came of these checks, by name."""
    target = import_module("smoke_checks.target").Target(url, KEY, "auto", 180)
    found = {result.name: result for result in running.run(target, names, deadline, 0)}
    target.close()
    return found


def test_a_good_service_with_a_key_passes_and_the_key_is_not_told(good: RunningService) -> None:
    done = smoke(good.url, "--json", "-", MMMEM_API_KEY=KEY)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert "users deleted, nothing left of them" in report["checks"][-1]["reason"]
    outcomes = {check["name"]: check["outcome"] for check in report["checks"]}
    assert set(outcomes.values()) == {"PASS"}
    assert KEY not in done.stdout + done.stderr


def test_a_good_service_without_a_key_passes(service: RunningService) -> None:
    done = smoke(service.url, *(f"--skip={name}" for name in (*SLOW, *PICTURES)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no key was given and none is asked for" in done.stdout
    assert re.search(r"wrong-key +SKIP", done.stdout)
    assert " 0 failed" in done.stdout


@pytest.mark.parametrize("turn", range(TOGETHER))
def test_each_fault_is_found_by_its_check_and_by_no_other(good: RunningService, running: Any, turn: int) -> None:
    planted = dict(list(FAULTS.items())[turn::TOGETHER])
    names = [name for name in running.CHECKS if name in planted or name not in SLOW]
    with faulty(good.url, [each.fault for each in planted.values()]) as url:
        found = results(running, url, names)
    failed = {name: result.reason for name, result in found.items() if result.outcome == "FAIL"}
    assert failed.keys() == planted.keys(), failed
    for name, each in planted.items():
        assert re.search(each.reason, failed[name])


def test_every_check_has_a_fault_that_it_finds(running: Any) -> None:
    assert running.CHECKS.keys() - FAULTS.keys() == {"health"}


def test_a_service_that_is_not_healthy_is_asked_nothing_else(running: Any, good: RunningService) -> None:
    asked = []

    def ill(call: Call, forward: Forward) -> Reply:
        asked.append(call.path)
        return error(503, "models")

    with faulty(good.url, [ill]) as url:
        found = results(running, url, ["health", "search", "errors"])
    assert [result.outcome for result in found.values()] == ["FAIL", "SKIP", "SKIP"]
    assert found["health"].reason == "GET /health was answered 503 (models: planted)"
    assert asked == ["/health"]


def test_a_check_that_hangs_has_failed_and_the_next_one_goes_on(running: Any, good: RunningService) -> None:
    def sleeps(call: Call, forward: Forward) -> Reply:
        if call.value.get("query") == "anything at all":
            time.sleep(3)
        return forward(call)

    with faulty(good.url, [sleeps]) as url:
        found = results(running, url, ["unknown-user", "isolation"], deadline=2)
    assert found["unknown-user"].reason == "it was not done after 2 s"


def test_nobody_there_is_a_failure_in_words() -> None:
    done = smoke("http://127.0.0.1:9", "--wait", "0", "--only", "health", "--only", "search")
    assert done.returncode == 1
    assert "GET /health got no answer: ConnectError" in done.stdout
    assert "1 failed, 2 skipped" in done.stdout


def test_a_key_that_an_answer_repeats_is_not_told(good: RunningService) -> None:
    def tells(call: Call, forward: Forward) -> Reply:
        return error(500, f"the key is {KEY}")

    with faulty(good.url, [tells]) as url:
        done = smoke(url, "--only", "search", "--json", "-", MMMEM_API_KEY=KEY)
    assert done.returncode == 1
    assert "the key is KEY" in done.stdout
    assert KEY not in done.stdout + done.stderr


def test_it_needs_nothing_of_the_service() -> None:
    code = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import smoke; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    loaded = {name.split(".")[0] for name in re.findall(r"'([^']+)'", done.stdout)}
    assert not loaded & {"mmmem", "torch", "numpy", "lancedb", "fastapi", "skimage", "sklearn"}
