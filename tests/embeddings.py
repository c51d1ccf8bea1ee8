"""An embeddings provider on the loopback interface that speaks OpenAI's protocol, and misbehaves when it is told to."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-the-key-that-nobody-may-see"
MODEL = "text-embedding-v4"
DIMENSIONS = 64
SYNONYMS = {"cat": "pet", "bike": "bicycle"}  # what no local model of the tests is asked to know

Fault = Callable[["Handler", list[str]], None]


@dataclass
class Provider:
    """`faults` are what the next requests meet, one each, before all is well again; `broken` is what every request meets.

    asked: the texts of each request. most: requests that were there at the same time. hold: seconds that each one takes.
    """

    faults: list[Fault] = field(default_factory=list)
    broken: Fault | None = None
    asked: list[list[str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    most: int = 0
    hold: float = 0.0

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.now = 0
        handler = type("OfProvider", (Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # a caller that hangs up is part of the test
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text that was sent, in order."""
        return [text for request in self.asked for text in request]

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()

    def settings(self, **others: Any) -> dict[str, Any]:
        """Settings under which it is asked, without waits between tries."""
        return {
            "text_encoder": "openai",
            "remote_url": self.url,
            "remote_key": KEY,
            "remote_model": MODEL,
            "remote_dimensions": DIMENSIONS,
            "remote_backoff_seconds": 0,
            "weight_dense": 1,
            **others,
        }


class Handler(BaseHTTPRequestHandler):
    """POST /v1/embeddings with a bearer key."""

    protocol_version = "HTTP/1.1"
    provider: Provider

    def do_POST(self) -> None:
        provider = self.provider
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = body["input"]
        with provider.lock:
            provider.asked.append(texts)
            provider.bodies.append(body)
            provider.now += 1
            provider.most = max(provider.most, provider.now)
            fault = provider.faults.pop(0) if provider.faults else provider.broken
        if provider.hold:
            time.sleep(provider.hold)
        with provider.lock:
            provider.now -= 1  # before the answer: whoever has it may ask again at once
        if self.path != "/v1/embeddings" or body["model"] != MODEL:
            self.answer(404, {"error": {"message": "no such model"}})
        elif self.headers.get("Authorization") != f"Bearer {KEY}":
            self.answer(401, {"error": {"message": f"wrong key {self.headers.get('Authorization')}"}})
        elif fault:
            fault(self, texts)
        else:
            self.answer(200, answered(texts))

    def answer(self, status: int, content: Any, **headers: str) -> None:
        """Send JSON, or bytes as they are."""
        self.send(status, content if isinstance(content, bytes) else json.dumps(content).encode(), **headers)

    def send(self, status: int, body: bytes, length: int | None = None, **headers: str) -> None:
        """Send bytes; `length` is what is claimed of them."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def vector(text: str) -> list[float]:
    """A hashed bag of the words, with a bit of everything so that none is zero; not of unit length."""
    numbers = [0.01] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        stem = SYNONYMS.get(word, word)
        numbers[int.from_bytes(hashlib.sha256(stem.encode()).digest()[:4], "little") % DIMENSIONS] += 1
    return numbers


def answered(texts: list[str]) -> dict[str, Any]:
    """A right answer."""
    data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
    return {"object": "list", "model": MODEL, "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def status(code: int, **headers: str) -> Fault:
    """Answer with this status, and in the body what must not be passed on."""
    return lambda handler, texts: handler.answer(
        code, {"error": {"message": f"PROVIDER BODY {texts} {KEY}"}}, **headers
    )


def altered(change: Callable[[list[dict[str, Any]]], Any]) -> Fault:
    """A right answer after `change` to its data."""

    def fault(handler: Handler, texts: list[str]) -> None:
        answer = answered(texts)
        change(answer["data"])
        handler.answer(200, answer)

    return fault


def raw(body: bytes) -> Fault:
    """A 200 with these bytes."""
    return lambda handler, texts: handler.answer(200, body)


def hang(seconds: float) -> Fault:
    """Take longer than anyone waits, then hang up."""

    def fault(handler: Handler, texts: list[str]) -> None:
        time.sleep(seconds)
        handler.close_connection = True

    return fault


def trickle(handler: Handler, texts: list[str]) -> None:
    """A body that never ends, a byte now and then."""
    handler.send(200, b"{", length=10**9)
    try:
        for _ in range(100):
            time.sleep(0.05)
            handler.wfile.write(b" ")
            handler.wfile.flush()
    except OSError:
        pass
    handler.close_connection = True


def reset(handler: Handler, texts: list[str]) -> None:
    """Break the connection without a word."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def cut(handler: Handler, texts: list[str]) -> None:
    """Break the connection in the middle of the answer."""
    body = json.dumps(answered(texts)).encode()
    handler.send(200, body[: len(body) // 2], length=len(body))
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True
