"""How far pip is, for someone who waits. Standard library only."""

from __future__ import annotations

import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

WHEEL = re.compile(r"([^/-]+-[^-]+)-[^/]*(\(.*\))$")  # name-version, and the size that pip adds


def lines_or_ticks(process: subprocess.Popen[str]) -> Iterator[str]:
    """The process's output line by line, and an empty string for each second without any."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line.rstrip())
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=1)
        except queue.Empty:
            line = ""
        if line is None:
            return
        yield line


class ProgressView:
    """What pip does, with the time it has taken: one changing line on a terminal, a line now and then in a log."""

    SECONDS_BETWEEN_LOG_LINES = 20.0

    def __init__(self, began: float) -> None:
        self.began = began
        self.terminal = sys.stdout.isatty()
        self.status = "starting pip"
        self.collected = 0
        self.shown = -self.SECONDS_BETWEEN_LOG_LINES

    def show(self, pip_line: str) -> None:
        """Take in one line of pip's output ('' when there was none) and say where it is."""
        self.status = self._summary(pip_line.strip()) or self.status
        elapsed = time.monotonic() - self.began
        text = f"  {int(elapsed // 60)}:{int(elapsed % 60):02d}  {self.status}"
        if self.terminal:
            print("\r\x1b[K" + text[: shutil.get_terminal_size().columns - 1], end="", flush=True)
        elif elapsed - self.shown >= self.SECONDS_BETWEEN_LOG_LINES:
            self.shown = elapsed
            print(text, flush=True)

    def _summary(self, line: str) -> str:
        first, _, rest = line.partition(" ")
        match first:
            case "Collecting":
                self.collected += 1
                name = rest.partition(" ")[0]
                return f"resolving: {name} ({self.collected} packages so far)"
            case "Installing" if rest.startswith("collected packages:"):
                return f"installing {rest.count(',') + 1} packages (the longest step without a word from pip)"
            case "Downloading":
                file = WHEEL.search(rest)
                return f"downloading {' '.join(file.groups()) if file else rest}"
            case "WARNING:" if "Retrying" in rest:
                return "the package registry does not answer; pip tries again"
            case "Building" | "Preparing" | "Getting" | "Installing":
                return line.partition(":")[0].rstrip(".").lower()
            case _:
                return ""

    def close(self) -> None:
        """Leave the terminal's line."""
        if self.terminal:
            print("\r\x1b[K", end="", flush=True)
