"""Where the encoders run, and how many passes at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from mmmem.errors import StartupError

if TYPE_CHECKING:
    from mmmem.settings import Settings


@dataclass(frozen=True, slots=True)
class Device:
    """`name` is torch's ("cpu", "cuda"); `threads` is how many encoder passes run side by side, `cores` how many searches."""

    name: str
    threads: int
    cores: int


def choose_device(settings: Settings) -> Device:
    """The device that the settings ask for; StartupError where there is none, never a silent fall back to the CPU."""
    if settings.device == "cuda" and not torch.cuda.is_available():
        raise StartupError(
            "MMMEM_DEVICE=cuda, but torch sees no GPU; set MMMEM_DEVICE=cpu or auto, or install a CUDA build"
        )
    cores = settings.threads or len(os.sched_getaffinity(0))
    if settings.device != "cpu" and torch.cuda.is_available():
        return Device("cuda", threads=1, cores=cores)
    return Device("cpu", threads=cores, cores=cores)
