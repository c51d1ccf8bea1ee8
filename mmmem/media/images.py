"""Image bytes to RGB pixels, for the encoders only: the caller's bytes are kept and returned untouched."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from mmmem.errors import InvalidImage, TooLarge

if TYPE_CHECKING:
    from mmmem.settings import Settings
    from mmmem.types import ImagePart

# Pillow can read some forty formats, a few of them by running other programs; these are what people send.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")


def decode_image(part: ImagePart, field: str, settings: Settings) -> Image.Image:
    """Decode an image to mode RGB: upright by its EXIF orientation, transparency on white, the first frame of an animation.

    The whole image is decoded, so what is cut off or damaged is found here. `field` names the part in errors. Raises
    TooLarge when it has more pixels than `max_image_pixels`, before any is decoded, and InvalidImage.
    """
    too_large = TooLarge(field, f"has more pixels than the limit of one image, {settings.max_image_pixels:,}")
    try:
        with Image.open(io.BytesIO(part.data), formats=FORMATS) as image:
            if image.width * image.height <= settings.max_image_pixels:
                return _decode(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):  # Pillow's own limits, on the way to ours
        raise too_large from None
    except UnidentifiedImageError:
        raise InvalidImage(field, f"is not an image that can be read ({', '.join(FORMATS)})") from None
    except Exception as error:  # Pillow's plug-ins raise whatever a damaged file leads them into
        raise InvalidImage(field, "is an image that is damaged or cut off") from error
    raise too_large


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
