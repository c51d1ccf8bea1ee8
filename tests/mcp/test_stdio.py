"""`mmmem mcp` as an agent starts it: what it says where, and how it ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.contract.pictures import draw
from tests.mcp.agents import Agent, command, environment, over_stdio
from tests.mcp.test_tools import base64_of, file
from tests.running import DEADLINE

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}


class Pipe:
    """The protocol by hand."""

    def __init__(self, folder: Path, *, models: bool = False, service: str | None = None) -> None:
        self.log = folder / "pipe.log"
        source = ["--url", service] if service else ["--data-dir", str(folder / "data")]
        with self.log.open("wb") as log:
            arguments = command("--user", "ann", *source)
            self.process = subprocess.Popen(
                arguments,
                env=environment(models=models, ocr="off"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self.lines: list[bytes] = []
        self._asked = 0

    def send(self, method: str, **params: Any) -> None:
        self._asked += 1
        line = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        self.lines.append(self.process.stdout.readline())
        answered: dict[str, Any] = json.loads(self.lines[-1])
        return answered

    def hello(self) -> None:
        self.send("initialize", **HELLO)
        assert self.answer()["result"]["serverInfo"]["name"] == "mmmem"
        self.process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')

    def remember(self, text: str, **arguments: Any) -> None:
        self.send("tools/call", name="remember", arguments={"text": text, **arguments})

    def end(self) -> int:
        """Wait for its end, with all that it still says."""
        try:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
            if not self.process.stdout.closed:
                self.lines += self.process.stdout.read().splitlines()
            return self.process.wait(DEADLINE)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


def test_with_real_models_a_picture_is_found_and_nothing_but_the_protocol_is_said(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path, models=True)
    pipe.hello()  # before any model is there
    assert "ready" not in pipe.log.read_text()
    apple, sea = (base64_of(file(draw(*drawn), "PNG")) for drawn in (("red", "ellipse"), ("blue", "rectangle")))
    for text, image in (("An apple", apple), ("The sea", sea)):
        pipe.remember(text, images=[image])
        assert pipe.answer()["result"]["content"][0]["text"] == "Remembered."
    pipe.send("tools/call", name="recall", arguments={"images": [sea], "top_k": 1})
    text, image = pipe.answer()["result"]["content"]
    assert "The sea" in text["text"]
    assert (image["type"], image["mimeType"], image["data"]) == ("image", "image/png", sea)
    pipe.send("tools/call", name="recall", arguments={"text": "fruit", "top_k": 1})
    assert "An apple" in pipe.answer()["result"]["content"][0]["text"]
    assert pipe.end() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in pipe.lines)
    assert "ready: profile light" in pipe.log.read_text()


def test_a_signal_ends_it_also_while_it_opens_the_store(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path)
    pipe.hello()
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.wait(DEADLINE) == 0  # while its input is open
    assert pipe.end() == 0
    assert "Traceback" not in pipe.log.read_text()


def test_what_was_accepted_is_kept_when_the_client_is_killed(stdio_agent: Agent, stdio_folder: Path) -> None:
    pipe = Pipe(stdio_folder)
    pipe.hello()
    pipe.remember("accepted", session="killed")
    assert not pipe.answer()["result"].get("isError")
    for number in range(6):
        pipe.remember(f"under way {number}", session="killed")
    pipe.process.stdout.close()  # as the system does for a client that dies
    assert pipe.end() == 0
    assert "Traceback" not in pipe.log.read_text()
    kept = re.findall(r"user: (.*)", stdio_agent.ask("list_memories", session="killed", order="oldest", limit=50))
    assert kept[0] == "accepted"
    assert set(kept) <= {"accepted", *(f"under way {number}" for number in range(6))}


def test_lines_that_are_no_protocol_do_not_end_it_and_a_signal_does(tmp_path: Path) -> None:
    pipe = Pipe(tmp_path, service="http://127.0.0.1:1")
    pipe.hello()
    pipe.process.stdin.write(b"hello?\n\xff\xfe\n{}\n[]\n" + b"[" * 100_000 + b"\n")
    pipe.send("tools/list")
    while (answer := pipe.answer()).get("id") != 2:
        assert "error" in answer
    assert len(answer["result"]["tools"]) == 4
    pipe.process.send_signal(signal.SIGINT)
    assert pipe.process.wait(DEADLINE) == 0
    assert pipe.end() == 0
    assert "hello" not in pipe.log.read_text()


def test_the_log_holds_nothing_of_what_is_told_or_asked(stdio_agent: Agent, stdio_folder: Path) -> None:
    mark = "Xylophon"
    stdio_agent.ask("remember", text=mark, role=mark, session=mark)
    stdio_agent.ask("recall", text=mark)
    stdio_agent.fail("recall", text=mark, **{mark: mark})
    stdio_agent.fail("remember", text=mark, images=[mark])
    stdio_agent.fail("forget", id=mark)
    with pytest.raises(Exception, match="no tool"):
        stdio_agent.call(mark)
    log = (stdio_folder / "stdio.log").read_text()
    assert "ready" in log
    assert mark.lower() not in log.lower()
    assert "Traceback" not in log


def test_no_agent_reaches_another_users_memories(stdio_agent: Agent, stdio_folder: Path) -> None:
    stdio_agent.ask("remember", text="The key is under the stone.", session="secret")
    listed = stdio_agent.ask("list_memories", session="secret")
    [memory] = re.findall(r"mem_\w+", listed)
    with over_stdio(stdio_folder, "--user", "bob") as bob:
        assert bob.ask("recall", text="where is the key?") == "Nothing was found."
        assert bob.ask("list_memories") == "No memories."
        assert bob.ask("list_memories", session="secret") == "No memories."
        bob.fail("forget", id=memory)
        for argument in ("user", "user_id", "userId"):
            bob.fail("recall", text="key", **{argument: "ann"})
            bob.fail("list_memories", **{argument: "ann"})
            bob.fail("forget", id=memory, **{argument: "ann"})
    assert stdio_agent.ask("list_memories", session="secret") == listed
