"""Many calls at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def at_once(calls: Sequence[Callable[[], T]], callers: int) -> list[T]:
    """What the calls return, in their order, made by so many threads; raises the first error.

    The threads are daemons: one that hangs does not keep the process from ending.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for place in range(len(calls)):
        waiting.put(place)
    results: dict[int, T] = {}
    errors: list[Exception] = []

    def work() -> None:
        while not errors:
            try:
                place = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                results[place] = calls[place]()
            except Exception as error:  # raised again below, by the thread that asked
                errors.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[place] for place in range(len(calls))]
