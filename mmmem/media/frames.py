"""Which frame of an animation, or page of a document, stands for the whole of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from mmmem.media.formats import frame_pixels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.types import Float32

# A HEIC or MPO file of several images shows its primary one; the others are bursts, depths and gain maps of it.
_ANIMATIONS = ("GIF", "PNG", "WEBP", "AVIF")
_PAGES = ("TIFF",)
_SIDE = 32  # of the thumbnails that are compared
_LEAST_RANGE = 24  # levels; a frame within fewer is a blank one: fades begin with it, scans have empty pages


def seek_representative(image: Image.Image, most_frames: int, most_pixels: int) -> int:
    """Go to the frame that stands for an opened image, and load it. Gives the number of pixels decoded on the way.

    Of an animation it is the frame nearest to the mean of those that show something, of pages the first that does. Frames are
    looked at from the first on, since each is drawn over the one before it: at most `most_frames`, and no more than have
    `most_pixels` together; the first in any case. Raises DecompressionBombError for a frame that has more by itself, and whatever
    Pillow does for a damaged file.
    """
    if image.format not in _ANIMATIONS + _PAGES:
        image.load()
        return frame_pixels(image)
    thumbnails: list[Float32] = []
    pixels = 0
    while len(thumbnails) < most_frames and _seek(image, len(thumbnails)):
        if frame_pixels(image) > most_pixels:  # a GIF grows with a frame beyond its screen, and stays so
            raise Image.DecompressionBombError("a frame is larger than the first one")
        pixels += frame_pixels(image)
        if thumbnails and pixels > most_pixels:
            break
        image.load()
        thumbnails.append(_thumbnail(image))
        if image.format in _PAGES and _shows_something(thumbnails[-1]):
            return pixels
    _seek(image, 0 if image.format in _PAGES else _nearest_to_mean(thumbnails))
    image.load()
    return pixels


def _seek(image: Image.Image, frame: int) -> bool:
    """Go to a frame; False where there is none."""
    try:
        image.seek(frame)
    except EOFError:
        return False
    return True


def _thumbnail(image: Image.Image) -> Float32:
    """float32 [32, 32, 3], what is transparent in grey."""
    small = image.convert("RGBA").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    ground = Image.new("RGBA", small.size, "grey")
    return np.asarray(Image.alpha_composite(ground, small).convert("RGB"), dtype=np.float32)


def _shows_something(thumbnail: Float32) -> bool:
    return float(np.ptp(thumbnail, axis=(0, 1)).max()) >= _LEAST_RANGE


def _nearest_to_mean(thumbnails: Sequence[Float32]) -> int:
    shown = [place for place, thumbnail in enumerate(thumbnails) if _shows_something(thumbnail)] or [0]
    frames = np.stack([thumbnails[place] for place in shown])
    return shown[int(np.argmin(((frames - frames.mean(axis=0)) ** 2).sum(axis=(1, 2, 3))))]
