"""Over streamable HTTP at /mcp, each request by itself: no sessions that a client could leave behind."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request

from mmmem.api.auth import KeyCheck
from mmmem.api.errors import ErrorBoundary, domain_error_response
from mmmem.api.server import address, listen
from mmmem.errors import Unauthorized
from mmmem.mcp_server.opening import leave

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

    from mmmem.mcp_server.opening import Opening
    from mmmem.settings import Settings

log = logging.getLogger(__name__)

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_SHUTDOWN_SECONDS = 30


def serve_http(server: Server[Any], opening: Opening, settings: Settings) -> NoReturn:
    """Serve until told to stop; end the process with status 0. settings: `host` and `port` are where. Raises StartupError when it cannot listen."""
    listener = listen(settings.host, settings.port, "--host and --port, or MMMEM_MCP_HOST and MMMEM_MCP_PORT")
    _announce(settings, address(listener))
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.max_request_bytes,
        transport_security=allowed(settings),
    )
    config = uvicorn.Config(
        ErrorBoundary(KeyAsked(app, settings)),
        log_config=None,
        ws="none",
        server_header=False,
        access_log=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    opening.begin()
    with suppress(KeyboardInterrupt, SystemExit):  # the signal that ended it, which uvicorn raises again
        uvicorn.Server(config).run([listener])
    leave(opening)


def allowed(settings: Settings) -> TransportSecuritySettings:
    """The hosts and origins that a request may name: a page in a browser that has another name point here is refused."""
    given = [settings.host, *(name.strip() for name in settings.mcp_names.split(","))]
    names = [*_LOOPBACK, *(f"[{name}]" if name.count(":") > 1 and name[0] != "[" else name for name in given if name)]
    hosts = [host for name in names for host in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
    )


class KeyAsked:
    """ASGI: lets a request pass that carries the service's key."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._check = KeyCheck(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http":
            try:
                await self._check(Request(scope))
            except Unauthorized as error:
                await domain_error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _announce(settings: Settings, url: str) -> None:
    log.info(
        "listening on %s%s; %s", url, PATH, f"key asked ({settings.auth})" if settings.asks_key else "no key asked"
    )
    if not settings.asks_key and not settings.on_loopback:
        log.warning(
            "OPEN TO THE NETWORK WITHOUT A KEY: everyone who can connect reads, writes and removes this user's memories; set MMMEM_API_KEY"
        )
