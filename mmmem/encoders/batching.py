"""Encoding on a few threads of their own: what concurrent requests ask for shares passes, and questions go first.

Each thread runs torch on one core. That is as fast as one pass on all cores, without their coming together after each
product, and it makes a text's vectors the same bits whatever else is encoded (see network.py).
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import torch

from mmmem.errors import ModelUnavailable

if TYPE_CHECKING:
    from PIL.Image import Image

    from mmmem.encoders import Chance, ImageEncoder, TextEncoder
    from mmmem.encoders.device import Device
    from mmmem.types import Float32, ImageVectors, Int32, QueryEncoding, TextEncoding

log = logging.getLogger(__name__)
Item = TypeVar("Item")
Result = TypeVar("Result")
BATCH_COST = 6_000  # characters of text: some 1,500 tokens, a third of a second on one core


class Lane(IntEnum):
    """What waits, most urgent first."""

    QUERY = 0
    CAPTION = 1
    IMAGE = 2
    RERANK = 3
    MEMORY = 4


class _Job(Generic[Item, Result]):
    """One caller's items, and the results as they come."""

    def __init__(
        self, encode: Callable[[Sequence[Item]], Sequence[Result]], items: Sequence[Item], costs: Sequence[int]
    ) -> None:
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

    def __init__(self, device: Device, batch_size: int) -> None:
        self._share = device.threads
        self._batch_size = batch_size
        self._lanes: dict[Lane, deque[_Job[Any, Any]]] = {lane: deque() for lane in Lane}
        self._change = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, args=(device.name == "cpu",), name=f"encoder-{i}", daemon=True)
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
        job = _Job(encode, items, [cost(item) for item in items])
        with self._change:
            if self._closed:
                raise ModelUnavailable("the encoders are shut down")
            self._lanes[lane].append(job)
            self._change.notify_all()
        job.done.wait()
        if job.failed:
            raise ModelUnavailable("an encoder failed")
        return job.results

    def close(self) -> None:
        """Finish what waits, then stop."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self, one_core: bool) -> None:
        if one_core:
            torch.set_num_threads(1)  # OpenMP keeps this a thread: each encoder thread says it for itself
        while batch := self._next_batch():
            self._encode(batch)

    def _next_batch(self) -> list[tuple[_Job[Any, Any], int]]:
        """The next items of the most urgent lane in which anything waits."""
        with self._change:
            while True:
                for jobs in self._lanes.values():
                    if jobs:
                        return self._take(jobs)
                if self._closed:
                    return []
                self._change.wait()

    def _take(self, jobs: deque[_Job[Any, Any]]) -> list[tuple[_Job[Any, Any], int]]:
        """An item of each job in turn: a fair share for this thread, so that one Add is spread over all of them."""
        waiting = sum(len(job.items) - job.next for job in jobs)
        batch: list[tuple[_Job[Any, Any], int]] = []
        cost = 0
        while jobs and len(batch) < min(self._batch_size, -(-waiting // self._share)):
            job = jobs[0]
            cost += job.costs[job.next]
            if batch and cost > BATCH_COST:
                break
            batch.append((job, job.next))
            job.next += 1
            jobs.popleft()
            if job.next < len(job.items):
                jobs.append(job)
        return batch

    def _encode(self, batch: list[tuple[_Job[Any, Any], int]]) -> None:
        jobs = list(dict.fromkeys(job for job, _ in batch))
        try:
            results = jobs[0].encode([job.items[index] for job, index in batch])
        except Exception as fault:  # whatever a model raises must reach the callers, not end the thread
            if len(jobs) > 1:  # whose fault was it? a neighbour's input must not fail the others
                for job in jobs:
                    self._encode([entry for entry in batch if entry[0] is job])
                return
            log.error("an encoder failed: %s", type(fault).__name__)  # noqa: TRY400 - its message may hold stored text
            self._finish(batch, None)
        else:
            self._finish(batch, results)

    def _finish(self, batch: list[tuple[_Job[Any, Any], int]], results: Sequence[Any] | None) -> None:
        with self._change:
            for place, (job, index) in enumerate(batch):
                if results is None:
                    job.failed = True
                else:
                    job.results[index] = results[place]
                job.left -= 1
                if not job.left:
                    job.done.set()


class BatchedTextEncoder:
    """A TextEncoder that runs another one on EncoderThreads."""

    def __init__(self, encoder: TextEncoder, threads: EncoderThreads) -> None:
        self._encoder = encoder
        self._threads = threads
        self.name = encoder.name
        self.dimensions = encoder.dimensions
        self.token_dimensions = encoder.token_dimensions

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """See TextEncoder."""
        pairs = list(zip(texts, previous, strict=True))
        return self._threads.run(Lane.MEMORY, self._encode_pairs, pairs, cost=lambda pair: len(pair[0]) + len(pair[1]))

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """See TextEncoder."""
        return self._threads.run(Lane.QUERY, self._encoder.encode_queries, texts, cost=len)

    def token_texts(self, ids: Int32) -> list[str]:
        """See TextEncoder."""
        return self._encoder.token_texts(ids)

    def _encode_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[TextEncoding]:
        return self._encoder.encode_memories([text for text, _ in pairs], [before for _, before in pairs])


class BatchedImageEncoder:
    """An ImageEncoder that runs another one on EncoderThreads; `prepare` stays on the caller's thread."""

    def __init__(self, encoder: ImageEncoder, threads: EncoderThreads) -> None:
        self._encoder = encoder
        self._threads = threads
        self.name = encoder.name
        self.dimensions = encoder.dimensions
        self.appearance_dimensions = encoder.appearance_dimensions
        self.appearance_chance = encoder.appearance_chance

    def prepare(self, image: Image) -> Float32:
        """See ImageEncoder."""
        return self._encoder.prepare(image)

    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageVectors]:
        """See ImageEncoder."""
        return self._threads.run(Lane.IMAGE, self._encoder.encode_images, prepared)

    def encode_captions(self, texts: Sequence[str], encodings: Sequence[QueryEncoding]) -> list[Float32]:
        """See ImageEncoder."""
        return self._threads.run(Lane.CAPTION, self._encode_captions, list(zip(texts, encodings, strict=True)))

    def _encode_captions(self, captions: Sequence[tuple[str, QueryEncoding]]) -> list[Float32]:
        return self._encoder.encode_captions([text for text, _ in captions], [encoding for _, encoding in captions])

    def caption_chance(self, caption: Float32) -> Chance:
        """See ImageEncoder."""
        return self._encoder.caption_chance(caption)
