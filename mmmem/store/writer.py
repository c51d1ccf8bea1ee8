"""The queue in front of the tables: one writer a table, many requests a commit.

Appends to one table that do not wait for each other retry against each other for seconds; one commit at a time with all
that is waiting does not, and costs one fsync for all.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from mmmem.errors import StoreUnavailable
from mmmem.meter import NO_METER, Meter

if TYPE_CHECKING:
    from mmmem.settings import Settings
    from mmmem.store.cache import TableCache
    from mmmem.store.rows import RequestRows

QUEUE = "writes"
"""What a meter is told that the requests wait in."""

COMMIT_BYTES = 64 * 1024 * 1024
"""Rows, images included, that one commit holds at most, unless a single request is larger."""


@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    request: RequestRows
    done: Future[None] = field(default_factory=Future)
    context: Context = field(default_factory=copy_context)  # a commit logs as part of its first request


class Writer:
    """Writes requests in the background, several tables at a time, each table in the order of arrival."""

    def __init__(self, cache: TableCache, settings: Settings, meter: Meter = NO_METER) -> None:
        self._cache = cache
        self._meter = meter
        self._commit_requests = settings.commit_requests
        self._pool = ThreadPoolExecutor(settings.writer_threads, thread_name_prefix="mmmem-writer")
        self._changed = threading.Condition()
        self._queues: dict[str, deque[_Pending]] = {}  # a table with a queue is being written or waits for a thread
        self._closed = False

    def submit(self, name: str, request: RequestRows) -> Future[None]:
        """Queue a request for a table. Done when it is on disk; its exception says why it is not."""
        pending = _Pending(request)
        with self._changed:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            self._meter.queued(QUEUE, waiting=1)
            if name in self._queues:
                self._queues[name].append(pending)
            else:
                self._queues[name] = deque([pending])
                self._pool.submit(self._drain, name)
        return pending.done

    def close(self) -> None:
        """Write what is queued, then stop."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._queues)
        self._pool.shutdown()

    def _drain(self, name: str) -> None:
        try:
            self._write(name, self._take(name))
        finally:
            with self._changed:
                if self._queues[name]:
                    self._pool.submit(self._drain, name)  # behind the other tables that wait
                else:
                    del self._queues[name]
                    self._changed.notify_all()

    def _take(self, name: str) -> list[_Pending]:
        with self._changed:
            queue = self._queues[name]
            group = [queue.popleft()]
            size = group[0].request.rows.nbytes
            while queue and len(group) < self._commit_requests:
                size += queue[0].request.rows.nbytes
                if size > COMMIT_BYTES:
                    break
                group.append(queue.popleft())
            self._meter.queued(QUEUE, waiting=-len(group), running=len(group))
            return group

    def _write(self, name: str, group: list[_Pending]) -> None:
        began = perf_counter()
        try:
            table = self._cache.get(name)
            outcomes = group[0].context.run(table.commit, [pending.request for pending in group])
        except BaseException as error:
            for pending in group:
                pending.done.set_exception(error)
            return
        finally:
            self._meter.queued(QUEUE, running=-len(group))
            self._meter.committed(len(group), perf_counter() - began)
        for pending, outcome in zip(group, outcomes, strict=True):
            if outcome is None:
                pending.done.set_result(None)
            else:
                pending.done.set_exception(outcome)
        table.compact()
        self._cache.settle(name)
