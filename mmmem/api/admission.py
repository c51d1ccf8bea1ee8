"""How much is worked on at once. Adds and searches each have their own threads, so that neither starves the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import ParamSpec, TypeVar

from mmmem.errors import OverCapacity
from mmmem.meter import NO_METER, Meter

P = ParamSpec("P")
R = TypeVar("R")


class Lane:
    """Threads for one kind of request, and a count of those under way. Used from the event loop only."""

    def __init__(self, what: str, concurrent: int, waiting: int, meter: Meter = NO_METER) -> None:
        self._what = what
        self._meter = meter
        self._limit = concurrent + waiting
        self._in_flight = 0
        self._threads = ThreadPoolExecutor(concurrent, thread_name_prefix=f"mmmem-{what}")

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Count one request in while it is served. Raises OverCapacity when as many as may wait already do."""
        if self._in_flight >= self._limit:
            raise OverCapacity(self._what)
        self._in_flight += 1
        self._meter.queued(self._what, waiting=1)
        try:
            yield
        finally:
            self._in_flight -= 1
            self._meter.queued(self._what, waiting=-1)

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run blocking work on one of the lane's threads."""
        loop = asyncio.get_running_loop()
        context = copy_context()  # what is logged there is logged of this request

        def work() -> R:
            self._meter.queued(self._what, waiting=-1, running=1)
            try:
                return context.run(function, *args, **kwargs)
            finally:
                self._meter.queued(self._what, waiting=1, running=-1)

        return await loop.run_in_executor(self._threads, work)

    def close(self) -> None:
        """Wait for what is under way."""
        self._threads.shutdown()
