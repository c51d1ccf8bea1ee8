"""A look at what the store takes on disk, again and again."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import TYPE_CHECKING

from mmmem.api.worker_counts import Turn
from mmmem.store.faults import describe

if TYPE_CHECKING:
    from mmmem.api.metrics import Metrics
    from mmmem.store import Part

log = logging.getLogger(__name__)

_BUSY_SECONDS = 0.01  # that it looks without a pause
_REST = 19  # times as long it rests: it takes a twentieth of one core, however many users there are


class StoreWatch:
    """A thread that counts the files in a data folder every `seconds`, in one of the workers; 0: never."""

    def __init__(self, metrics: Metrics, seconds: float) -> None:
        self._metrics = metrics
        self._seconds = seconds
        self._turn = Turn()
        self._stopped = threading.Event()

    def begin(self, on_disk: Callable[[], Iterable[Part]]) -> None:
        """Start, with where the parts come from."""
        if self._seconds:
            threading.Thread(target=self._run, args=(on_disk,), name="mmmem-store-watch", daemon=True).start()

    def close(self) -> None:
        """Stop at the next part; nothing waits for it."""
        self._stopped.set()

    def _run(self, on_disk: Callable[[], Iterable[Part]]) -> None:
        told = False
        while not self._stopped.is_set():
            try:
                if self._turn.mine():
                    self._look(on_disk())
                told = False
            except Exception as error:  # the next round tries again
                if not told:
                    log.warning("the store's files could not be counted: %s", describe(error))
                told = True
            self._stopped.wait(self._seconds)

    def _look(self, parts: Iterable[Part]) -> None:
        users = 0
        files: Counter[str] = Counter(users=0, other=0)
        nbytes: Counter[str] = Counter(users=0, other=0)
        began = perf_counter()
        for part in parts:
            users += part.kind == "users"
            files[part.kind] += part.files
            nbytes[part.kind] += part.nbytes
            busy = perf_counter() - began
            if busy > _BUSY_SECONDS:
                if self._stopped.wait(_REST * busy):
                    return
                began = perf_counter()
        self._metrics.measured(users, files, nbytes)
