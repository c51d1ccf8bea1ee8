"""Memories with their images' bytes, as many as one answer holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.presentation import with_images_that_fit, without_images

if TYPE_CHECKING:
    from mmmem.settings import Settings
    from mmmem.store import Store, UserArrays
    from mmmem.types import Int64, Memory


class ImageBudget:
    """Reads images from a store within `max_images` and `response_max_bytes`."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store

    def load(self, user_id: str, rows: Int64, arrays: UserArrays) -> dict[int, Memory]:
        """The rows' memories with their images; a note in place of those of the later rows where an answer does not hold them all.

        rows: int64 [r], the most wanted first. One that was deleted meanwhile may be missing. Raises StoreUnavailable.
        """
        kept = self._images_that_fit(rows, arrays)
        pictured = {arrays.memories[row].id: row for row, fits in kept.items() if any(fits)}
        wanted = [arrays.memories[row] for row in pictured.values()]
        memories = {
            row: without_images(arrays.memories[row]) if row in kept else arrays.memories[row]
            for row in rows.tolist()
            if not any(kept.get(row, ()))
        }
        for memory in self._store.load_images(user_id, wanted) if wanted else ():
            row = pictured[memory.id]
            memories[row] = with_images_that_fit(memory, kept[row])
        return memories

    def _images_that_fit(self, rows: Int64, arrays: UserArrays) -> dict[int, list[bool]]:
        """Of each row with images which of them an answer holds; the first rows, and the first of each, choose first."""
        places = self._settings.max_images
        room = self._settings.response_max_bytes * 3 // 4  # Base64 makes four characters of three bytes
        ends = np.searchsorted(arrays.images.owners, np.stack((rows, rows + 1), axis=1)).tolist()
        kept: dict[int, list[bool]] = {}
        for row, (first, end) in zip(rows.tolist(), ends, strict=True):
            for size in arrays.images.sizes[first:end].tolist():
                fits = places > 0 and size <= room
                if fits:
                    places, room = places - 1, room - size
                kept.setdefault(row, []).append(fits)
        return kept
