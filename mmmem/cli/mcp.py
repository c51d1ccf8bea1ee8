"""`mmmem mcp`."""

from __future__ import annotations

import importlib.util
import signal
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from mmmem.cli.ending import BAD_SETTINGS, read_settings, stop
from mmmem.errors import StartupError

if TYPE_CHECKING:
    from mmmem.library.door import Door


class Transport(StrEnum):
    """How agents reach it."""

    STDIO = "stdio"
    HTTP = "http"


def mcp(
    *,
    user: Annotated[
        str | None, typer.Option(help="Whose memories, or MMMEM_MCP_USER. No tool reaches another user.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Session of what is remembered where a call names none, or MMMEM_MCP_SESSION.")
    ] = None,
    data_dir: Annotated[
        str | None,
        typer.Option(help="Folder of the store, or MMMEM_DATA_DIR. A service may be using it at the same time."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="Use this running service, in place of opening a folder.")] = None,
    key: Annotated[
        str | None,
        typer.Option(
            envvar="MMMEM_API_KEY", show_default=False, help="The key of that service, where it asks for one."
        ),
    ] = None,
    transport: Annotated[
        Transport, typer.Option(help="stdio, for an agent that starts this command; http, streamable HTTP at /mcp.")
    ] = Transport.STDIO,
    host: Annotated[str | None, typer.Option(help="http: address to listen on, or MMMEM_MCP_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option(help="http: port to listen on, or MMMEM_MCP_PORT; 0 for any free one.")
    ] = None,
) -> None:
    """Give an agent a memory: an MCP server with the tools remember, recall, list_memories and forget, for one user.

    Over http it asks for MMMEM_API_KEY as the service does, where that is set. docs/mcp.md has the configuration of common agents.
    """
    for number in (signal.SIGTERM, signal.SIGINT):  # until the server has its own
        signal.signal(number, lambda *_: sys.exit(0))
    if url is not None and data_dir is not None:
        raise typer.BadParameter("give --url or --data-dir, not both")
    given = {"mcp_user": user, "mcp_session": session, "data_dir": data_dir, "mcp_host": host, "mcp_port": port}
    settings = read_settings(**{name: value for name, value in given.items() if value is not None})
    settings = settings.model_copy(update={"host": settings.mcp_host, "port": settings.mcp_port})
    if not settings.mcp_user:
        stop("whose memories? --user USER, or MMMEM_MCP_USER", BAD_SETTINGS)
    if importlib.util.find_spec("mcp") is None:
        stop("the MCP SDK is not installed: pip install 'mmmem[mcp]'")

    from mmmem.api.logs import configure_logging
    from mmmem.mcp_server.http import serve_http
    from mmmem.mcp_server.opening import Opening
    from mmmem.mcp_server.server import build_server
    from mmmem.mcp_server.stdio import serve_stdio
    from mmmem.mcp_server.tools import Tools

    def open_door() -> Door:
        from mmmem.library import Client, Memory

        return Memory(settings.data_dir) if url is None else Client(url, key=key)

    configure_logging(settings)
    opening = Opening(open_door)
    server = build_server(Tools(settings, opening.door))
    try:
        if transport is Transport.STDIO:
            serve_stdio(server, opening)
        serve_http(server, opening, settings)
    except StartupError as error:
        stop(str(error))
