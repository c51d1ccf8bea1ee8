"""Image bytes to RGB pixels, for the encoders only: the caller's bytes are kept and returned untouched."""

from __future__ import annotations

import contextlib
import io
import threading
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from mmmem.errors import InvalidImage, TooLarge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mmmem.settings import Settings
    from mmmem.types import ImagePart

Prepared = TypeVar("Prepared")

# Pillow can read some forty formats, a few of them by running other programs; these are what people send.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")


class ImageReader:
    """Decodes the images of requests: a few at a time at full size, and of one request no more pixels than the limit."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turns = threading.BoundedSemaphore(settings.concurrent_decodes)

    def read(
        self, images: Iterable[tuple[str, ImagePart]], prepare: Callable[[Image.Image], Prepared]
    ) -> list[Prepared]:
        """What `prepare` makes of each image, in order; the image itself is let go of. `images` are (field, part).

        Raises InvalidImage and TooLarge as `decode_image` does, and TooLarge for all of them together.
        """
        prepared = []
        pixels = 0
        for field, part in images:
            with self._turns:
                image = decode_image(part, field, self._settings, self._settings.max_images_pixels - pixels)
                pixels += image.width * image.height
                prepared.append(prepare(image))
                del image  # before the next one is waited for
        return prepared


def decode_image(part: ImagePart, field: str, settings: Settings, room: int | None = None) -> Image.Image:
    """Decode an image to mode RGB: upright by its EXIF orientation, transparency on white, the first frame of an animation.

    The whole image is decoded, so what is cut off or damaged is found here. `field` names the part in errors. Raises
    TooLarge when it has more pixels than `max_image_pixels`, or than the request has `room` for, before any is decoded, and
    InvalidImage.
    """
    limit = settings.max_image_pixels
    try:
        with Image.open(io.BytesIO(part.data), formats=FORMATS) as image:
            pixels = image.width * image.height
            if pixels <= min(limit, limit if room is None else room):
                return _decode(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):  # Pillow's own limits, on the way to ours
        pixels = limit + 1
    except UnidentifiedImageError:
        raise InvalidImage(field, f"is not an image that can be read ({', '.join(FORMATS)})") from None
    except Exception as error:  # Pillow's plug-ins raise whatever a damaged file leads them into
        raise InvalidImage(field, "is an image that is damaged or cut off") from error
    if pixels > limit:
        raise TooLarge(field, f"has more pixels than the limit of one image, {limit:,}")
    raise TooLarge(
        field, f"brings the request's images over the limit of {settings.max_images_pixels:,} pixels together"
    )


def _decode(image: Image.Image) -> Image.Image:
    image.load()
    with contextlib.suppress(Exception):  # broken EXIF is common, and says nothing about the pixels
        ImageOps.exif_transpose(image, in_place=True)
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        image = _to_8_bits(image)
    if image.has_transparency_data:
        picture = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    return image.convert("RGB")


def _to_8_bits(image: Image.Image) -> Image.Image:
    """Grey levels of 16 bits keep their upper half; wider ones have no known range, so their own is stretched."""
    levels = np.asarray(image)
    if image.mode.startswith("I;16"):
        return Image.fromarray((levels >> 8).astype(np.uint8))
    levels = np.nan_to_num(levels.astype(np.float32), posinf=0, neginf=0)
    levels -= levels.min()
    return Image.fromarray((levels * (255 / max(float(levels.max()), 1e-12))).astype(np.uint8))
