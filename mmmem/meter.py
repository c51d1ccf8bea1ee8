"""What the parts of the service tell of their work, for whoever counts it. It knows neither HTTP nor Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Meter:
    """Counts nothing: what counts overrides it. Every method is cheap, safe to call from any thread, and never raises."""

    def spent(self, operation: str, stage: str, seconds: float) -> None:
        """A stage of an operation ("add", "search", "explain") is over, or failed."""

    @contextmanager
    def stage(self, operation: str, stage: str) -> Iterator[None]:
        """Measure a stage, which may fail."""
        began = perf_counter()
        try:
            yield
        finally:
            self.spent(operation, stage, perf_counter() - began)

    def queued(self, lane: str, *, waiting: int = 0, running: int = 0) -> None:
        """So many more wait in a queue, and so many more are worked on; below 0: fewer."""

    def encoded(self, encoder: str, kind: str, items: int, seconds: float) -> None:
        """An encoder ("text", "image", "reranker", "provider") took `items` of a kind in one pass, which may have failed."""

    def looked_up(self, cache: str, *, hits: int = 0, misses: int = 0) -> None:
        """So much was found in a cache ("arrays", "embeddings"), and so much was not."""

    def holds(self, cache: str, nbytes: int) -> None:
        """What a cache of this process holds now, in bytes."""

    def committed(self, requests: int, seconds: float) -> None:
        """The store took so many requests as one commit, or refused them."""

    def ready(self, device: str) -> None:
        """The service is built, its encoders on this device."""


NO_METER = Meter()
