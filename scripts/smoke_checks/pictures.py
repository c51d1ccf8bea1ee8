"""Pictures that the checks draw, each unlike the others, and their files."""

from __future__ import annotations

import base64
import io
import os
import random

from demo_sample import data_url
from PIL import Image, ImageDraw


def drawn(number: int, size: tuple[int, int] = (160, 120)) -> Image.Image:
    """A dozen coloured shapes on a coloured ground, by number."""
    chance = random.Random(number)
    image = Image.new("RGB", size, _colour(chance))
    pen = ImageDraw.Draw(image)
    for _ in range(12):
        x, y = chance.randrange(size[0]), chance.randrange(size[1])
        width, height = (chance.randrange(10, side // 2) for side in size)
        shape = chance.choice((pen.ellipse, pen.rectangle))
        shape((x, y, x + width, y + height), fill=_colour(chance))
    return image


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


def noise(side: int) -> bytes:
    """A PNG of side x side random pixels, which takes 3 bytes for each."""
    return encoded(Image.frombytes("RGB", (side, side), os.urandom(3 * side * side)), "png", compress_level=0)


def size_of(url: str) -> tuple[int, int]:
    """Width and height of the image in a data URL; (0, 0) where it cannot be read."""
    try:
        with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as image:
            return image.size
    except (OSError, ValueError):
        return 0, 0


def _colour(chance: random.Random) -> tuple[int, int, int]:
    return chance.randrange(256), chance.randrange(256), chance.randrange(256)
