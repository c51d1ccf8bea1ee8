"""The soak says what went on growing, and what was answered wrongly."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"
STEADY = (1_000.0, 20.0, 30.0, 3.0)  # memory, descriptors, threads, files


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("soak")


@pytest.mark.parametrize(
    ("last", "wrong"),
    [
        (STEADY, []),
        ((1_020.0, 22.0, 33.0, 13.0), []),
        ((1_040.0, 20.0, 30.0, 3.0), ["memory grew by 4.0 %"]),
        ((1_000.0, 24.0, 30.0, 3.0), ["descriptors or threads grew"]),
        ((1_000.0, 20.0, 34.0, 3.0), ["descriptors or threads grew"]),
        ((1_000.0, 20.0, 30.0, 15.0), ["15 files of 1 Adds"]),
    ],
)
def test_what_grows_in_the_last_third_is_found(soak: Any, last: tuple[float, ...], wrong: list[str]) -> None:
    samples = [soak.Sample(*held) for held in [(500.0, 5.0, 5.0, 1.0)] * 3 + [STEADY] * 3 + [last] * 3]
    samples[-1] = soak.Sample(9_999.0, 99.0, 99.0, 999.0)  # one moment is no growth
    ledger = soak.Ledger()
    add = {"user_id": "ada", "request_id": "r", "session_id": "s"}
    ledger.sent(add)
    ledger.answered(add, 200, {"success": True, **add})
    assert soak.faults(soak.thirds(samples), soak.Figures("", ""), ledger, growth=3) == wrong


def test_a_refusal_is_a_fault(soak: Any) -> None:
    parts = [soak.Sample(1_000.0, 20.0, 30.0, 0.0)] * 3
    figures = soak.Figures("", "", Counter({("/add", 200): 9, ("/search", 503): 2}))
    ledger = soak.Ledger()
    ledger.count("half of an Add")
    found = soak.faults(parts, figures, ledger, growth=3)
    assert found == ["half of an Add: 1", "/search was answered 503: 2"]
