"""The fuzzer of the image decoder runs, finds nothing in a few hundred cases, and would find what is wrong."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module("fuzz_cases")


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "fuzz_images.py"), "--keep", str(folder / "findings"), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def test_some_hundred_cases_are_all_read_or_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "--cases", "300", "--seed", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 4: 300 cases" in done.stdout
    assert "0 findings" in done.stdout
    assert not (tmp_path / "findings").exists()


def test_a_finding_is_printed_kept_and_ends_with_1(tmp_path: Path, fuzz: Any) -> None:
    """The process itself takes more than 16 MiB, so each case does."""
    done = run(tmp_path, "--case", "7", "--memory", "16")
    assert done.returncode == 1
    assert "--case 7: " in done.stdout
    assert "bytes of memory" in done.stdout
    assert (tmp_path / "findings" / "7.txt").read_text(errors="surrogatepass") == fuzz.url(7)


@pytest.mark.filterwarnings("ignore")
def test_another_exception_is_a_finding(monkeypatch: pytest.MonkeyPatch, fuzz: Any) -> None:
    assert fuzz.outcome(1) in ("read", "refused")
    monkeypatch.setattr(fuzz, "url", lambda case: None)
    assert fuzz.outcome(1).startswith("another exception")


def test_cases_are_the_same_each_time_and_unlike_each_other(fuzz: Any) -> None:
    assert [fuzz.url(case) for case in range(20)] == [fuzz.url(case) for case in range(20)]
    assert len({fuzz.url(case) for case in range(20)}) == 20
