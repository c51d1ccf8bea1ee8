"""Serving: one process, or several on one socket, under uvicorn."""

from __future__ import annotations

import resource
import socket
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from mmmem.api import worker_counts
from mmmem.api.app import app_from_settings
from mmmem.api.logs import announce
from mmmem.errors import StartupError

if TYPE_CHECKING:
    from types import FrameType

    from mmmem.settings import Settings

# Longer than clients keep an idle connection, so that they seldom reuse one that is just being closed.
KEEP_ALIVE_SECONDS = 75
# An Add under way may finish; what is cut off was not acknowledged, and is safe to send again.
SHUTDOWN_SECONDS = 30
# Importing the models' libraries can hold up a worker's sign of life for long on a slow disk.
WORKER_SILENCE_SECONDS = 60


def run(settings: Settings) -> None:
    """Serve until told to stop. Raises StartupError when it cannot listen, or when a worker could not start."""
    _use_all_file_handles()
    listener = listen(settings.host, settings.port, "--host and --port, or MMMEM_HOST and MMMEM_PORT")
    announce(settings, address(listener))
    single = settings.workers == 1
    config = uvicorn.Config(
        app_from_settings(settings, exit_code=1) if single else "mmmem.api.app:create_app_from_environment",
        factory=not single,
        workers=settings.workers,
        log_config=None,
        ws="none",
        server_header=False,
        access_log=False,  # tracking.py writes one, without the path
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        timeout_worker_healthcheck=WORKER_SILENCE_SECONDS,
    )
    with suppress(KeyboardInterrupt):  # raised again by uvicorn once it has shut down
        if single:
            _Server(config).run([listener])
            return
        with worker_counts.shared_folder(settings.workers) if settings.metrics else nullcontext():
            supervisor = Multiprocess(config, sockets=[listener])
            supervisor.run()
        if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
            raise StartupError("a worker process could not start; its reason is in the log above")


class _Server(uvicorn.Server):
    """Ends in order however often it is told to: uvicorn's own drops what it is doing at a second SIGINT."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take the first signal."""
        if not self.should_exit:
            super().handle_exit(sig, frame)


def _use_all_file_handles() -> None:
    """Raise the soft limit to the hard one: each connection and each table being read takes some."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def listen(host: str, port: int, chosen_with: str) -> socket.socket:
    """A socket that listens. `chosen_with`: what host and port are set with. Raises StartupError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise StartupError(f"cannot listen on {host} port {port}: {reason}; choose with {chosen_with}") from error
    # asyncio does it only for sockets that were made with their protocol: without it an answer's second packet waits for
    # the first one to be acknowledged, 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.set_inheritable(True)
    return listener


def address(listener: socket.socket) -> str:
    """The URL of its root."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if listener.family == socket.AF_INET6 else f"http://{host}:{port}"
