"""PNG files that Pillow does not write."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(name: bytes, data: bytes) -> bytes:
    """One chunk."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(size: tuple[int, int], pixels: bytes, *, depth: int = 8, colour: int = 2, interlaced: bool = False,
        before: Iterable[tuple[bytes, bytes]] = ()) -> bytes:  # fmt: skip
    """A file; `pixels` are its filtered lines, `before` chunks that come before them."""
    header = struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, int(interlaced))
    chunks = [(b"IHDR", header), *before, (b"IDAT", zlib.compress(pixels)), (b"IEND", b"")]
    return SIGNATURE + b"".join(chunk(*each) for each in chunks)


def lines(pixels: NDArray[np.uint8] | NDArray[np.uint16]) -> bytes:
    """Unfiltered lines of pixels [h, w] or [h, w, channels]."""
    return b"".join(b"\0" + line.astype(line.dtype.newbyteorder(">")).tobytes() for line in pixels)


def interlaced(image: Image.Image) -> bytes:
    """An RGB image in Adam7's seven passes."""
    pixels = np.asarray(image)
    passes = (pixels[top::down, left::across] for left, top, across, down in ADAM7)
    return png(image.size, b"".join(lines(each) for each in passes if each.size), interlaced=True)


def sixteen_bits(image: Image.Image, before: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """An L, RGB or RGBA image with 16 bits a channel; the lower eight are noise."""
    levels = (np.asarray(image).astype(np.uint16) << 8 | 0x5A).astype(np.uint16)
    colour = {"L": 0, "RGB": 2, "RGBA": 6}[image.mode]
    return png(image.size, lines(levels), depth=16, colour=colour, before=before)


def with_chunks(data: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    """A PNG file with more chunks after its header."""
    return data[:33] + b"".join(chunk(*each) for each in chunks) + data[33:]
