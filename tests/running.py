"""A real `mmmem serve` in a process of its own, and what tests say to it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

DEADLINE = 180  # seconds a start may take on a busy machine before a test gives up on it
_LISTENING = re.compile(r"listening on (\S+);")


class RunningService:
    """Started on a free loopback port. `url` is its base, `client` speaks to it, `log` is the file it logs to, `data` its folder."""

    def __init__(self, folder: Path, *options: str, **settings: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / f"service-{time.monotonic_ns()}.log"
        self.data = folder / "data"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MMMEM_")}
        environment |= {f"MMMEM_{name.upper()}": value for name, value in settings.items()}
        command = [sys.executable, "-m", "mmmem", "serve", "--port", "0", "--data-dir", str(self.data), *options]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.url = self._wait_for(self._address)
        self.client = httpx.Client(base_url=self.url, timeout=DEADLINE, trust_env=False)

    def ready(self) -> "RunningService":
        """Wait until the models are loaded."""
        self._wait_for(lambda: self.client.get("/health").status_code == 200)
        return self

    def stop(self) -> int:
        """Ask it to stop as a service manager would, and wait; gives the exit code."""
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE)

    def post(self, path: str, body: Any) -> httpx.Response:
        """Post JSON in ASCII: httpx by itself would write UTF-8, which has no lone surrogates."""
        return self.client.post(path, content=json.dumps(body).encode())

    def add(self, user: str, *contents: Any, request: str = "r", session: str = "s", **message: Any) -> None:
        """Add one message for each content; the answer must be the contract's."""
        messages = [{"role": "user", "content": content, **message} for content in contents]
        self.add_messages(user, messages, request, session)

    def add_messages(self, user: str, messages: list[Any], request: str = "r", session: str = "s") -> None:
        """Add messages; the answer must be the contract's."""
        ids = {"request_id": request, "user_id": user, "session_id": session}
        answer = self.post("/add", {**ids, "messages": messages})
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"success": True, **ids}

    def search(self, user: str, query: Any, top_k: int = 10, **fields: Any) -> list[dict[str, Any]]:
        """Search; the answer must be the contract's."""
        body = {"query": query, "user_id": user, "top_k": top_k, **fields}
        answer = self.post("/search", body)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["data"]
        assert len(found) <= top_k
        assert all(set(memory) == {"id", "content", "score", "created_at"} for memory in found)
        scores = [memory["score"] for memory in found]
        assert scores == sorted(scores, reverse=True)
        return found

    def _address(self) -> str | None:
        match = _LISTENING.search(self.log.read_text(errors="replace"))
        return match[1] if match else None

    def _wait_for(self, condition: Any) -> Any:
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline:
            if (value := condition()) or self.process.poll() is not None:
                break
            time.sleep(0.05)
        assert value, f"the service did not come up:\n{self.log.read_text(errors='replace')}"
        return value


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """`mmmem` with these arguments in a process of its own, with these variables and no other of ours."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MMMEM_")} | settings
    command = [sys.executable, "-m", "mmmem", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False)


def text_of(memory: dict[str, Any]) -> str:
    """All the text of a returned memory."""
    content = memory["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def urls_of(memory: dict[str, Any]) -> list[str]:
    """The images of a returned memory."""
    content = memory["content"]
    return [] if isinstance(content, str) else [p["image_url"]["url"] for p in content if p["type"] == "image_url"]
