"""A user's memories in the order in which they happened, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmmem.errors import InvalidInput
from mmmem.image_budget import ImageBudget
from mmmem.types import TextPart

if TYPE_CHECKING:
    from mmmem.settings import Settings
    from mmmem.store import Store, UserArrays
    from mmmem.types import Int64, Memory, Part

PLACE_CHARS = 24  # of a place, beside the memory's id


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which of a user's memories, and which part of those. `after`: the place of a page's last memory, as Page.place says it."""

    user_id: str
    limit: int
    session_id: str | None = None
    newest_first: bool = False
    with_images: bool = True
    after: str | None = None


class Listed(NamedTuple):
    """A memory as it was stored, and how many images it has: there may be no room for all of them, or none wanted."""

    memory: Memory
    images: int


@dataclass(frozen=True, slots=True)
class Page:
    """Memories in their order; `total` counts those of all pages, `more` says whether others follow."""

    memories: tuple[Listed, ...]
    total: int
    more: bool


class Listing:
    """Lists what is in one store."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._store = store
        self._images = ImageBudget(settings, store)

    def page(self, query: PageQuery) -> Page:
        """Ordered by `created_at`, those of one moment as they were stored. Raises InvalidInput for a place that is none.

        Whatever is added or removed while somebody turns pages, none of the other memories is missed.
        """
        arrays = self._store.arrays(query.user_id)
        order = _in_time(arrays, query.session_id)
        first, end = _rest(order, arrays, query)
        rows = order[first:end]
        rows = rows[::-1][: query.limit] if query.newest_first else rows[: query.limit]
        memories = self._listed(query.user_id, rows, arrays, with_images=query.with_images)
        return Page(memories, len(order), end - first > len(rows))

    def memory(self, user_id: str, memory_id: str) -> Listed | None:
        """One memory with its images; None where the user has no such one."""
        arrays = self._store.arrays(user_id)
        rows = [row for row, memory in enumerate(arrays.memories) if memory.id == memory_id]
        return next(iter(self._listed(user_id, np.array(rows, np.int64), arrays)), None)

    def _listed(self, user_id: str, rows: Int64, arrays: UserArrays, *, with_images: bool = True) -> tuple[Listed, ...]:
        stored = {row: arrays.memories[row] for row in rows.tolist()}
        if with_images:
            shown = self._images.load(user_id, rows, arrays)
        else:
            shown = {row: replace(memory, parts=_texts(memory)) for row, memory in stored.items()}
        images = {row: len(memory.parts) - len(_texts(memory)) for row, memory in stored.items()}
        return tuple(Listed(shown[row], images[row]) for row in stored if row in shown)  # else removed meanwhile


def place_of(memory: Memory) -> str:
    """Where a page ends, as the next one is asked for; it stays good when the memory is removed."""
    return f"{memory.created_at}.{memory.id}"


def _texts(memory: Memory) -> tuple[Part, ...]:
    return tuple(part for part in memory.parts if isinstance(part, TextPart))


def _in_time(arrays: UserArrays, session_id: str | None) -> Int64:
    """Rows of a user's memories, or of a session's, by time."""
    rows = np.arange(len(arrays)) if session_id is None else arrays.session_rows(session_id)
    return rows[np.argsort(arrays.times[rows], kind="stable")]


def _rest(order: Int64, arrays: UserArrays, query: PageQuery) -> tuple[int, int]:
    """Which of the ordered rows come after the place, from and to; in time before it where the newest come first."""
    if query.after is None:
        return 0, len(order)
    created_at, dot, memory_id = query.after.partition(".")
    try:
        time = int(created_at) if dot else None
    except ValueError:
        time = None
    if time is None or not -(2**63) <= time < 2**63:
        raise InvalidInput("after", "is no place that a page gave as `next`")
    times = arrays.times[order]
    first, end = np.searchsorted(times, time, "left"), np.searchsorted(times, time, "right")
    same = (place for place in range(first, end) if arrays.memories[order[place]].id == memory_id)
    place = next(same, None)  # none: it was removed; then all of its moment come again, rather than that one is missed
    if query.newest_first:
        return 0, int(end) if place is None else place
    return int(first) if place is None else place + 1, len(order)
