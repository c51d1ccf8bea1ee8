"""mmmem from Python: `Memory` runs the engine in this process, `Client` asks a service; both have the same methods and results.

door.py        the methods
contents.py    what may be told and asked: text, images in any form
results.py     what comes back
engine.py      Memory: the engine in this process
client.py      Client: a service over HTTP, with retries
awaited.py     AsyncMemory and AsyncClient
"""

from mmmem.library.awaited import AsyncClient, AsyncMemory
from mmmem.library.client import Client
from mmmem.library.engine import Memory
from mmmem.library.results import Added, FoundMemory, ImageFile, Page, StoredMemory, Usage

__all__ = [
    "Added",
    "AsyncClient",
    "AsyncMemory",
    "Client",
    "FoundMemory",
    "ImageFile",
    "Memory",
    "Page",
    "StoredMemory",
    "Usage",
]
