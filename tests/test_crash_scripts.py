"""The scripts that crash a service: they find what they look for, and in a few rounds nothing else."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mmmem.store import durability

SCRIPTS = Path(__file__).parents[1] / "scripts"


def run(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / script), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module


def test_a_kill_of_a_service_of_two_processes_loses_and_doubles_nothing() -> None:
    done = run("crash_service.py", "--rounds", "1", "--workers", "2", "--seconds", "1", "--no-models")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 1: 0 faults" in done.stdout


def test_the_attack_on_backups_fills_its_store() -> None:
    """What its kills would find is in tests/backup."""
    done = run("crash_backup.py", "--rounds", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 kills, seed 1: 0 faults" in done.stdout


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        ([], "is lost"),
        (["one", "one", "two", "two"], "is doubled"),
        (["one"], "is torn"),
        (["one", "two", "three"], "1 memories that nobody told"),
    ],
)
def test_what_must_not_be_is_found(scripts: Any, found: list[str], fault: str) -> None:
    crash = scripts("crash_requests")
    messages = [{"role": "user", "content": text} for text in ("one", "two")]
    told = crash.Told({"request_id": "r", "user_id": "u", "session_id": "s", "messages": messages})
    fate = crash.Fate()
    fate.look(found, [told])
    assert [fault in each for each in fate.faults] == [True]
    fate = crash.Fate()
    fate.look(["[2024-01-01 00:00] user: one", "two"][:0], [], [told])
    assert (fate.faults, fate.absent) == ([], 1)
    assert crash.state_of(told, Counter({"one": 1, "two": 1})) == "whole"


def test_a_memory_is_recognised_without_its_header(scripts: Any) -> None:
    crash = scripts("crash_requests")
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    said = [{"type": "text", "text": "3.1 the tea"}, picture]
    returned = [{"type": "text", "text": "[2024-01-01 00:00] user: 3.1 the tea"}, picture]
    assert crash.shown(said) == crash.shown(returned)


def test_a_disk_keeps_what_was_synced_and_only_that(scripts: Any, tmp_path: Path) -> None:
    power = scripts("power_disk")
    live = tmp_path / "live"
    live.mkdir()
    with power.Disk(live, lambda _: None) as disk:
        for name in ("safe", "nameless", "empty"):
            (live / name).write_bytes(name.encode())
        durability.fsync(live / "safe")
        durability.fsync(live / "nameless")
        (live / "nameless").rename(live / "other")
        (live / "other").rename(live / "kept")
        durability.fsync(live)
        (live / "late").write_bytes(b"late")
        (live / "kept").rename(live / "moved")
        cut = disk.cut()
    cut.build(tmp_path / "least", power.Odds(0, 0), random.Random(0))
    assert {path.name for path in (tmp_path / "least").iterdir()} == {"safe", "empty", "kept"}
    assert (tmp_path / "least" / "safe").read_bytes() == b"safe"
    assert (tmp_path / "least" / "kept").read_bytes() == b"nameless"
    cut.build(tmp_path / "most", power.Odds(1, 1), random.Random(0))
    contents = {path.name: path.read_bytes() for path in (tmp_path / "most").iterdir()}
    assert contents == {"safe": b"safe", "empty": b"empty", "moved": b"nameless", "late": b"late"}


def cut_power(scripts: Any, workplace: Path, seed: int) -> Any:
    cuts = scripts("power_loss").PowerCuts(workplace, seed)
    moments = cuts.generation(4)
    for moment in moments[::2]:
        cuts.look(moment)
    return cuts.report


def test_power_cuts_take_nothing_that_was_acknowledged(scripts: Any, tmp_path: Path) -> None:
    report = cut_power(scripts, tmp_path, 1)
    assert report.folders >= 10
    assert report.fate.faults == []


def test_a_store_that_does_not_sync_is_found(scripts: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    power = scripts("power_disk")
    monkeypatch.setattr(power.Disk, "_sync", lambda *_: None)
    assert cut_power(scripts, tmp_path, 1).fate.faults


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_an_answer_is_sent_after_everything_is_synced() -> None:
    done = run("trace_syncs.py", "--adds", "8", "--no-models")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 Adds answered [200], 2 versions by compaction" in done.stdout


def test_a_sync_that_is_missing_or_late_is_found(scripts: Any, tmp_path: Path) -> None:
    tracing = scripts("trace_syncs")
    lines = [
        '7 1.0 write(3</d/.tmp1>, "x", 1) = 1',
        '7 1.1 renameat(AT_FDCWD</>, "/d/.tmp1", AT_FDCWD</>, "/d/a") = 0',
        "8 1.2 fsync(4</d/a> <unfinished ...>",
        "7 1.3 fsync(5</d>) = 0",
        "8 1.4 <... fsync resumed>) = 0",
        '7 1.5 sendto(9<socket:[1]>, "HTTP/1.1 200 OK\\r\\n", 17, 0, NULL, 0) = 17',
        '7 1.6 sendto(9<socket:[1]>, "{\\"success\\":true,\\"request_id\\":\\"r\\"}", 30, 0, NULL, 0) = 30',
    ]

    def synced(lines: list[str]) -> list[bool]:
        (tmp_path / "trace").write_text("\n".join(lines))
        trace = tracing.Trace.read(tmp_path / "trace")
        answer = trace.answer("r")
        content = trace.last_sync(Path("/d/a"), trace.written["/d/a"], answer)
        return [bool(content), bool(trace.last_sync(Path("/d"), trace.named["/d/a"], answer))]

    assert synced(lines) == [True, True]
    assert synced([line for line in lines if "fsync(5" not in line]) == [True, False]
    assert synced([*lines[:4], *lines[5:], lines[4]]) == [False, True]
