"""What glibc's heaps keep of pictures, and how it goes back to the system. Other C libraries lack these functions, or ignore them."""

from __future__ import annotations

import contextlib
import ctypes
import threading

# glibc takes blocks of up to 32 MiB from the heap of each thread once it has freed one of that size, and such a heap hardly ever goes
# back to the system: Pillow keeps a picture in blocks of 16 MiB, and eight threads kept 8 GB of eight pictures. With fixed thresholds
# those go back at once, and the smaller arrays of a search still do not.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_TRIM_PIXELS = 1_000_000  # decoded between two trims: each larger photo, and one of several thumbnails


def fix_thresholds() -> None:
    """Have blocks of 12 MiB and more come from the system and go back to it. For the whole process."""
    _call("mallopt", _M_MMAP_THRESHOLD, 12 << 20)
    _call("mallopt", _M_TRIM_THRESHOLD, 24 << 20)


class HeapTrim:
    """Gives back the free pages in the middle of all heaps, which glibc keeps for ever.

    Reading the text of a photo leaves some 100 to 250 MiB of them in the heap of its thread, and the next photo may come on another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pixels = 0

    def after(self, pixels: int) -> None:
        """A picture of so many pixels was decoded, worked on and let go of."""
        with self._lock:
            self._pixels += pixels
            if self._pixels < _TRIM_PIXELS:
                return
            self._pixels = 0
        _call("malloc_trim", 0)


def _call(function: str, *arguments: int) -> None:
    with contextlib.suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), function)(*arguments)
