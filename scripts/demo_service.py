"""A service that is started for the demo, and the HTTP calls to it. Standard library only."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, Self

SECONDS_TO_START = 180
SECONDS_TO_STOP = 20
LOG_LINES = 25

# Proxies are for the outside; the service is on this machine.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ServiceError(Exception):
    """The service did not start or cannot be reached; the message holds the end of its log."""


class Service:
    """`mmmem serve` on a free loopback port, with a key of its own. A context manager.

    `data`: its folder or bucket, which stays; by default one of its own, which goes with it. `workers`: its processes. `under`: a
    command that runs it, such as a tracer.
    """

    def __init__(self, data: Path | str | None = None, workers: int = 1, under: Sequence[str] = ()) -> None:
        self.key = secrets.token_urlsafe(24)
        self.folder = Path(tempfile.mkdtemp(prefix="mmmem-demo-"))
        self.log = self.folder / "service.log"
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.kept = False
        mmmem = Path(sys.executable).with_name("mmmem")
        command = [*under, str(mmmem), "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        with self.log.open("wb") as log:
            # Its own session: Ctrl-C reaches the demo alone, which then stops the service and waits for it.
            self.process = subprocess.Popen(
                [*command, "--workers", str(workers), "--data-dir", str(data or self.folder / "data")],
                env=os.environ | {"MMMEM_API_KEY": self.key, "MMMEM_AUTH": "auto"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        # A script that is told to end leaves as by Ctrl-C: through what cleans up after it.
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        return self

    def __exit__(self, *_: object) -> None:
        if not self.kept:
            self.stop()

    def wait_until_healthy(self) -> float:
        """Seconds that it took until /health was a 200. Raises ServiceError when it never is."""
        began = time.monotonic()
        while time.monotonic() - began < SECONDS_TO_START:
            if self.process.poll() is not None:
                raise ServiceError(f"the service stopped with status {self.process.returncode}. {self.log_tail()}")
            with suppress(ServiceError):  # it does not listen yet
                if self.call("GET", "/health", key=None)[0] == 200:
                    return time.monotonic() - began
            time.sleep(0.2)
        raise ServiceError(f"the service was not healthy after {SECONDS_TO_START} s. {self.log_tail()}")

    def call(
        self, method: str, path: str, body: object = None, *, key: str | None = "own", scheme: str = "Bearer"
    ) -> tuple[int, Any]:
        """(status, decoded answer). `key`: "own" sends the service's, None sends none; `scheme` says how."""
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers |= _credentials(scheme, self.key if key == "own" else key)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            try:
                response = _opener.open(request, timeout=SECONDS_TO_START)
            except urllib.error.HTTPError as refusal:
                response = refusal
            with response:
                return response.status, json.load(response)
        except (OSError, HTTPException, ValueError) as error:
            raise ServiceError(f"{method} {path} failed: {error}. {self.log_tail()}") from error

    def log_tail(self) -> str:
        """The last lines of the service's log, for a message."""
        lines = self.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
        return "The end of its log:\n" + "\n".join(f"  {line}" for line in lines)

    def kill(self) -> None:
        """End it and everything it started at once, as the kernel does when memory is short."""
        self._signal_all(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End the service and everything it started, and remove its data."""
        # Once cleaning has begun a second Ctrl-C must not leave half of it.
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._signal_all(signal.SIGTERM)
        try:
            self.process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            self._signal_all(signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        signal.signal(signal.SIGINT, previous)

    def _signal_all(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # it may be gone already
            os.killpg(self.process.pid, number)


def _credentials(scheme: str, key: str) -> Mapping[str, str]:
    return {"X-Api-Key": key} if scheme == "X-Api-Key" else {"Authorization": f"{scheme} {key}"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
