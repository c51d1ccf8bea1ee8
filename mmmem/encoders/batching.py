"""Encoding on a few threads of their own: what concurrent requests ask for shares passes, and questions wait for no memory.

Each thread runs torch on one core. That is as fast as one pass on all cores, without their coming together after each
product, and it makes a text's vectors the same bits whatever else is encoded (see network.py).

Questions have threads beside those of memories, and share them with what else a search computes: as many as cores, first
come first served. More searches at once than cores would fight for the interpreter's lock, which took half of the time; and
while the threads are busy, questions gather and share a pass, which costs one a third of a pass of its own.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from enum import IntEnum
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import torch

from mmmem.errors import ModelUnavailable
from mmmem.meter import NO_METER, Meter

if TYPE_CHECKING:
    from mmmem.encoders.device import Device

log = logging.getLogger(__name__)
Item = TypeVar("Item")
Result = TypeVar("Result")
P = ParamSpec("P")
BATCH_COST = 6_000  # characters of text: some 1,500 tokens, a third of a second on one core


class Lane(IntEnum):
    """What waits, most urgent first."""

    QUERY = 0
    CAPTION = 1
    IMAGE = 2
    RERANK = 3
    MEMORY = 4

    @property
    def kind(self) -> str:
        """What a meter is told that is encoded."""
        return self.name.lower()

    @property
    def encoder(self) -> str:
        """What a meter is told that encodes it."""
        return {Lane.CAPTION: "image", Lane.IMAGE: "image", Lane.RERANK: "reranker"}.get(self, "text")


QUESTIONS = (Lane.QUERY, Lane.CAPTION)  # on the threads of searches; the others on the encoders' own


class _Job(Generic[Item, Result]):
    """One caller's items, and the results as they come."""

    def __init__(
        self,
        lane: Lane,
        encode: Callable[[Sequence[Item]], Sequence[Result]],
        items: Sequence[Item],
        costs: Sequence[int],
    ) -> None:
        self.lane = lane
        self.context = copy_context()  # of whoever waits: a log line tells for which request it was
        self.encode = encode
        self.items = items
        self.costs = costs
        self.next = 0
        self.results: list[Any] = [None] * len(items)
        self.left = len(items)
        self.failed = False
        self.done = threading.Event()


class EncoderThreads:
    """A bounded set of threads that encode. Every lane is always given the same function.

    A pass holds at most `batch_size` items, and no more of a second one than BATCH_COST together: what waits behind it
    waits a fraction of a second. The callers in a lane take turns, so a large Add does not hold up a small one.
    """

    def __init__(self, device: Device, batch_size: int, meter: Meter = NO_METER) -> None:
        self._meter = meter
        self._share = device.threads
        self._batch_size = batch_size
        self._lanes: dict[Lane, deque[_Job[Any, Any]]] = {lane: deque() for lane in Lane}
        self._change = threading.Condition()
        self._closed = False
        one_core = device.name == "cpu"
        self._searches = ThreadPoolExecutor(device.cores, "search", _use_one_core if one_core else None)
        self._threads = [
            threading.Thread(target=self._work, args=(one_core,), name=f"encoder-{i}", daemon=True)
            for i in range(device.threads)
        ]
        for thread in self._threads:
            thread.start()

    def run(
        self,
        lane: Lane,
        encode: Callable[[Sequence[Item]], Sequence[Result]],
        items: Sequence[Item],
        cost: Callable[[Item], int] = lambda item: 1,
    ) -> list[Result]:
        """Encode the items among what others wait for, and wait for it; ModelUnavailable when the encoder fails.

        `cost` is how much work an item is, in characters of text.
        """
        if not items:
            return []
        job = _Job(lane, encode, items, [cost(item) for item in items])
        with self._change:
            if self._closed:
                raise ModelUnavailable("the encoders are shut down")
            self._lanes[lane].append(job)
            self._meter.queued(f"encode_{lane.kind}", waiting=len(items))
            if lane in QUESTIONS:
                self._searches.submit(self._encode_waiting, self._lanes[lane])
            else:
                self._change.notify_all()
        job.done.wait()
        if job.failed:
            raise ModelUnavailable("an encoder failed")
        return job.results

    def compute(self, function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
        """Run what a search computes in its turn, and wait for it. It must not encode questions itself."""
        with self._change:
            if self._closed:
                raise ModelUnavailable("the encoders are shut down")
            future = self._searches.submit(copy_context().run, partial(function, *args, **kwargs))
        return future.result()

    def close(self) -> None:
        """Finish what waits, then stop."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        self._searches.shutdown()
        for thread in self._threads:
            thread.join()

    def _encode_waiting(self, jobs: deque[_Job[Any, Any]]) -> None:
        """What has gathered since this was asked for; an earlier pass may have taken it."""
        while True:
            with self._change:
                batch = self._take(jobs, share=1)
            if not batch:
                return
            self._encode(batch)

    def _work(self, one_core: bool) -> None:
        if one_core:
            _use_one_core()
        while batch := self._next_batch():
            self._encode(batch)

    def _next_batch(self) -> list[tuple[_Job[Any, Any], int]]:
        """The next items of the most urgent lane in which anything waits, questions aside."""
        with self._change:
            while True:
                for lane, jobs in self._lanes.items():
                    if jobs and lane not in QUESTIONS:
                        return self._take(jobs, self._share)
                if self._closed:
                    return []
                self._change.wait()

    def _take(self, jobs: deque[_Job[Any, Any]], share: int) -> list[tuple[_Job[Any, Any], int]]:
        """An item of each job in turn: one of `share` parts of them, so that one Add is spread over all threads."""
        waiting = sum(len(job.items) - job.next for job in jobs)
        batch: list[tuple[_Job[Any, Any], int]] = []
        cost = 0
        while jobs and len(batch) < min(self._batch_size, -(-waiting // share)):
            job = jobs[0]
            cost += job.costs[job.next]
            if batch and cost > BATCH_COST:
                break
            batch.append((job, job.next))
            job.next += 1
            jobs.popleft()
            if job.next < len(job.items):
                jobs.append(job)
        if batch:
            self._meter.queued(f"encode_{batch[0][0].lane.kind}", waiting=-len(batch), running=len(batch))
        return batch

    def _encode(self, batch: list[tuple[_Job[Any, Any], int]]) -> None:
        jobs = list(dict.fromkeys(job for job, _ in batch))
        lane = jobs[0].lane
        began = perf_counter()
        try:
            try:
                results = jobs[0].encode([job.items[index] for job, index in batch])
            finally:
                self._meter.encoded(lane.encoder, lane.kind, len(batch), perf_counter() - began)
        except Exception as fault:  # whatever a model raises must reach the callers, not end the thread
            if len(jobs) > 1:  # whose fault was it? a neighbour's input must not fail the others
                for job in jobs:
                    self._encode([entry for entry in batch if entry[0] is job])
                return
            # Not its message, which may hold stored text.
            jobs[0].context.copy().run(log.error, "an encoder failed: %s", type(fault).__name__)
            self._finish(batch, None)
        else:
            self._finish(batch, results)

    def _finish(self, batch: list[tuple[_Job[Any, Any], int]], results: Sequence[Any] | None) -> None:
        self._meter.queued(f"encode_{batch[0][0].lane.kind}", running=-len(batch))
        with self._change:
            for place, (job, index) in enumerate(batch):
                if results is None:
                    job.failed = True
                else:
                    job.results[index] = results[place]
                job.left -= 1
                if not job.left:
                    job.done.set()


def _use_one_core() -> None:
    torch.set_num_threads(1)  # OpenMP keeps this a thread: each says it for itself
