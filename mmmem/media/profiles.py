"""Colours by an image's ICC profile, so that a photo from a camera or for a press looks as it is meant to."""

from __future__ import annotations

import contextlib
import io

from PIL import Image, ImageCms

LARGEST = 4_000_000  # bytes; those of presses have some 2.5 MB, and what is larger is not looked at
_FLAT = 8  # levels; a profile that leaves a picture within fewer has lost it

# A profile's colour space: the mode it is applied to, and what is converted to that without it.
_SPACES = {"RGB ": ("RGB", ("RGB", "P")), "GRAY": ("L", ("L", "1")), "CMYK": ("CMYK", ("CMYK",))}


def to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """An image without transparency in mode RGB. A profile that is broken, absurd or for another kind of image is ignored."""
    if image.mode == "LAB":
        return _apply(ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")), image)
    if profile and len(profile) <= LARGEST:
        with contextlib.suppress(Exception):  # whatever LittleCMS finds wrong with it
            return _shown_by(ImageCms.ImageCmsProfile(io.BytesIO(profile)), image)
    return image.convert("RGB")


def _shown_by(profile: ImageCms.ImageCmsProfile, image: Image.Image) -> Image.Image:
    """Raises ValueError for a profile that the image is better off without."""
    mode, fitting = _SPACES[profile.profile.xcolor_space]
    if image.mode not in fitting:
        raise ValueError("for another kind of image")
    if _is_srgb(profile):
        raise ValueError("changes nothing")
    given = image if image.mode == mode else image.convert(mode)
    shown = _apply(profile, given)
    if _range(shown) <= _FLAT < _range(given):
        raise ValueError("loses the picture")
    return shown


def _apply(profile: ImageCms.ImageCmsProfile, image: Image.Image) -> Image.Image:
    transform = ImageCms.buildTransform(profile, ImageCms.createProfile("sRGB"), image.mode, "RGB")
    shown = ImageCms.applyTransform(image, transform)
    if shown is None:  # only in place
        raise ValueError("no image")
    return shown


def _is_srgb(profile: ImageCms.ImageCmsProfile) -> bool:
    """Most profiles are; converting 12 megapixels with one to no effect takes a third of a second."""
    return "sRGB" in (profile.profile.profile_description or "")


def _range(image: Image.Image) -> int:
    """Levels between the darkest and the brightest pixel of the channel with the widest range."""
    return max(high - low for low, high in image.getextrema())  # type: ignore[misc]
