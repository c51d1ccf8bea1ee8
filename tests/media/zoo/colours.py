"""Files whose colours are not simply there: transparency and ICC profiles."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
from PIL import Image, ImageDraw

from tests.media.zoo import icc, png
from tests.media.zoo.photos import heic
from tests.media.zoo.specimen import (
    BLACK,
    BLUE,
    DARK,
    GREEN,
    QUARTERS,
    RED,
    SIZE,
    WHITE,
    YELLOW,
    Colour,
    Shows,
    Specimen,
    encode,
    grey,
    ink,
    picture,
)  # fmt: skip

SWAPPED = (BLUE, RED, GREEN)  # and yellow becomes cyan, which sRGB does not hold


def transparency() -> Iterator[Specimen]:
    """Alpha in all its forms, on the ground on which the picture is seen."""
    for name, colour, ground in (
        ("black", BLACK, WHITE),
        ("red", RED, WHITE),
        ("white", WHITE, DARK),
        ("yellow", YELLOW, WHITE),
        ("pale", (250, 240, 200), DARK),
    ):
        drawn = Shows((colour, ground) * 2, tolerance=BARELY)
        yield Specimen(f"png, {name} ink on nothing", encode(ink(colour), "PNG"), drawn)
        yield Specimen(f"webp, {name} ink on nothing", encode(ink(colour), "WEBP", lossless=True), drawn)
    yield Specimen("avif, white ink on nothing", encode(ink(WHITE), "AVIF", quality=90), Shows((WHITE, DARK) * 2))
    yield Specimen("heic, white ink on nothing", heic(ink(WHITE)), Shows((WHITE, DARK) * 2))
    yield Specimen("tiff, white ink on nothing", encode(ink(WHITE), "TIFF"), Shows((WHITE, DARK) * 2))
    yield Specimen(
        "png, white ink, half there", encode(ink(WHITE, 128), "PNG"), Shows((grey(152)[0], DARK) * 2, tolerance=2)
    )
    yield Specimen(
        "png, grey with alpha, black ink", encode(ink(BLACK).convert("LA"), "PNG"), Shows((BLACK, WHITE) * 2)
    )
    yield Specimen("png, grey with alpha, white ink", encode(ink(WHITE).convert("LA"), "PNG"), Shows((WHITE, DARK) * 2))
    yield Specimen("png, nothing at all", encode(Image.new("RGBA", SIZE, (0, 0, 0, 0)), "PNG"), Shows((WHITE,) * 4))
    yield Specimen(
        "png, a light window with round corners", encode(window(), "PNG"), Shows((WHITE,) * 4, tolerance=BARELY)
    )
    yield Specimen("png, a mark in colour beside white writing", encode(logo(), "PNG"), Shows((RED, DARK) * 2))
    palette = picture(WHITE, BLUE, GREEN, RED).quantize(4)
    first = int(np.asarray(palette)[0, 0])
    drawn = Shows((WHITE, BLUE, GREEN, RED), tolerance=BARELY)
    yield Specimen("png, a transparent colour of a palette", encode(palette, "PNG", transparency=first), drawn)
    yield Specimen("gif, a transparent colour of a palette", encode(palette, "GIF", transparency=first), drawn)
    yield Specimen(
        "png, a transparent colour",
        encode(picture(), "PNG", transparency=RED),
        Shows((WHITE, *QUARTERS[1:]), tolerance=0),
    )
    shades = picture(*grey(0, 80, 160, 240)).convert("L")
    clear = png.sixteen_bits(shades, before=[(b"tRNS", b"\x00\x5a")])
    yield Specimen("png, 16-bit grey with a transparent level", clear, Shows(grey(255, 80, 160, 240), tolerance=1))


def profiles() -> Iterator[Specimen]:
    """ICC profiles: good ones are applied, others do not cost the picture."""
    swapped, odd = icc.swapped_rgb(), Shows()
    turned = Shows((*SWAPPED, (0, 222, 254)), tolerance=60)
    for image_format in ("PNG", "JPEG", "WEBP", "TIFF", "AVIF"):
        yield Specimen(
            f"{image_format.lower()}, profile", encode(picture(), image_format, quality=95, icc_profile=swapped), turned
        )
    yield Specimen("heic, profile", heic(picture(), icc_profile=swapped, icc_profile_type="prof"), turned)
    yield Specimen(
        "png, profile of 3 MB", encode(picture(), "PNG", icc_profile=icc.swapped_rgb(padding=3_000_000)), turned
    )
    palette = encode(picture().quantize(8), "PNG", icc_profile=swapped)
    yield Specimen("png, profile of a palette", palette, turned)
    yield Specimen("png, profile and alpha", encode(ink(RED), "PNG", icc_profile=swapped), Shows((BLUE, WHITE) * 2))
    shades = picture(*grey(0, 14, 55, 255)).convert("L")
    lighter = Shows(grey(0, 66, 128, 255), tolerance=3)
    yield Specimen("png, profile of grey", encode(shades, "PNG", icc_profile=icc.linear_grey()), lighter)
    yield Specimen(
        "png, profile of 16-bit grey",
        png.sixteen_bits(shades, before=[(b"iCCP", compressed(icc.linear_grey()))]),
        lighter,
    )
    none = Image.new("L", SIZE, 0)
    inks = Image.merge("CMYK", [none, none, none, picture(*grey(0, 255, 255, 0)).convert("L")])
    negative = Shows(grey(0, 255, 255, 0), tolerance=8)
    yield Specimen("jpeg, profile of a press", encode(inks, "JPEG", icc_profile=icc.negative_cmyk()), negative)
    yield Specimen("tiff, profile of a press", encode(inks, "TIFF", icc_profile=icc.negative_cmyk()), negative)
    broken = {
        "of nonsense": b"no profile at all",
        "cut off": swapped[:200],
        "empty": b"\0",
        "for another kind of picture": icc.negative_cmyk(),
        "in which all is black": icc.all_black_rgb(),
        "larger than is looked at": icc.swapped_rgb(padding=5_000_000),
    }
    for name, profile in broken.items():
        yield Specimen(f"jpeg, profile {name}", encode(picture(), "JPEG", quality=95, icc_profile=profile), odd)
    damaged = png.with_chunks(encode(picture(), "PNG"), (b"iCCP", b"x\0\0no zlib stream"))
    yield Specimen("png, profile that does not unpack", damaged, odd)


BARELY = 12


def compressed(profile: bytes) -> bytes:
    """The content of an iCCP chunk."""
    return b"x\0\0" + zlib.compress(profile)


def window() -> Image.Image:
    """A window of a program: dark writing on white, round transparent corners."""
    image = Image.new("RGBA", SIZE, (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((0, 0, 63, 47), 8, fill=(*WHITE, 255))
    for top in (4, 20, 30, 43):
        draw.line((10, top, 54, top), fill=(*BLACK, 255))
    return image


def logo() -> Image.Image:
    """A red bar, and much writing in white."""
    white: Colour = WHITE
    image = Image.new("RGBA", SIZE, (*white, 0))
    draw = ImageDraw.Draw(image)
    draw.rectangle((10, 6, 22, 42), fill=(*RED, 255))
    for left in range(30, 62, 4):
        draw.rectangle((left, 2, left + 1, 9), fill=(*white, 255))
        draw.rectangle((left, 36, left + 1, 44), fill=(*white, 255))
    return image
