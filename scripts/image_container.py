"""An image's root file system in a folder, and the container that it becomes: namespaces and chroot, no engine."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dockerfile import Instruction, Stage

PLAIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What every container has beside its files.
DEVICES = """
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero full random urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
mkdir "$root/dev/shm"; mount -t tmpfs tmpfs "$root/dev/shm"; ln -s /proc/self/fd "$root/dev/fd"
"""
SECONDS_TO_START = 180
SECONDS_TO_STOP = 45
KEY = "4711"


@dataclass(slots=True)
class Image:
    """A stage while it is built: its files, and what its instructions have set so far."""

    root: Path
    user: str = "0:0"
    folder: str = "/"
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PLAIN_PATH})
    arguments: dict[str, str] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, str]:
        """What a variable in an instruction stands for."""
        return self.arguments | self.environment


def command(image: Image, arguments: Sequence[str], environment: dict[str, str]) -> list[str]:
    """The command that runs `arguments` in the image as its user, with these variables alone."""
    pairs = [f"{name}={value}" for name, value in environment.items()]
    inside = shlex.join(["exec", "/usr/bin/env", "-i", *pairs, *arguments])
    entered = f"cd {shlex.quote(image.folder)} && {inside}"
    return ["chroot", f"--userspec={image.user}", "--groups=", str(image.root), "/bin/sh", "-c", entered]


def namespaced(root: Path, script: str, inside: list[str], *more: str) -> list[str]:
    """The command that runs `inside` as process number 1 after the mounts of `script`, which vanish with it."""
    text = f"set -eu\nroot={shlex.quote(str(root))}\n{script}\nexec {shlex.join(inside)}"
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", *more, "/bin/sh", "-c", text]


class Container:
    """The last stage as a running container. A context manager that leaves no process behind."""

    def __init__(self, image: Image, stage: Stage, volume: Path, tmpfs: Sequence[str]) -> None:
        """`volume`: a new folder, which becomes /data. `tmpfs`: paths that may be written to beside it."""
        self.image, self.stage = image, stage
        volume.mkdir()
        os.chown(volume, *map(int, image.user.split(":")))
        script = f'ip link set lo up\nmount --bind "$root" "$root"\n{DEVICES}mount --bind {shlex.quote(str(volume))} "$root/data"\n'
        script += "".join(f'mount -t tmpfs tmpfs "$root{path}"\n' for path in tmpfs)
        script += 'mount -o remount,ro,bind "$root"'
        words = stage.all_of("ENTRYPOINT")[-1].words + stage.all_of("CMD")[-1].words
        inside = command(image, words, image.environment | {"MMMEM_API_KEY": KEY})
        self.process = subprocess.Popen(namespaced(image.root, script, inside, "--net"), stdin=subprocess.DEVNULL)

    def __enter__(self) -> Container:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # unshare takes its child along
        self.process.wait()

    @property
    def first_process(self) -> int:
        """Its process number 1, by the number that it has outside. Raises ChildProcessError when it has ended."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            return int(children.read_text().split()[0])
        except (OSError, IndexError):
            raise ChildProcessError(f"the container ended by itself, with status {self.process.wait()}") from None

    @property
    def resident(self) -> int:
        """Bytes of memory that process number 1 holds."""
        status = Path(f"/proc/{self.first_process}/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) * 1024

    def wait_until_healthy(self) -> float:
        """Seconds until the HEALTHCHECK passed. Raises TimeoutError when it never does, ChildProcessError when it ended."""
        check = Instruction("CMD", self.stage.all_of("HEALTHCHECK")[-1].text.partition("CMD ")[2])
        inside = command(self.image, check.words, self.image.environment)
        began = time.monotonic()
        while time.monotonic() - began < SECONDS_TO_START:
            time.sleep(0.5)
            entered = ["nsenter", "--mount", "--net", "--pid", f"--target={self.first_process}", *inside]
            if subprocess.run(entered, check=False, stderr=subprocess.DEVNULL).returncode == 0:
                return time.monotonic() - began
        raise TimeoutError("it was never healthy")

    def smoke(self) -> int:
        """The exit code of scripts/smoke.py, run in the container's network."""
        script = Path(__file__).with_name("smoke.py")
        smoke = [sys.executable, str(script), "http://127.0.0.1:8000", "--key", KEY]
        return subprocess.run(["nsenter", "--net", f"--target={self.first_process}", *smoke], check=False).returncode

    def stop(self) -> tuple[int, float]:
        """(exit status, seconds) after SIGTERM to process number 1. Raises TimeoutExpired."""
        began = time.monotonic()
        os.kill(self.first_process, signal.SIGTERM)
        return self.process.wait(SECONDS_TO_STOP), time.monotonic() - began
