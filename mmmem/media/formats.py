"""The formats that are read, and what of a file Pillow does not bound by itself."""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from PIL import Image, PngImagePlugin

from mmmem.media import heaps, heic
from mmmem.media.profiles import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

heaps.fix_thresholds()
# Pillow imports most of itself at the first picture. Where file handles run short then, that would pass for a damaged one.
Image.init()
heic.register()
# What an ICC profile may unpack to, among others. Pillow's own limit of 1 MiB would cost pictures with a larger one.
PngImagePlugin.MAX_TEXT_CHUNK = LARGEST

# Pillow can read some forty formats, a few of them by running other programs; these are what people send. AVIF comes before
# HEIF: they share brands, and only Pillow's AVIF reader turns down what it cannot decode.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", heic.FORMAT)

# Each scan of a progressive JPEG is a pass over the whole picture. Cameras and web tools write some ten of them.
MOST_PASSES = 20
_LEAST_PIXELS = 1 << 20  # a scan of a smaller picture costs no less
# Pillow reads each of these in Python: a file of 10 MiB has room for two million, which take seconds. Tools write some thousands at most.
MOST_SEGMENTS = 20_000
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_SOS, _EOI = 0xDA, 0xD9
_MARKER = re.compile(rb"\xff([^\x00\x01\xd0-\xd7\xff])", re.DOTALL)  # but those without a length, which may be millions
_TILE = (322, 323)  # TileWidth and TileLength of TIFF


def begins_like_one(data: bytes) -> bool:
    """Whether the first bytes are those of a format that is read, be the rest as it may."""
    return any(accepts and accepts(data[:16]) for _, accepts in (Image.OPEN[name] for name in FORMATS))


def frame_pixels(image: Image.Image) -> int:
    """Pixels that decoding the current frame makes: width times height, or one tile of a TIFF, which may be far larger."""
    tags: Any = getattr(image, "tag_v2", {})
    width, height = (_number(tags.get(tag)) for tag in _TILE)
    return max(image.width * image.height, width * height)


def has_too_many_segments(data: bytes) -> bool:
    """Whether a PNG has more than MOST_SEGMENTS chunks, or a JPEG so many segments before its first scan."""
    if data.startswith(_PNG):
        segments: Iterator[object] = _chunks(data)
    elif data.startswith(_JPEG):
        segments = takewhile(lambda marker: marker != _SOS, _markers(data))
    else:
        return False
    return next(islice(segments, MOST_SEGMENTS, None), None) is not None


def _chunks(data: bytes) -> Iterator[int]:
    """Where the chunks of a PNG begin."""
    place = len(_PNG)
    while place + 8 <= len(data):
        yield place
        place += 12 + int.from_bytes(data[place : place + 4], "big")


def has_too_many_passes(image: Image.Image, data: bytes, most_pixels: int) -> bool:
    """Whether a JPEG has so many scans that decoding it costs more than MOST_PASSES over an image of `most_pixels`.

    A file of 10 MiB has room for 100,000 scans, which take hours.
    """
    if not data.startswith(_JPEG):
        return False
    most = MOST_PASSES * most_pixels // max(image.width * image.height, _LEAST_PIXELS)
    return data.count(b"\xff\xda") > most and sum(1 for marker in _markers(data) if marker == _SOS) > most


def _markers(data: bytes) -> Iterator[int]:
    """The markers of a JPEG up to the end of its image, found as libjpeg finds them: whatever lies between is skipped."""
    place = 2
    while found := _MARKER.search(data, place):
        marker, place = found[1][0], found.end()
        yield marker
        if marker == _EOI:
            return
        place += int.from_bytes(data[place : place + 2], "big")


def _number(value: Any) -> int:
    """A TIFF tag's value as a number, of several the largest; 0 where it is none."""
    values = value if isinstance(value, tuple) else (value,)
    return max((int(each) for each in values if isinstance(each, int | float)), default=0)
