"""A folder for memories on a disk that can be broken and mended again, for disk_faults.py. Linux only."""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path

DISK_BYTES = 96 * 1024 * 1024
BALLAST = "ballast"
BUSY_SECONDS = 10  # that a file being written may keep a disk from turning read-only


class Place:
    """`data` is the folder. A disk of its own (tmpfs) where this process may mount one, else a temporary folder."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="mmmem-disk-"))
        self.is_disk = os.geteuid() == 0 and mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(self.root))
        self.data = self.root / "data"

    def close(self) -> None:
        """Remove it."""
        if self.is_disk:
            subprocess.run(["umount", "-l", str(self.root)], check=False)
        shutil.rmtree(self.root, ignore_errors=True)


def mount(*arguments: str) -> bool:
    """Whether that worked."""
    return (
        shutil.which("mount") is not None
        and not subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode
    )


class Fault(ABC):
    """Something that is wrong with the place, or with the process `pid` that works on it."""

    name: str

    def __init__(self, place: Place, pid: int, chance: random.Random) -> None:
        self.place = place
        self.pid = pid
        self.chance = chance

    @property
    @abstractmethod
    def means(self) -> str:
        """What it is made with."""

    @abstractmethod
    def strike(self) -> None:
        """Let it begin; called again and again while it lasts, and may go wrong a little differently each time."""

    @abstractmethod
    def lift(self) -> None:
        """Let it end."""


class NoHandles(Fault):
    """None, or so few that work fails half-way."""

    name = "too many open files"
    means = "prlimit"

    def strike(self) -> None:
        """See Fault."""
        taken = {int(name) for name in os.listdir(f"/proc/{self.pid}/fd")}  # noqa: PTH208 - names, not paths
        lowest = next(number for number in range(len(taken) + 1) if number not in taken)
        self._limit(lowest + self.chance.choice((0, 0, 1, 2, 3, 5, 8)))

    def lift(self) -> None:
        """See Fault."""
        self._limit(resource.prlimit(self.pid, resource.RLIMIT_NOFILE)[1])

    def _limit(self, handles: int) -> None:
        hard = resource.prlimit(self.pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (handles, hard))


class FullDisk(Fault):
    """No room, or only for a part of what is written."""

    name = "full disk"

    @property
    def means(self) -> str:
        """See Fault."""
        return "a small tmpfs, filled" if self.place.is_disk else "RLIMIT_FSIZE"

    def strike(self) -> None:
        """See Fault."""
        room = self.chance.choice((0, 0, 4, 8, 16, 32, 64, 128)) * 1024
        if self.place.is_disk:
            self._fill(room)
        else:
            self._limit(room)

    def lift(self) -> None:
        """See Fault."""
        if self.place.is_disk:
            (self.place.root / BALLAST).unlink()
        else:
            self._limit(resource.RLIM_INFINITY)

    def _fill(self, room: int) -> None:
        with (self.place.root / BALLAST).open("ab") as ballast:
            disk = os.statvfs(self.place.root)
            more, size = disk.f_bavail * disk.f_frsize - room, ballast.tell()
            with suppress(OSError):  # the service writes too: what was free may be taken
                if more > 0:
                    os.posix_fallocate(ballast.fileno(), size, more)
                else:
                    ballast.truncate(max(0, size + more))

    def _limit(self, size: int) -> None:
        hard = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size, hard))


class ReadOnly(Fault):
    """Nothing can be written; reading goes on."""

    name = "read-only folder"
    _struck = False

    @property
    def means(self) -> str:
        """See Fault."""
        return "remounted" if self.place.is_disk else "chmod"

    def strike(self) -> None:
        """See Fault."""
        if not self._struck:
            self._turn("ro", 0o555, 0o444)
            self._struck = True

    def lift(self) -> None:
        """See Fault."""
        self._turn("rw", 0o755, 0o644)

    def _turn(self, mode: str, folder_mode: int, file_mode: int) -> None:
        deadline = time.monotonic() + BUSY_SECONDS
        while self.place.is_disk and not mount("-o", f"remount,{mode}", str(self.place.root)):
            if time.monotonic() > deadline:
                raise OSError(f"the disk could not be remounted {mode}")
            time.sleep(0.02)
        if not self.place.is_disk:
            for path in (self.place.data, *self.place.data.rglob("*")):
                path.chmod(folder_mode if path.is_dir() else file_mode)


class Denied(Fault):
    """The service may not enter the data folder."""

    name = "permission denied"
    means = "chmod 000 on the data folder"

    def strike(self) -> None:
        """See Fault."""
        self.place.data.chmod(0)

    def lift(self) -> None:
        """See Fault."""
        self.place.data.chmod(0o755)


class DeniedTables(Fault):
    """The service may not enter what it has in the data folder, or may read it and not write."""

    name = "permission denied below"
    means = "chmod 000 or 555 on the folders in it"

    def strike(self) -> None:
        """See Fault."""
        mode = self.chance.choice((0, 0o555))
        for table in self._tables():
            table.chmod(mode)

    def lift(self) -> None:
        """See Fault."""
        for table in self._tables():
            table.chmod(0o755)

    def _tables(self) -> list[Path]:
        return list(self.place.data.glob("u_*"))


FAULTS: tuple[type[Fault], ...] = (NoHandles, FullDisk, ReadOnly, Denied, DeniedTables)


def under() -> list[str]:
    """What a service has to be started under so that permissions bind it: root may do everything, until it may not."""
    if os.geteuid():
        return []
    if not shutil.which("setpriv"):
        raise SystemExit(
            "run this as another user than root, or install setpriv (util-linux): root is never denied anything"
        )
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
