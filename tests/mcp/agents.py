"""Agents that speak to a real `mmmem mcp` with the SDK's own client."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.contract.test_observability import WORDS_ONLY
from tests.running import DEADLINE

ROOT = Path(__file__).parents[2]
_LISTENING = re.compile(r"listening on (\S+);")


class Agent:
    """Calls tools, and reads what they answer."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """The whole answer."""
        return self.portal.call(self.client.call_tool, tool, arguments)

    def ask(self, tool: str, **arguments: Any) -> str:
        """The texts of an answer that is no error."""
        answer = self.call(tool, **arguments)
        assert not answer.is_error, answer
        return text_of(answer)

    def fail(self, tool: str, **arguments: Any) -> str:
        """What the model is told of an error: one line, and nothing of the program."""
        answer = self.call(tool, **arguments)
        assert answer.is_error, answer
        said = text_of(answer)
        assert "Traceback" not in said
        assert ".py" not in said
        assert "\n" not in said
        return said

    def images(self, tool: str, **arguments: Any) -> list[Any]:
        """The images of an answer."""
        return [block for block in self.call(tool, **arguments).content if block.type == "image"]


def text_of(answer: CallToolResult) -> str:
    return "\n".join(block.text for block in answer.content if block.type == "text")


def environment(*, models: bool = False, **settings: str) -> dict[str, str]:
    """Without models unless they are wanted, and with no other variable of ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MMMEM_")}
    given = {f"MMMEM_{name.upper()}": value for name, value in (({} if models else WORDS_ONLY) | settings).items()}
    return {**kept, **given, "PYTHONPATH": str(ROOT)}


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "mmmem", "mcp", *options]


@contextmanager
def over_stdio(folder: Path, *options: str, service: str | None = None, **settings: str) -> Iterator[Agent]:
    """An agent that starts the command itself, on a folder or before a service. Its log is `folder`/stdio.log."""
    source = ["--url", service] if service else ["--data-dir", str(folder / "data")]
    program, *arguments = command(*source, *options)
    started = StdioServerParameters(command=program, args=arguments, env=environment(**settings))
    with (folder / "stdio.log").open("a") as log, connected(stdio_client(started, errlog=log)) as agent:
        yield agent


@contextmanager
def over_http(url: str, **headers: str) -> Iterator[Agent]:
    """An agent that is told an address."""

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=DEADLINE, trust_env=False) as speaking,
            streamable_http_client(f"{url}/mcp", http_client=speaking) as streams,
        ):
            yield streams

    with connected(transport()) as agent:
        yield agent


@contextmanager
def connected(transport: Any) -> Iterator[Agent]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(transport)) as client:
        yield Agent(portal, client)


class Served:
    """`mmmem mcp --transport http` on a free port. `url` is its root, `log` the file it logs to."""

    def __init__(self, folder: Path, *options: str, **settings: str) -> None:
        self.log = folder / "http.log"
        arguments = command("--transport", "http", "--port", "0", *options)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(arguments, env=environment(**settings), stdout=log, stderr=log)
        self.url = self._address().removesuffix("/mcp").replace("0.0.0.0", "127.0.0.1")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop, and wait; gives the exit code."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)

    def _address(self) -> str:
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline and self.process.poll() is None:
            if match := _LISTENING.search(self.log.read_text()):
                return match[1]
            time.sleep(0.05)  # its log is all that says where it listens; DEADLINE bounds the wait
        raise AssertionError(self.log.read_text())
