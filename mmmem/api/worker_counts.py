"""The folder in which the workers of one service count together: prometheus_client's multiprocess mode.

Each process has a slot: files of its own, mapped into memory, and whichever is asked adds all of them up. A worker that takes the
place of a dead one takes over its slot and counts on, so there are as many files however often workers die. Locks tell who lives:
one on each slot, and one on the folder, so that the next service removes that of one that was killed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from prometheus_client import values
from prometheus_client.multiprocess import mark_process_dead

from mmmem.errors import StartupError

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
PREFIX = "mmmem-counts-"
FILES = ("counter", "histogram", "gauge_livesum", "gauge_livemax", "gauge_mostrecent")
FILE_BYTES = 512 * 1024  # some 2,500 series
_SETTLING_SECONDS = 60  # in which a new folder may have no lock yet


def folder() -> Path | None:
    """Where the workers of this service count; None in a single process, which counts in memory."""
    place = os.environ.get(VARIABLE)
    return Path(place) if place else None


@contextmanager
def shared_folder(workers: int) -> Iterator[None]:
    """Make the folder for workers that are started within, and remove it afterwards. Raises StartupError."""
    _remove_abandoned()
    size = workers * len(FILES) * FILE_BYTES
    try:
        place = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = _lock(place, fcntl.LOCK_SH)
    except OSError:
        raise StartupError(
            "several workers count in a temporary folder, and none can be written: set TMPDIR to one, or MMMEM_METRICS=off"
        ) from None
    try:
        _check_space(place / "probe", size)
        os.environ[VARIABLE] = str(place)
        yield
    finally:
        os.environ.pop(VARIABLE, None)
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def join(place: Path) -> None:
    """What a worker does before it counts. Raises OSError.

    Its files get their space at once: a page of a mapped file for which a disk has no room ends the process.
    """
    _lock(place, fcntl.LOCK_SH)  # this one and the slot's until the process ends
    slot = next(number for number in count() if _taken(place / f"slot_{number}"))
    mark_process_dead(slot, str(place))  # type: ignore[no-untyped-call]
    for name in FILES:
        _reserve(place / f"{name}_{slot}.db", FILE_BYTES)
    values.ValueClass = values.MultiProcessValue(lambda: slot)  # type: ignore[no-untyped-call]


def forget_dead(place: Path) -> None:
    """Let go of what workers held that have died."""
    for file in place.glob("slot_*"):
        with suppress(OSError):  # it lives; or another worker does the same
            lock = _lock(file, fcntl.LOCK_SH, os.O_RDONLY)
            try:
                mark_process_dead(int(file.name.partition("_")[2]), str(place))  # type: ignore[no-untyped-call]
            finally:
                os.close(lock)


class Turn:
    """Lets one of the workers do what one is enough for, and another one once it has died."""

    def __init__(self) -> None:
        self._mine = False

    def mine(self) -> bool:
        """Whether it is this process."""
        place = folder()
        self._mine = self._mine or place is None or _taken(place / "turn")
        return self._mine


def _remove_abandoned() -> None:
    for place in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = place.lstat()
            if status.st_uid == os.getuid() and time.time() - status.st_mtime > _SETTLING_SECONDS:
                lock = _lock(place, fcntl.LOCK_EX)
                shutil.rmtree(place)
                os.close(lock)


def _check_space(file: Path, size: int) -> None:
    try:
        _reserve(file, size)
        file.unlink()
    except OSError:
        raise StartupError(
            f"several workers count in a temporary folder, and it has no {size >> 20:,} MiB left: set TMPDIR to another, or "
            "MMMEM_METRICS=off"
        ) from None


def _reserve(file: Path, size: int) -> None:
    """A new file appears with its space: a scrape that finds it empty fails."""
    existed = file.exists()
    made = file if existed else file.with_suffix(".new")
    with made.open("ab") as opened:
        os.posix_fallocate(opened.fileno(), 0, size)
    if not existed:
        made.rename(file)


def _taken(file: Path) -> bool:
    """Take the lock of a file, made when missing, until the process ends; False where another process has it."""
    try:
        _lock(file, fcntl.LOCK_EX, os.O_RDWR | os.O_CREAT)
    except BlockingIOError:
        return False
    return True


def _lock(place: Path, kind: int, how: int = os.O_RDONLY | os.O_DIRECTORY) -> int:
    """Lock without waiting; its descriptor. Raises OSError where another process holds it otherwise."""
    descriptor = os.open(place, how | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
