"""Some 200 image files as people send them, and as nobody should: made here, each with what is to come of it."""

from __future__ import annotations

from functools import cache

from tests.media.zoo import bad, colours, moving, photos
from tests.media.zoo.specimen import Shows, Specimen

FAMILIES = (
    photos.jpeg, photos.png_files, photos.webp, photos.gif_and_bmp, photos.tiff, photos.avif_and_heic,
    colours.transparency, colours.profiles, moving.animations, moving.documents,
    bad.cut_off, bad.no_images, bad.too_large, bad.bombs,
)  # fmt: skip


@cache
def zoo() -> tuple[Specimen, ...]:
    """All of it, in the order of the families."""
    return tuple(specimen for family in FAMILIES for specimen in family())


def good() -> list[Specimen]:
    """Those that are read."""
    return [specimen for specimen in zoo() if isinstance(specimen.expected, Shows)]


def refused() -> list[Specimen]:
    """Those that are not."""
    return [specimen for specimen in zoo() if not isinstance(specimen.expected, Shows)]
