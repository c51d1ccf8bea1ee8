"""The users whose arrays stay in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from mmmem.meter import NO_METER, Meter

if TYPE_CHECKING:
    from mmmem.store.table import UserTable


class TableCache:
    """Tables by name, up to a number of bytes; the least recently used leave first, the one in use never does."""

    def __init__(self, limit: int, make: Callable[[str], UserTable], meter: Meter = NO_METER) -> None:
        self._limit = limit
        self._make = make
        self._meter = meter
        self._lock = threading.Lock()
        self._tables: OrderedDict[str, UserTable] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._total = 0

    def get(self, name: str) -> UserTable:
        """The table of this name, made when it is not held."""
        with self._lock:
            if name not in self._tables:
                self._tables[name] = self._make(name)
            self._tables.move_to_end(name)
            return self._tables[name]

    def drop(self, name: str) -> None:
        """Let a table go that is no more."""
        with self._lock:
            if self._tables.pop(name, None):
                self._total -= self._sizes.pop(name, 0)
                self._meter.holds("arrays", self._total)

    def settle(self, name: str) -> None:
        """Count what a table holds now that it was used, and let others go that no longer fit."""
        with self._lock:
            if name in self._tables:
                size = self._tables[name].nbytes
                self._total += size - self._sizes.get(name, 0)
                self._sizes[name] = size
            while self._total > self._limit and len(self._tables) > 1:
                oldest, _ = self._tables.popitem(last=False)
                self._total -= self._sizes.pop(oldest, 0)
            self._meter.holds("arrays", self._total)
