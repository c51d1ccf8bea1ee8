"""The protocol: which tools there are, and how one is called. What goes wrong is told to the model as the tool's error."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
from pydantic import ValidationError

import mmmem
from mmmem.api.stacks import stack_of
from mmmem.errors import MmmemError
from mmmem.mcp_server.answers import text
from mmmem.mcp_server.arguments import complaint
from mmmem.mcp_server.tools import INSTRUCTIONS, KINDS

if TYPE_CHECKING:
    from mmmem.mcp_server.tools import Tools

log = logging.getLogger(__name__)

_CALLS = 16  # at a time; more wait


def build_server(tools: Tools) -> Server[Any]:
    """The server of one user's tools, for any transport."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # its lines hold what callers send
    calls = anyio.CapacityLimiter(_CALLS)

    async def list_tools(_context: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[kind.tool for kind in KINDS.values()])

    async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in KINDS:
            raise MCPError(code=INVALID_PARAMS, message="there is no tool of this name")
        return await anyio.to_thread.run_sync(_call, tools, params.name, params.arguments or {}, limiter=calls)

    return Server(
        "mmmem",
        version=mmmem.__version__,
        title="mmmem memory",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _call(tools: Tools, name: str, given: dict[str, Any]) -> CallToolResult:
    try:
        return CallToolResult(content=tools.call(name, given))
    except ValidationError as error:
        problem = complaint(error)
    except MmmemError as error:
        problem = str(error)
    except Exception as error:
        log.error("%s failed\n%s", name, stack_of(error))  # noqa: TRY400 - a traceback holds the message
        problem = "something went wrong; the log of mmmem mcp says where"
    return CallToolResult(content=[text(problem)], is_error=True)
