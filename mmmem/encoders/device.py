"""Where the encoders run, and how many passes at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from mmmem.errors import StartupError

if TYPE_CHECKING:
    from mmmem.settings import Settings


@dataclass(frozen=True, slots=True)
class Device:
    """`name` is torch's ("cpu", "cuda"); `threads` is how many encoder passes run side by side, `cores` how many searches.

    Workers share the cores among their searches: two of two threads each took a fifth more CPU time a search than two of one.
    """

    name: str
    threads: int
    cores: int


def choose_device(settings: Settings) -> Device:
    """The device that the settings ask for; StartupError where there is none, never a silent fall back to the CPU."""
    if settings.device == "cuda" and not torch.cuda.is_available():
        raise StartupError(
            "MMMEM_DEVICE=cuda, but torch sees no GPU; set MMMEM_DEVICE=cpu or auto, or install a CUDA build"
        )
    cores = settings.threads or usable_cores()
    searches = settings.threads or max(1, cores // settings.workers)
    if settings.device != "cpu" and torch.cuda.is_available():
        return Device("cuda", threads=1, cores=searches)
    return Device("cpu", threads=cores, cores=searches)


def usable_cores(control_group: Path = Path("/sys/fs/cgroup")) -> int:
    """The cores that this process may run on, or fewer, at least one, where a container's quota of CPU time is less."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = map(int, (control_group / "cpu.max").read_text(encoding="ascii").split())
    except (OSError, ValueError):  # no control group of its own, or "max": no quota
        return cores
    return max(1, min(cores, quota // period))
