"""Image bytes to RGB pixels, for the encoders only: the caller's bytes are kept and returned untouched."""

from __future__ import annotations

import errno
import io
import threading
from typing import TYPE_CHECKING, TypeVar

from PIL import Image, UnidentifiedImageError

from mmmem.errors import InvalidImage, TooLarge, Unavailable
from mmmem.media.formats import FORMATS, begins_like_one, frame_pixels, has_too_many_passes, has_too_many_segments
from mmmem.media.frames import seek_representative
from mmmem.media.heaps import HeapTrim
from mmmem.media.rgb import to_rgb
from mmmem.media.tiff import is_cut_off

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mmmem.settings import Settings
    from mmmem.types import ImagePart

Prepared = TypeVar("Prepared")

_SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC}  # of this machine: no fault of the image's
_DAMAGED = "is an image that is damaged or cut off, or of a kind that cannot be read"


class ImageReader:
    """Decodes the images of requests: a few at a time at full size, and of one request no more pixels than the limit."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turns = threading.BoundedSemaphore(settings.concurrent_decodes)
        self._trim = HeapTrim()

    def read(
        self, images: Iterable[tuple[str, ImagePart]], prepare: Callable[[Image.Image], Prepared]
    ) -> list[Prepared]:
        """What `prepare` makes of each image, in order; the image itself is let go of. `images` are (field, part).

        Raises InvalidImage, TooLarge and Unavailable as `decode_image` does, and TooLarge for all of them together.
        """
        prepared = []
        room = self._settings.max_images_pixels
        for field, part in images:
            with self._turns:
                image, pixels = _decode(part, field, self._settings, room)
                room -= pixels
                prepared.append(prepare(image))
                del image  # before the next one is waited for
            self._trim.after(pixels)
        return prepared


def decode_image(part: ImagePart, field: str, settings: Settings) -> Image.Image:
    """Decode an image to mode RGB as a person sees it: upright, in sRGB, transparency on a ground, the frame that stands for all.

    All of that frame is decoded, so what is cut off or damaged is found here. `field` names the part in errors. Raises TooLarge
    when it has more pixels than `max_image_pixels`, is narrower than `max_image_aspect` or in too many pieces, before any pixel is decoded,
    InvalidImage, and Unavailable where the machine is short of something.
    """
    return _decode(part, field, settings, settings.max_images_pixels)[0]


def _decode(part: ImagePart, field: str, settings: Settings, room: int) -> tuple[Image.Image, int]:
    """The image, and the number of pixels decoded for it; TooLarge also when the request has no `room` for its first frame."""
    _require_all_pieces(part.data, field)
    try:
        with Image.open(io.BytesIO(part.data), formats=FORMATS) as image:
            problem = _excess(image, part.data, settings, room)
            if not problem:
                most = min(settings.max_image_pixels, room)
                pixels = seek_representative(image, settings.max_image_frames, most)
                problem = _excess(image, part.data, settings, room)  # frames and pages may be of other sizes
            if not problem:
                return to_rgb(image), pixels
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):  # Pillow's own limits, on the way to ours
        problem = _too_many_pixels(settings)
    except UnidentifiedImageError:
        if begins_like_one(part.data):
            raise InvalidImage(field, _DAMAGED) from None
        raise InvalidImage(field, f"is not an image that can be read ({', '.join(FORMATS)})") from None
    except Exception as error:  # Pillow's plug-ins raise whatever a damaged file leads them into
        if isinstance(error, OSError) and error.errno in _SHORTAGES:
            raise Unavailable("an image could not be read now") from None
        raise InvalidImage(field, _DAMAGED) from error
    raise TooLarge(field, problem)


def _require_all_pieces(data: bytes, field: str) -> None:
    """Not more of them than are read, and of a TIFF no page less than it names. Raises TooLarge or InvalidImage."""
    try:
        too_many, cut_off = has_too_many_segments(data), is_cut_off(data)
    except OverflowError:
        too_many, cut_off = True, False
    if too_many:
        raise TooLarge(field, "is stored in more pieces than are read")
    if cut_off:
        raise InvalidImage(field, _DAMAGED)


def _excess(image: Image.Image, data: bytes, settings: Settings, room: int) -> str:
    """By how much an opened image is more than is read; "" where it is not. Its header says so."""
    pixels = frame_pixels(image)
    if not min(image.size):
        raise ValueError("no pixels")
    if pixels > settings.max_image_pixels:
        return _too_many_pixels(settings)
    if pixels > room:
        return f"brings the request's images over the limit of {settings.max_images_pixels:,} pixels together"
    if max(image.size) > settings.max_image_aspect * min(image.size):
        return f"is narrower than the limit, {settings.max_image_aspect:,} times as long as wide"
    if has_too_many_passes(image, data, settings.max_image_pixels):
        return "is stored in more scans than are read"
    return ""


def _too_many_pixels(settings: Settings) -> str:
    return f"has more pixels than the limit of one image, {settings.max_image_pixels:,}"
