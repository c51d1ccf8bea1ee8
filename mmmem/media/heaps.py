"""The heaps of glibc, which keep for their threads what pictures took of them, and how it goes back to the system.

Other C libraries have none of these functions, or ignore them.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading

# glibc takes blocks of up to 32 MiB from the heap of each thread once it has freed one of that size, and such a heap hardly ever goes
# back to the system: Pillow keeps a picture in blocks of 16 MiB, and eight threads kept 8 GB of eight pictures. With fixed thresholds
# those go back at once, and the smaller arrays of a search still do not.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = 12 << 20, 24 << 20
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_UNUSUAL = (AttributeError, OSError, TypeError)
# Decoded since the last time. The photos of a telephone are larger, each; thumbnails come many at once.
_PIXELS = 1_000_000


def fix_thresholds() -> None:
    """For the whole process."""
    with contextlib.suppress(*_UNUSUAL):
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD)
        libc.mallopt(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD)


class Leftovers:
    """Gives back what smaller blocks left: reading the text of one photo leaves hundreds of MiB in the heap of its thread,
    free and resident, and the next photo may come on another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pixels = 0

    def of(self, pixels: int) -> None:
        """A picture of so many pixels was decoded, and let go of."""
        with self._lock:
            self._pixels += pixels
            if self._pixels < _PIXELS:
                return
            self._pixels = 0
        with contextlib.suppress(*_UNUSUAL):
            ctypes.CDLL(None).malloc_trim(0)
