"""`Memory` and `Client` for asyncio: each call waits in a thread of its own, and the event loop goes on."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar

from mmmem.errors import Unavailable
from mmmem.library.client import Client
from mmmem.library.door import Door
from mmmem.library.engine import Memory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime
    from os import PathLike
    from types import TracebackType

    from mmmem.library import results
    from mmmem.library.contents import Content, Message

_P = ParamSpec("_P")
_R = TypeVar("_R")
_D = TypeVar("_D", bound=Door)
_THREADS = 64  # calls at a time; more wait


class _Awaited(Generic[_D]):
    """The methods of Door, awaited; see there."""

    def __init__(self, door: _D) -> None:
        self._door = door
        self._closed = False
        self._threads = ThreadPoolExecutor(_THREADS, "mmmem")

    async def add(
        self,
        messages: Content | Sequence[Message],
        *,
        user_id: str,
        session_id: str = "default",
        role: str = "user",
        timestamp: int | datetime | None = None,
        request_id: str | None = None,
    ) -> results.Added:
        """See Door."""
        ids = {"user_id": user_id, "session_id": session_id, "request_id": request_id}
        return await self._run(partial(self._door.add, messages, role=role, timestamp=timestamp, **ids))  # type: ignore[arg-type]

    async def search(
        self, query: Content, *, user_id: str, top_k: int = 10, options: Sequence[str] | None = None
    ) -> list[results.FoundMemory]:
        """See Door."""
        return await self._run(self._door.search, query, user_id=user_id, top_k=top_k, options=options)

    async def explain(
        self, query: Content, *, user_id: str, top_k: int = 10, options: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """See Door."""
        return await self._run(self._door.explain, query, user_id=user_id, top_k=top_k, options=options)

    async def memories(
        self, *, user_id: str, session_id: str | None = None, newest_first: bool = False, images: bool = True
    ) -> AsyncIterator[results.StoredMemory]:
        """See Door."""
        found = self._door.memories(user_id=user_id, session_id=session_id, newest_first=newest_first, images=images)
        while (memory := await self._run(next, found, None)) is not None:
            yield memory

    async def get_all(
        self, *, user_id: str, session_id: str | None = None, newest_first: bool = False, images: bool = True
    ) -> list[results.StoredMemory]:
        """See Door."""
        return await self._run(
            self._door.get_all, user_id=user_id, session_id=session_id, newest_first=newest_first, images=images
        )

    async def page(
        self,
        *,
        user_id: str,
        limit: int = 100,
        session_id: str | None = None,
        newest_first: bool = False,
        images: bool = True,
        after: str | None = None,
    ) -> results.Page:
        """See Door."""
        ids = {"user_id": user_id, "session_id": session_id, "after": after}
        return await self._run(partial(self._door.page, limit=limit, newest_first=newest_first, images=images, **ids))  # type: ignore[arg-type]

    async def get(self, memory_id: str, *, user_id: str) -> results.StoredMemory:
        """See Door."""
        return await self._run(self._door.get, memory_id, user_id=user_id)

    async def usage(self, user_id: str) -> results.Usage:
        """See Door."""
        return await self._run(self._door.usage, user_id)

    async def delete(self, memory_id: str, *, user_id: str) -> bool:
        """See Door."""
        return await self._run(self._door.delete, memory_id, user_id=user_id)

    async def delete_all(self, *, user_id: str) -> bool:
        """See Door."""
        return await self._run(self._door.delete_all, user_id=user_id)

    async def delete_user(self, user_id: str) -> bool:
        """See Door."""
        return await self._run(self._door.delete_user, user_id)

    async def close(self) -> None:
        """See Door."""
        self._closed = True
        await asyncio.to_thread(self._door.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, call: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if self._closed:
            raise Unavailable("it is closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(call, *args, **kwargs))


class AsyncMemory(_Awaited[Memory]):
    """`Memory`, awaited. Made at once, and blocking: it loads the models. In a running loop: `await AsyncMemory.open("./data")`."""

    def __init__(self, data_dir: str | PathLike[str] = "./data", **settings: Any) -> None:
        super().__init__(Memory(data_dir, **settings))

    @classmethod
    async def open(cls, data_dir: str | PathLike[str] = "./data", **settings: Any) -> Self:
        """One whose models were loaded in a thread."""
        return await asyncio.to_thread(cls, data_dir, **settings)


class AsyncClient(_Awaited[Client]):
    """`Client`, awaited."""

    def __init__(
        self, url: str = "http://127.0.0.1:8000", *, key: str | None = None, timeout: float = 300, attempts: int = 5
    ) -> None:
        super().__init__(Client(url, key=key, timeout=timeout, attempts=attempts))
