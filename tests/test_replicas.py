"""The attack on two replicas finds nothing, and would find what is wrong."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mmmem.settings import Settings
from mmmem.store.users import LanceStore
from tests.store.content import DIMENSIONS, MODELS, request

SCRIPTS = Path(__file__).parents[1] / "scripts"


def test_nothing_is_found() -> None:
    command = [sys.executable, str(SCRIPTS / "replicas.py"), "--adds", "25", "--threads", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "25 requests" in done.stdout


@pytest.fixture
def replicas(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("replicas")


def test_what_is_wrong_is_counted(replicas: Any, tmp_path: Path) -> None:
    store = LanceStore(Settings(data_dir=str(tmp_path)), models=MODELS, dimensions=DIMENSIONS)
    store.open()
    store.add(request("kept 0", "r0", "torn one", "doubled", "doubled", "untold"))
    store.add(request("kept 0", "r1", "refused"))
    store.add(request("deleted 0", "r2", "deleted"))
    findings = replicas.Findings()
    findings.told["kept 0"] = [
        replicas.Told(("torn one", "torn two"), 1, 2),
        replicas.Told(("doubled",), 1, 2),
        replicas.Told(("lost",), 1, 2),
    ]
    findings.told["deleted 0"] = [replicas.Told(("deleted",), 1, 2)]
    findings.deletions["deleted 0"] = [(3, 4)]
    findings.refused = [("kept 0", ("refused",))]
    replicas.compare(findings, store, ())
    store.close()
    assert dict(+findings.faults) == {
        "torn requests": 1,
        "doubled memories": 1,
        "lost requests": 1,
        "memories that nobody was answered 200 for": 2,
        "requests there after their deletion": 1,
        "refused requests that are there": 1,
    }
