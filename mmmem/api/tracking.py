"""One line in the log and one count for each request, and the id that both it and its answer carry.

Of what a caller sends, only the id of a request that is well-formed gets into either.
"""

from __future__ import annotations

import logging
import os
from time import perf_counter
from typing import TYPE_CHECKING

from mmmem.api.served import HEADER, Served, current, request_id

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from mmmem.api.metrics import Metrics

log = logging.getLogger(__name__)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
OTHER = "other"
"""Stands for every path that no route has, and for every method that HTTP does not know."""
CLIENT_LEFT = 499
"""The status of a request whose caller left before it was answered, as nginx writes it."""


class Tracking:
    """The outermost layer but the framework's own."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send, self._metrics)
        token = current.set(exchange.served)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        finally:
            exchange.finish()
            current.reset(token)


class _Exchange:
    """A request and its answer. Counted before the last of the answer is sent: who has it, finds it counted."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, metrics: Metrics) -> None:
        self.served = Served(request_id(scope["headers"]))
        self._scope = scope
        self._receive = receive
        self._send = send
        self._metrics = metrics
        self._began = perf_counter()
        self._status = CLIENT_LEFT
        self._bytes_in = self._bytes_out = 0
        self._finished = False

    async def receive(self) -> Message:
        """Pass on a part of the request."""
        message = await self._receive()
        self._bytes_in += len(message.get("body", b""))
        return message

    async def send(self, message: Message) -> None:
        """Pass on a part of the answer."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message = {**message, "headers": [*message["headers"], (HEADER, self.served.id.encode())]}
        elif message["type"] == "http.response.body":
            self._bytes_out += len(message.get("body", b""))
            if not message.get("more_body", False):
                self.finish()
        await self._send(message)

    def finish(self) -> None:
        """Count the request and log it, once."""
        if self._finished:
            return
        self._finished = True
        seconds = perf_counter() - self._began
        sent = self._scope["method"]
        method = sent if sent in METHODS else OTHER
        route = getattr(self._scope.get("route"), "path_format", OTHER)
        code = "client_left" if self._status == CLIENT_LEFT else self.served.code
        self._metrics.answered(method, route, self._status, code, seconds)
        fields = {
            "method": method,
            "route": route,
            "status": self._status,
            "duration_ms": round(1_000 * seconds, 3),
            "bytes_in": self._bytes_in,
            "bytes_out": self._bytes_out,
            "worker": os.getpid(),
        }
        if code:
            fields["code"] = code
        if self.served.stages and log.isEnabledFor(logging.DEBUG):
            fields["stages_ms"] = {stage: round(1_000 * spent, 3) for stage, spent in self.served.stages.items()}
        log.info("request", extra={"fields": fields})


class HeadAsGet:
    """HEAD is answered wherever GET is, with the same status and headers and no body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        asked = {**scope, "method": "GET"}

        async def without_body(message: Message) -> None:
            if "route" in asked:
                scope["route"] = asked["route"]  # whoever counts the answer looks there
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app(asked, receive, without_body)
