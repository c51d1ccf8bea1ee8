"""Users whose time is over: of whom nothing was written for as long as they may be kept."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from mmmem.errors import MmmemError

if TYPE_CHECKING:
    from mmmem.store.location import Location
    from mmmem.store.protocol import Store

logger = logging.getLogger(__name__)

DAY = 24 * 60 * 60
_ROUND_SECONDS = 60 * 60


def remove_expired(location: Location, before: float, removed: Callable[[str], object]) -> int:
    """Remove every table last written before a moment, Unix seconds, and tell of each by its name; how many that were."""
    count = 0
    for name in location.names():
        place = location.place(name)
        if not _expired(place.written(), before):
            continue
        with place.exclusive():
            # Again, now that nobody is writing.
            if _expired(place.written(), before) and place.remove():
                removed(name)
                count += 1
    return count


def _expired(written: float | None, before: float) -> bool:
    return written is not None and written < before


class Retention:
    """A thread that removes expired users, at once and then every hour."""

    def __init__(self, store: Store, days: float) -> None:
        """`days` after its last Add a user goes; 0: never."""
        self._store = store
        self._days = days
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start, where anything is ever to go."""
        if self._days:
            self._thread = threading.Thread(target=self._run, name="mmmem-retention", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop, once a round that is under way has ended."""
        self._stopped.set()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                count = self._store.delete_expired(self._days)
                if count:
                    logger.info("retention: %s expired users removed", f"{count:,}")
            except MmmemError as error:  # the next round tries again
                logger.warning("expired users could not be removed: %s", error)
            self._stopped.wait(_ROUND_SECONDS)
