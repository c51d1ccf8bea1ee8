"""The script that looks for growth measures what it says, and finds it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

# Search by words only: a start takes a third of the time, and what is written is the same.
WORDS_ONLY = {f"MMMEM_WEIGHT_{channel}": "0" for channel in ("MAXSIM", "DENSE", "IMAGE", "LABELS")}
SCRIPTS = Path(__file__).parents[1] / "scripts"


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    environment = os.environ | WORDS_ONLY | {"MMMEM_RERANKER": "none"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def test_few_small_adds_are_compared_with_one_write_and_files_are_counted() -> None:
    done = run("growth.py", "--adds", "30", "--users", "10", "--questions", "2", "--callers", "2", "--files", "20")
    assert "10 users in turn" in done.stdout
    assert "30 Adds of one message by 2 at a time" in done.stdout
    assert "files\n" in done.stderr  # so few are never put together: more than 20 are left
    assert done.returncode == 1


def test_the_files_and_bytes_of_a_user_are_those_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    growth = import_module("growth")
    folder = tmp_path / f"{growth.table_name('ada')}.lance" / "data"
    folder.mkdir(parents=True)
    (folder / "one").write_bytes(b"12345")
    (folder.parent / "two").write_bytes(b"123")
    assert growth.left(str(tmp_path), "ada") == (2, 8)
