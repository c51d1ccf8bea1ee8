"""Over standard input and output, which carry nothing but the protocol: the SDK sends whatever else is printed to standard error."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
from mcp.server.stdio import stdio_server

from mmmem.mcp_server.opening import leave

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from mmmem.mcp_server.opening import Opening


def serve_stdio(server: Server[Any], opening: Opening) -> NoReturn:
    """Serve until standard input ends, the client is gone, or a signal asks to stop; end the process with status 0."""
    anyio.run(_serve, server, opening)
    leave(opening)


async def _serve(server: Server[Any], opening: Opening) -> None:
    try:
        async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
            tasks.start_soon(_heed_signals, opening)
            opening.begin()
            await server.run(read, write, server.create_initialization_options())
            await anyio.to_thread.run_sync(leave, opening)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # nobody reads any more


async def _heed_signals(opening: Opening) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            await anyio.to_thread.run_sync(leave, opening)
