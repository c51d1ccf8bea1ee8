"""Pictures that the checks draw, each unlike the others, and their files."""

from __future__ import annotations

import base64
import io
import random

from demo_sample import data_url
from PIL import Image


def drawn(number: int, size: tuple[int, int] = (160, 120)) -> Image.Image:
    """Soft spots of colour, by number: nothing that OCR would spend time on."""
    spots = Image.frombytes("RGB", (5, 4), random.Random(number).randbytes(5 * 4 * 3))
    return spots.resize(size, Image.Resampling.BICUBIC)


def encoded(image: Image.Image, kind: str = "png", **options: int) -> bytes:
    """The image as a file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def picture(number: int, kind: str = "png") -> str:
    """A drawn picture as a data URL."""
    return data_url(encoded(drawn(number), kind), kind)


def altered_copy(number: int) -> str:
    """The same picture smaller and with the losses of JPEG."""
    return data_url(encoded(drawn(number).resize((120, 90)), "jpeg", quality=80), "jpeg")


def large(side: int, number: int = 0) -> bytes:
    """A PNG of side x side pixels that takes 3 bytes for each: it is not compressed."""
    return encoded(drawn(number, (side, side)), "png", compress_level=0)


def size_of(url: str) -> tuple[int, int]:
    """Width and height of the image in a data URL; (0, 0) where it cannot be read."""
    try:
        with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
            return image.size
    except (OSError, ValueError):
        return 0, 0
