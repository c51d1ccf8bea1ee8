"""Whether all pages of a TIFF are there. Pillow decodes one of them, and takes a file that ends after it for a whole one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mmmem.types import Int64

# Pages may overlap, and the places of their strips too: a file of 10 MiB could name billions.
MOST_PAGES = 5_000
MOST_NUMBERS = 1_000_000  # tags, and strips or tiles, of all pages together
_PLACES, _SIZES = (273, 324), (279, 325)  # tags of strips and of tiles
_WIDTHS = {3: 2, 4: 4, 16: 8}  # bytes of SHORT, LONG and LONG8, the types that places have


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a file writes numbers: `order` is numpy's; `wide` bytes for a place in it, `short` for the number of a page's tags."""

    order: str
    wide: int
    short: int

    @property
    def entry(self) -> np.dtype[Any]:
        """A tag of a page. Its values lie where `value` is if they fit there, else where it says."""
        number = f"{self.order}u{self.wide}"
        return np.dtype([("tag", f"{self.order}u2"), ("type", f"{self.order}u2"), ("count", number), ("value", number)])


_LAYOUTS = {
    b"II*\0": _Layout("<", 4, 2),
    b"MM\0*": _Layout(">", 4, 2),
    b"II+\0": _Layout("<", 8, 8),  # BigTIFF
    b"MM\0+": _Layout(">", 8, 8),
}


def is_cut_off(data: bytes) -> bool:
    """Whether this is a TIFF that lacks a page, or part of one after the first, which is decoded and so checked in any case.

    Raises OverflowError for one with more pages, or pieces of pages, than are looked at.
    """
    layout = _LAYOUTS.get(data[:4])
    return layout is not None and not _File(data, layout).is_whole()


@dataclass(slots=True)
class _File:
    data: bytes
    layout: _Layout
    looked_at: int = field(default=0)

    def is_whole(self) -> bool:
        """Whether every page, and what each after the first is made of, lies within the file."""
        return all(page is not None and (not number or self._holds(page)) for number, page in enumerate(self._pages()))

    def _pages(self) -> Iterator[NDArray[Any] | None]:
        """The tags of each page, in order, one at least; None, the last, for one that is not within the file."""
        layout, seen = self.layout, set[int]()
        place = self._number(layout.wide, layout.wide)  # behind the file's first 4 bytes, or 8
        if not place:
            yield None
        while place and place not in seen:
            seen.add(place)
            if len(seen) > MOST_PAGES:
                raise OverflowError
            count, first = self._number(place, layout.short), place + layout.short
            end = first + count * layout.entry.itemsize
            if not count or end + layout.wide > len(self.data):
                yield None
                return
            yield self._read(layout.entry, count, first)
            place = self._number(end, layout.wide)

    def _holds(self, page: NDArray[Any]) -> bool:
        """Whether all strips or tiles of a page lie within the file."""
        starts, sizes = (self._values(page, tags) for tags in (_PLACES, _SIZES))
        if starts is None or sizes is None:
            return False
        return len(starts) != len(sizes) or not bool((starts > len(self.data) - sizes).any())

    def _values(self, page: NDArray[Any], tags: tuple[int, int]) -> Int64 | None:
        """The values of one of these tags; none where the page lacks both, None where they lie beyond the file's end."""
        found = np.flatnonzero(np.isin(page["tag"], tags) & np.isin(page["type"], list(_WIDTHS)))
        if not len(found):
            return np.zeros(0, np.int64)
        entry = page[found[:1]]
        width, count = _WIDTHS[int(entry["type"][0])], int(entry["count"][0])
        packed = np.dtype(f"{self.layout.order}u{width}")
        place = int(entry["value"][0])
        if count * width <= self.layout.wide:
            written = np.frombuffer(entry["value"].tobytes(), packed, count)
        elif place + count * width <= len(self.data):
            written = self._read(packed, count, place)
        else:
            return None
        values: Int64 = np.minimum(written.astype(np.uint64), len(self.data) + 1).astype(np.int64)
        return values

    def _read(self, dtype: np.dtype[Any], count: int, place: int) -> NDArray[Any]:
        self.looked_at += count
        if self.looked_at > MOST_NUMBERS:
            raise OverflowError
        return np.frombuffer(self.data, dtype, count, place)

    def _number(self, place: int, size: int) -> int:
        return int.from_bytes(self.data[place : place + size], "little" if self.layout.order == "<" else "big")
