"""What a file of the zoo is, and the pictures most of them show."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageDraw

Colour = tuple[int, int, int]

RED, BLUE, GREEN, YELLOW = (255, 0, 0), (0, 0, 255), (0, 160, 0), (255, 220, 0)
WHITE, BLACK, DARK = (255, 255, 255), (0, 0, 0), (48, 48, 48)
SIZE = (64, 48)
QUARTERS = (RED, BLUE, GREEN, YELLOW)


@dataclass(frozen=True)
class Shows:
    """A file that is read. quarters: the colours in the middle of the picture's quarters: top left, top right, bottom left, bottom right."""

    quarters: tuple[Colour, ...] = QUARTERS
    size: tuple[int, int] = SIZE
    tolerance: int = 40


@dataclass(frozen=True)
class Refused:
    """A file that is not read. status: 422 or 413; problem: a part of what the caller is told."""

    problem: str = "damaged or cut off"
    status: int = 422


@dataclass(frozen=True)
class Specimen:
    """A file of the zoo."""

    name: str
    data: bytes
    expected: Shows | Refused

    def __str__(self) -> str:
        return self.name


def picture(*quarters: Colour, size: tuple[int, int] = SIZE) -> Image.Image:
    """Mode RGB: four quarters of a colour each, so that one sees which way up it is."""
    image = Image.new("RGB", size)
    width, height = size[0] // 2, size[1] // 2
    for place, colour in enumerate(quarters or QUARTERS):
        image.paste(
            colour, (place % 2 * width, place // 2 * height, (place % 2 + 1) * width, (place // 2 + 1) * height)
        )
    return image


def grey(*levels: int) -> tuple[Colour, ...]:
    """Grey quarters."""
    return tuple((level, level, level) for level in levels)


def ink(colour: Colour, alpha: int = 255) -> Image.Image:
    """Mode RGBA: a bar of a colour over the two left quarters' middles and a ring in the right half, on nothing."""
    image = Image.new("RGBA", SIZE, (*colour, 0))
    draw = ImageDraw.Draw(image)
    draw.rectangle((10, 6, 22, 42), fill=(*colour, alpha))
    draw.ellipse((38, 4, 60, 44), outline=(*colour, alpha), width=3)
    return image


def encode(image: Image.Image, image_format: str, **options: Any) -> bytes:
    """The image as a file of Pillow's."""
    file = io.BytesIO()
    image.save(file, image_format, **options)
    return file.getvalue()


def oriented(orientation: int) -> tuple[Image.Image, Image.Exif]:
    """The picture as a camera held another way stores it, and the EXIF that says so."""
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = picture().transpose(undo[orientation]) if orientation in undo else picture()
    exif = Image.Exif()
    exif[0x0112] = orientation
    return stored, exif
