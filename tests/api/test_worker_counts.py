"""Several workers count in one temporary folder, which goes with them, however they end."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmmem.api import worker_counts
from mmmem.errors import StartupError

COUNT = """
import os
from pathlib import Path
from mmmem.api import worker_counts
place = Path(os.environ[worker_counts.VARIABLE])
worker_counts.join(place)
before = {file.name for file in place.glob("*.db")}
from mmmem.api.metrics import Metrics
from mmmem.settings import Settings
metrics = Metrics(Settings())
metrics.answered("GET", "/health", 200, "", 0.1)
metrics.queued("adds", waiting=3)
metrics.measured(1, {"users": 4}, {"users": 5})
metrics.ready("cpu")
assert {file.name for file in place.glob("*.db")} == before, "prometheus_client made other files"
assert all(file.stat().st_blocks * 512 >= worker_counts.FILE_BYTES for file in place.glob("*.db"))
print(metrics.exposition().decode())
"""

SCRAPED_MEANWHILE = """
import os
from pathlib import Path
from mmmem.api import worker_counts
from mmmem.api.metrics import Metrics
from mmmem.settings import Settings
place = Path(os.environ[worker_counts.VARIABLE])
reserve, metrics = os.posix_fallocate, Metrics(Settings())
def scraped(*arguments):
    metrics.exposition()
    reserve(*arguments)
    metrics.exposition()
os.posix_fallocate = scraped
worker_counts.join(place)
print(len(list(place.glob("*_0.db"))), len(list(place.glob("*.new"))))
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert worker_counts.VARIABLE not in os.environ


def count(code: str = COUNT) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_a_dead_worker_counted_stays_and_what_it_held_does_not(temporary: Path) -> None:
    with worker_counts.shared_folder(2):
        first, second = count(), count()
        [folder] = temporary.iterdir()
        assert len(list(folder.glob("*.db"))) == len(worker_counts.FILES)  # the second took over from the first
    for text, requests in ((first, 1), (second, 2)):
        assert f'mmmem_http_requests_total{{method="GET",route="/health",status="200"}} {requests}.0' in text
        assert 'mmmem_queue_waiting{lane="adds"} 3.0' in text
        assert "mmmem_workers 1.0" in text
        assert 'mmmem_store_bytes{kind="users"} 5.0' in text
    assert list(temporary.iterdir()) == []


def test_a_scrape_does_not_fail_while_a_worker_starts() -> None:
    with worker_counts.shared_folder(2):
        said = [count(SCRAPED_MEANWHILE) for _ in range(2)]  # with a slot of its own, and with a dead one's
    assert said == [f"{len(worker_counts.FILES)} 0\n"] * 2


def test_the_folder_of_a_service_that_was_killed_goes_and_no_other(temporary: Path) -> None:
    code = "from mmmem.api.worker_counts import *\nwith shared_folder(1):\n print(flush=True)\n time.sleep(600)"
    environment = {**os.environ, "TMPDIR": str(temporary)}
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE) for _ in range(2)
    ]
    for process in running:
        assert process.stdout
        process.stdout.readline()
    folders = set(temporary.iterdir())
    assert len(folders) == 2
    others = [temporary / "mmmem-counts-link", temporary / "else"]
    others[1].mkdir()
    others[0].symlink_to(others[1])
    for folder in [*folders, others[1]]:
        os.utime(folder, (time.time() - 3_600,) * 2)
    running[0].send_signal(signal.SIGKILL)
    running[0].wait()
    with worker_counts.shared_folder(1):
        left = set(temporary.iterdir())
    assert len(left & folders) == 1
    assert set(others) <= left
    for process in running:
        process.kill()
        process.communicate()


def test_no_folder_to_write_to_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    with pytest.raises(StartupError, match="set TMPDIR to one, or MMMEM_METRICS=off"), worker_counts.shared_folder(2):
        pass


def test_no_space_is_said_before_anything_starts(temporary: Path) -> None:
    workers = 2**62 // worker_counts.FILE_BYTES // len(worker_counts.FILES)  # more than any file may have
    with pytest.raises(StartupError, match="MiB left: set TMPDIR to another"), worker_counts.shared_folder(workers):
        pass
    assert list(temporary.iterdir()) == []


def test_of_several_workers_one_has_the_turn_until_it_ends() -> None:
    ask = (
        "from mmmem.api.worker_counts import Turn; turn = Turn(); print(turn.mine(), turn.mine(), flush=True); input()"
    )
    with worker_counts.shared_folder(2):
        for _ in range(2):
            workers = [
                subprocess.Popen([sys.executable, "-c", ask], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                for _ in range(2)
            ]
            said = [worker.stdout.readline().split() for worker in workers if worker.stdout]
            assert sorted(said) == [["False", "False"], ["True", "True"]]
            for worker in workers:
                worker.communicate("\n")
    assert worker_counts.Turn().mine()  # a process alone
