"""A full disk costs no memory and ends no service, and the attack that says so would see it if it did."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.mark.skipif(sys.platform != "linux", reason="breaks the disk with what Linux has")
def test_a_service_on_a_full_disk_refuses_and_recovers() -> None:
    command = [
        sys.executable,
        str(SCRIPTS / "disk_faults.py"),
        "--only",
        "full disk",
        "--seconds",
        "2",
        "--callers",
        "2",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "full disk" in done.stdout
    assert "0 things wrong" in done.stdout


@pytest.fixture
def attack(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("attack_ledger")


SENT = {"user_id": "ada", "request_id": "r", "session_id": "s"}
FIRST, SECOND = "<r of 0/2>", "<r of 1/2>"


@pytest.mark.parametrize(
    ("texts", "wrong"),
    [
        ((FIRST, SECOND), {}),
        ((), {"a memory was not kept or not found": 1}),
        ((FIRST,), {"half of an Add": 1}),
        ((FIRST, SECOND, SECOND), {"a memory came twice": 1}),
        ((FIRST, SECOND, "<other of 0/1>"), {"a memory of nobody, or of another": 1}),
    ],
)
def test_what_a_search_lacks_or_has_too_much_is_found(
    attack: Any, texts: tuple[str, ...], wrong: dict[str, int]
) -> None:
    ledger = attack.Ledger()
    ledger.sent(SENT)
    ledger.answered(SENT, 200, {"success": True, **SENT})
    ledger.found("ada", ledger.acknowledged("ada"), 200, {"data": [{"content": text} for text in texts]})
    assert dict(ledger.wrong) == wrong


@pytest.mark.parametrize(
    ("status", "answer", "wrong"),
    [
        (200, {"success": True, **SENT}, set()),
        (200, {"success": True}, {"Add was answered 200"}),
        (500, {}, {"Add was answered 500"}),
        (503, {"detail": {"reason": "later"}, "code": "store_unavailable"}, set()),
        (503, {}, {"Add: a 503 without a reason"}),
        (503, {"detail": {"reason": "no /tmp/x"}, "code": "store_unavailable"}, {"Add: a 503 with a path in it"}),
    ],
)
def test_an_answer_that_is_none_is_found(attack: Any, status: int, answer: Any, wrong: set[str]) -> None:
    ledger = attack.Ledger()
    ledger.sent(SENT)
    ledger.answered(SENT, status, answer)
    assert set(ledger.wrong) == wrong
