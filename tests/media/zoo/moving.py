"""Files of several frames or pages."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from PIL import Image

from tests.media.zoo.specimen import BLACK, QUARTERS, SIZE, WHITE, Shows, Specimen, encode, picture


def animations() -> Iterator[Specimen]:
    """The frame that stands for all."""
    blank, shown = Image.new("RGB", SIZE, WHITE), picture()
    other = picture(*reversed(QUARTERS))
    for image_format in ("GIF", "PNG", "WEBP", "AVIF"):
        name = f"{image_format.lower()}, animation"
        yield Specimen(f"{name} that starts with it", animated([shown, blank, blank], image_format), Shows())
        yield Specimen(f"{name} with an empty start", animated([blank, shown, shown], image_format), Shows())
        fading = [Image.blend(Image.new("RGB", SIZE), shown, share) for share in (0.0, 0.02, 0.95, 1.0, 1.0)]
        yield Specimen(f"{name} that fades in from black", animated(fading, image_format), Shows(tolerance=60))
        mostly = [other, shown, Image.blend(shown, blank, 0.1), Image.blend(shown, blank, 0.05)]
        yield Specimen(f"{name} that mostly shows it", animated(mostly, image_format), Shows(tolerance=60))
        alike = Shows((WHITE,) * 4, tolerance=4)
        yield Specimen(
            f"{name} of blank frames", animated([blank, Image.new("RGB", SIZE, (250, 250, 250))], image_format), alike
        )
    yield Specimen("gif, frames that draw a corner each", corners(), Shows())
    yield Specimen("gif, of 100,000 frames", many_frames(100_000), Shows())


def documents() -> Iterator[Specimen]:
    """The first page that shows something."""
    blank, shown, last = Image.new("RGB", SIZE, WHITE), picture(), picture(BLACK)
    yield Specimen("tiff, two pages", animated([shown, last], "TIFF"), Shows())
    yield Specimen("tiff, two pages, compressed", animated([shown, last], "TIFF", compression="tiff_lzw"), Shows())
    yield Specimen("tiff, an empty page first", animated([blank, shown, last], "TIFF"), Shows())
    yield Specimen("tiff, empty pages only", animated([blank, blank], "TIFF"), Shows((WHITE,) * 4))
    yield Specimen(
        "tiff, pages of different sizes", animated([blank, picture(size=(100, 40))], "TIFF"), Shows(size=(100, 40))
    )
    yield Specimen("tiff, pages that go round in a circle", circle(), Shows())


def animated(frames: list[Image.Image], image_format: str, **options: Any) -> bytes:
    """An animation or a document."""
    if image_format != "TIFF":
        options |= {"duration": 50}
    if image_format in ("WEBP", "AVIF"):
        options |= {"quality": 95}
    return encode(frames[0], image_format, save_all=True, append_images=frames[1:], **options)


def corners() -> bytes:
    """A GIF whose frames each add a quarter to the ones before, the whole picture being the most common."""
    empty = (WHITE,) * 4
    frames = [picture(*QUARTERS[:shown], *empty[shown:]) for shown in range(1, 5)]
    last = [picture(*QUARTERS[:3], (255, level, 0)) for level in (210, 215, 225)]
    return animated([*frames, *last], "GIF", disposal=1)


def many_frames(count: int) -> bytes:
    """A GIF whose first frame is the picture, and then ever the same pixel."""
    whole = encode(picture(), "GIF", interlace=False)
    one_pixel = b"!\xf9\x04\x05\x02\x00\x00\x00,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0"
    return whole.removesuffix(b";") + one_pixel * count + b";"


def growing(width: int, height: int) -> bytes:
    """A GIF whose second frame lies beyond its screen, which grows to that size with it."""
    frame = b"," + struct.pack("<HHHHB", width - 1, height - 1, 1, 1, 0) + b"\x02\x02D\x01\0;"
    return encode(picture(), "GIF", interlace=False).removesuffix(b";") + frame


def circle() -> bytes:
    """A TIFF whose second page, an empty first one before it, says that the first is the next."""
    data = bytearray(animated([Image.new("RGB", SIZE, WHITE), picture()], "TIFF"))
    first = int.from_bytes(data[4:8], "little")
    second = int.from_bytes(
        data[(end := first + 2 + 12 * int.from_bytes(data[first : first + 2], "little")) : end + 4], "little"
    )
    end = second + 2 + 12 * int.from_bytes(data[second : second + 2], "little")
    data[end : end + 4] = data[4:8]
    return bytes(data)
