"""How `mmmem mcp` answers agents."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Mcp(BaseModel):
    """Whose memories an agent is given, and how it reaches them. The other settings of requests and of the store hold too."""

    mcp_user: str = Field(
        "",
        description="`mmmem mcp`: whose memories are told, found, listed and removed. No tool has a parameter for it.",
    )
    mcp_session: str = Field(
        "default", min_length=1, description="`mmmem mcp`: session of what is remembered, where a call names none."
    )
    mcp_host: str = Field("127.0.0.1", description="`mmmem mcp --transport http`: address to listen on.")
    mcp_port: int = Field(8001, ge=0, le=65535, description="`mmmem mcp --transport http`: port to listen on.")
    mcp_names: str = Field(
        "",
        description="`mmmem mcp --transport http`: names or addresses, with commas between, under which clients call it, beside "
        "loopback and `MMMEM_MCP_HOST`; a request for another host is refused (DNS rebinding). A port may follow: `mmmem.lan:443`.",
    )
    mcp_images: int = Field(8, ge=0, description="`mmmem mcp`: most images of one answer.")
    mcp_image_bytes: int = Field(
        700 * 1024,
        ge=0,
        description="`mmmem mcp`: most bytes of all images of one answer, before Base64; what does not fit is shown smaller. Some "
        "agents take no answer of more than 1 MB.",
    )
