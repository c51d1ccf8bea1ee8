"""The colours of a picture by the eleven basic colour terms (Berlin & Kay, 1969), which people use when they ask for one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mmmem.types import UInt8

# What stands for each: its best examples, dark and pale ones among them, in sRGB; and the words for it.
_EXAMPLES: dict[str, tuple[tuple[int, int, int], ...]] = {
    "black": ((0, 0, 0), (25, 25, 28)),
    "white": ((255, 255, 255), (235, 235, 232)),
    "grey": ((128, 128, 128), (70, 70, 72), (185, 185, 185)),
    "red": ((200, 20, 30), (140, 20, 25)),
    "green": ((30, 140, 50), (20, 80, 30), (120, 180, 80)),
    "yellow": ((250, 220, 30), (220, 200, 90)),
    "blue": ((30, 70, 190), (20, 30, 90), (110, 160, 220)),
    "brown": ((120, 70, 30), (80, 50, 30), (165, 115, 70)),
    "orange": ((240, 130, 20), (220, 100, 30)),
    "pink": ((250, 150, 180), (235, 110, 150)),
    "purple": ((120, 40, 140), (160, 110, 190)),
}
_WORDS = {
    "black": "black|黑",
    "white": "white|白",
    "grey": "gr[ae]y|silver|灰",
    "red": "red|crimson|scarlet|红|紅|赤",
    "green": "green|绿|綠|緑",
    "yellow": "yellow|gold(?:en)?|blond[e]?|黄|黃",
    "blue": "blue|navy|蓝|藍|青",
    "brown": "brown|beige|棕|褐|茶色",
    "orange": "orange|ginger|橙|橘",
    "pink": "pink|粉",
    "purple": "purple|violet|紫",
}
NAMES = tuple(_EXAMPLES)
_NAMED = [re.compile(rf"(?<![a-z])(?:{words})(?:ish)?(?![a-z])", re.IGNORECASE) for words in _WORDS.values()]
_SIDE = 32  # of the thumbnail whose pixels are named

_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])  # from linear sRGB
_WHITE = np.array([0.9505, 1.0, 1.089])  # D65


def colours(image: Image.Image) -> UInt8:
    """uint8 [11]: the share of each of NAMES in an RGB picture, 255 for all of it: every pixel is that of the nearest example."""
    thumbnail = image.resize((_SIDE, _SIDE), Image.Resampling.BOX)
    pixels = _lab(np.asarray(thumbnail).reshape(-1, 3))
    nearest = np.argmin(((pixels[:, None] - _POINTS) ** 2).sum(axis=2), axis=1)
    counts = np.bincount(_OWNERS[nearest], minlength=len(NAMES))
    shares: UInt8 = np.round(255 * counts / counts.sum()).astype(np.uint8)
    return shares


def named_colours(text: str) -> tuple[int, ...]:
    """The numbers of those of NAMES that a text names."""
    return tuple(number for number, words in enumerate(_NAMED) if words.search(text))


def _lab(levels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """CIELAB, float64 [n, 3], of sRGB, uint8 [n, 3]: there distances are about as far as they look."""
    scaled = levels / 255
    linear = np.where(scaled > 0.04045, ((scaled + 0.055) / 1.055) ** 2.4, scaled / 12.92)
    relative = linear @ _TO_XYZ.T / _WHITE
    x, y, z = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


_POINTS = _lab(np.array([point for points in _EXAMPLES.values() for point in points], dtype=np.uint8))
_OWNERS = np.repeat(np.arange(len(NAMES)), [len(points) for points in _EXAMPLES.values()])
