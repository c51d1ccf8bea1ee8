"""The machine: memory, file handles, the address to listen on, the device."""

from __future__ import annotations

import os
import resource
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from mmmem.doctor.finding import Finding, fault, ok, warning
from mmmem.encoders.device import choose_device
from mmmem.errors import StartupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.settings import Settings

_GIB = 1024**3
_PROCESS_BYTES = 1.2 * _GIB  # of one worker with the light models, before any user's arrays
_HANDLES = 4096  # each connection takes one, and each table being read a few
_CGROUP = Path("/sys/fs/cgroup/memory.max")  # a container's limit


def machine_findings(settings: Settings) -> Iterator[Finding]:
    """What the machine gives, against what the settings will use of it."""
    yield _memory(settings)
    yield _handles()
    yield _temporary_folder()
    yield from _address(settings)
    yield _device(settings)


def _memory(settings: Settings) -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _CGROUP.exists() and (limit := _CGROUP.read_text().strip()).isdigit():
        total = min(total, int(limit))
    needed = settings.workers * (_PROCESS_BYTES + settings.cache_bytes)
    says = f"{total / _GIB:.1f} GiB; {settings.workers} x (models and MMMEM_CACHE_BYTES) may take {needed / _GIB:.1f}"
    if needed > total:
        return warning("memory", says, "lower MMMEM_CACHE_BYTES or MMMEM_WORKERS, or give it more memory")
    return ok("memory", says)


def _handles() -> Finding:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < _HANDLES:
        return warning(
            "file handles", f"{hard:,} at most", f"raise the hard limit to {_HANDLES:,} (ulimit -Hn, LimitNOFILE=)"
        )
    return ok("file handles", "no limit" if hard == resource.RLIM_INFINITY else f"{hard:,} at most")


def _temporary_folder() -> Finding:
    try:
        with tempfile.TemporaryFile() as file:
            file.write(b"0")
    except OSError as error:
        return fault(
            "temporary folder", f"cannot be written: {error.strerror}", "mount one at /tmp, or set TMPDIR to a folder"
        )
    return ok("temporary folder", "can be written")


def _address(settings: Settings) -> Iterator[Finding]:
    where = f"{settings.host} port {settings.port}"
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except OSError as error:
        advice = "fine if mmmem is running there; else choose with MMMEM_HOST and MMMEM_PORT"
        yield warning("address", f"cannot listen on {where} now: {error.strerror}", advice)
    else:
        yield ok("address", f"{where} is free")
    if settings.asks_key or settings.on_loopback:
        yield ok("access", "key asked" if settings.asks_key else "no key asked, and only this machine can connect")
    else:
        yield warning("access", "everyone who can connect reads and writes every memory", "set MMMEM_API_KEY")


def _device(settings: Settings) -> Finding:
    try:
        device = choose_device(settings)
    except StartupError as error:
        return fault("device", str(error), "compare with `python -c 'import torch; print(torch.cuda.is_available())'`")
    name = f" ({torch.cuda.get_device_name()})" if device.name == "cuda" else f", {device.cores} cores"
    return ok("device", f"{device.name}{name}, torch {torch.__version__}")
