"""mmmem: a multimodal memory service for AI agents. `Memory` runs it in this process, `Client` asks a service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmmem.library import AsyncClient, AsyncMemory, Client, Memory

__version__ = "0.1.0"
__all__ = ["AsyncClient", "AsyncMemory", "Client", "Memory"]


def __getattr__(name: str) -> Any:
    """What the library offers is loaded when it is asked for: the command line answers before that."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mmmem import library  # noqa: PLC0415 - see above

    return getattr(library, name)
