"""Perceptual hashes: images that look the same have nearly the same few numbers, however they were saved or resized.

The hash is a thumbnail of grey levels without the frame around the picture (block means: Yang, Gu & Niu, 2006). It is not cut down to bits, so
that two hashes can be compared by their correlation, which a brighter or paler copy does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from mmmem.types import UInt8

SIDE = 16  # of the thumbnail
LENGTH = SIDE * SIDE
_LOOK = 128  # side of the picture in which its frame is looked for
_FLAT = 12  # grey levels within which a line is one colour
_MOST = 60  # of those 128 lines are at most taken off at each side
_LEAST_PIXELS = 8  # a side of what is left


def without_frame(image: Image.Image) -> Image.Image:
    """The picture without letterbox bars, margins or the page it was pasted on: lines of one colour at each side are cut off."""
    grey = np.asarray(image.convert("L").resize((_LOOK, _LOOK), Image.Resampling.BILINEAR), dtype=np.int16)
    top, bottom = _flat_lines(grey), _flat_lines(grey[::-1])
    left, right = _flat_lines(grey.T), _flat_lines(grey.T[::-1])
    width, height = image.width / _LOOK, image.height / _LOOK
    box = (int(left * width), int(top * height), int((_LOOK - right) * width), int((_LOOK - bottom) * height))
    if min(box[2] - box[0], box[3] - box[1]) < _LEAST_PIXELS:
        return image
    return image.crop(box)


def fingerprint(image: Image.Image) -> UInt8:
    """uint8 [256]: grey levels, row by row, of a picture without its frame."""
    thumbnail = image.convert("L").resize((SIDE, SIDE), Image.Resampling.BICUBIC, reducing_gap=3.0)
    return np.asarray(thumbnail, dtype=np.uint8).ravel()


def _flat_lines(grey: np.ndarray[tuple[int, int], np.dtype[np.int16]]) -> int:
    """How many lines from the first on are all of the colour of the first."""
    flat = (np.ptp(grey, axis=1) <= _FLAT) & (np.abs(grey.mean(axis=1) - grey[0].mean()) <= _FLAT)
    return min(int(np.argmin(flat)) if not flat.all() else 0, _MOST)
