"""Exclusion between processes."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def hold(path: Path, *, alone: bool) -> int | None:
    """Hold a lock file, made when missing, with all others who do not ask to hold it alone, until what this returns is closed.

    None where that cannot be now; does not wait.
    """
    # A file that is open for writing as long as the service runs would keep its disk from being remounted read-only.
    access = os.O_RDWR if alone else os.O_RDONLY
    descriptor = os.open(path, access | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, made when missing, against every other thread and process; waits for it.

    The kernel lets go of it when the process dies, however it dies.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
