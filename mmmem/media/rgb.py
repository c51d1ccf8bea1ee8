"""A decoded image as a person sees it, in eight bits of red, green and blue."""

from __future__ import annotations

import contextlib

import numpy as np
from PIL import Image, ImageOps

from mmmem.media.profiles import to_srgb

WHITE = (255, 255, 255)
DARK = (48, 48, 48)  # not black: black parts of a picture are to be seen on it too
_VISIBLE = 40  # grey levels between neighbours that are seen as an edge
_LOOK = 512  # longer side of the picture in which edges are counted
_TWELVE_BITS = 4_095
_FARTHEST = 1e37  # the difference of two such numbers still is one


def to_rgb(image: Image.Image) -> Image.Image:
    """A loaded image in mode RGB: upright by its EXIF orientation, in sRGB by its ICC profile, transparency on a ground."""
    with contextlib.suppress(Exception):  # broken EXIF is common, and says nothing about the pixels
        ImageOps.exif_transpose(image, in_place=True)
    profile = image.info.get("icc_profile")
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        image = _to_8_bits(image)
    if not image.has_transparency_data:
        return to_srgb(image, profile)
    grey = image.mode in ("L", "LA", "La")
    picture = image.convert("LA") if image.mode == "La" else image
    if picture.mode != "RGBA":
        picture = picture.convert("RGBA")
    ground = Image.new("RGB", picture.size, _ground(picture))
    ground.paste(to_srgb(picture.convert("L" if grey else "RGB"), profile), mask=picture.getchannel("A"))
    return ground


def _ground(picture: Image.Image) -> tuple[int, int, int]:
    """What an RGBA picture is laid on: white, as pages are, unless most of its edges would vanish there and not on dark.

    White ink on nothing, a logo made for dark pages, is the common case: on white it is an empty picture. Edges count, not
    areas: a light window with transparent corners is as good on white, and looks like its screenshot from elsewhere.
    """
    scale = min(1.0, _LOOK / max(picture.size))
    small = picture.resize(
        (max(1, int(picture.width * scale)), max(1, int(picture.height * scale))), Image.Resampling.NEAREST
    )
    return DARK if _edges(small, WHITE) < _edges(small, DARK) / 2 else WHITE


def _edges(picture: Image.Image, ground: tuple[int, int, int]) -> int:
    """How many neighbouring pixels differ visibly on this ground, the one around the picture included."""
    laid = Image.new("RGB", (picture.width + 2, picture.height + 2), ground)
    laid.paste(picture, (1, 1), picture)
    grey = np.asarray(laid.convert("L"), dtype=np.int16)
    return sum(int((np.abs(np.diff(grey, axis=axis)) >= _VISIBLE).sum()) for axis in (0, 1))


def _to_8_bits(image: Image.Image) -> Image.Image:
    """Grey levels of 16 bits keep their upper half, of 12 bits in 16 their upper eight; others have no known range: theirs is stretched."""
    levels = np.asarray(image)
    clear = image.info.get("transparency")
    if image.mode.startswith("I;16"):
        grey = Image.fromarray((levels >> (8 if levels.max() > _TWELVE_BITS else 4)).astype(np.uint8))
    else:
        finite = np.nan_to_num(levels.astype(np.float32), copy=False, posinf=0, neginf=0)
        np.clip(finite, -_FARTHEST, _FARTHEST, out=finite)
        finite -= finite.min()
        finite *= 255 / max(float(finite.max()), 1e-12)
        grey = Image.fromarray(finite.astype(np.uint8))
    if isinstance(clear, int):
        grey.putalpha(Image.fromarray(np.where(levels == clear, 0, 255).astype(np.uint8)))
    return grey
