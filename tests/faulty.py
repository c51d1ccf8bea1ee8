"""A proxy before a real service that brings in faults: each stands between a request and its answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx


@dataclass(frozen=True)
class Call:
    """A request on its way. `value`: its JSON object, empty where it is none."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    value: dict[str, Any]

    def with_value(self, **fields: Any) -> Call:
        """The request with these fields."""
        value = {**self.value, **fields}
        return replace(self, value=value, body=json.dumps(value).encode())


Reply = tuple[int, Any]
Forward = Callable[[Call], Reply]
Fault = Callable[[Call, Forward], Reply]


def error(status: int, field: str = "") -> Reply:
    return status, {"detail": {"reason": f"{field}: planted", "field": field}, "code": "planted"}


def success(call: Call) -> Reply:
    return 200, {"success": True} | {name: call.value[name] for name in ("request_id", "user_id", "session_id")}


@contextmanager
def faulty(url: str, faults: Sequence[Fault]) -> Iterator[str]:
    """The address of a proxy before the service at `url`."""
    client = httpx.Client(base_url=url, timeout=180, trust_env=False)

    def real(call: Call) -> Reply:
        answer = client.request(call.method, call.path, content=call.body, headers=call.headers)
        return answer.status_code, answer.json()

    forward: Forward = reduce(lambda inner, fault: partial(_with, fault, inner), faults, real)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def do_DELETE(self) -> None:
            self.answer()

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            keys = {name.lower(): value for name, value in self.headers.items()}
            sent = {name: keys[name] for name in ("authorization", "x-api-key") if name in keys}
            status, value = forward(Call(self.command, self.path, sent, body, _object(body)))
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with _Server(("127.0.0.1", 0), Handler) as server, client:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Server(ThreadingHTTPServer):
    request_queue_size = 64


def _with(fault: Fault, forward: Forward, call: Call) -> Reply:
    return fault(call, forward)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
