"""The scripts that crash a service find nothing in a few rounds, and would find what is lost, doubled or torn."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("crash_requests")


def run(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / script), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_kills_lose_nothing() -> None:
    done = run("crash_service.py", "--rounds", "1", "--seconds", "0.5", "--callers", "8", "--no-models")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 1: 0 faults" in done.stdout


def test_power_cuts_lose_nothing() -> None:
    done = run("power_loss.py", "--generations", "1", "--adds", "2", "--variants", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 1: 0 faults" in done.stdout


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_what_an_add_made_is_synced_before_its_answer() -> None:
    done = run("trace_syncs.py", "--adds", "5", "--no-models")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 Adds answered [200]" in done.stdout


def test_what_is_lost_doubled_or_torn_is_a_fault(requests: Any) -> None:
    tell = requests.Teller(seed=1)
    told = next(each for each in iter(tell, None) if len(each.said) > 1)
    for found, word in (([], "lost"), (told.said * 2, "doubled"), (told.said[1:], "torn")):
        fate = requests.Fate()
        fate.look(list(found), [told])
        assert [word in fault for fault in fate.faults] == [True]
    fate = requests.Fate()
    fate.look([], [], [told])
    fate.look(list(told.said), [told])
    assert fate.faults == []
    fate.look(["what nobody said"], [])
    assert len(fate.faults) == 1
