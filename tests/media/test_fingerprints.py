"""Copies of a picture have nearly the same perceptual hash, whatever was done to them; other pictures have another."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps
from skimage import data

from mmmem.media.fingerprints import LENGTH, fingerprint, without_frame
from mmmem.retrieval.pictures import resemblance


def photo(name: str) -> Image.Image:
    return Image.fromarray(getattr(data, name)()).convert("RGB")


def saved(image: Image.Image, quality: int) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(file).convert("RGB")


def on_a_page(image: Image.Image) -> Image.Image:
    page = Image.new("RGB", (image.width * 2, image.height * 2), "white")
    page.paste(image, (image.width // 3, image.height // 2))
    return page


def likeness(image: Image.Image, other: Image.Image) -> float:
    prints = [fingerprint(without_frame(one)) for one in (image, other)]
    return float(resemblance(prints[0], prints[1][None])[0])


CHANGES = {
    "saved again": lambda image: saved(image, 20),
    "a quarter of the size": lambda image: image.resize((image.width // 4, image.height // 4)),
    "turned": lambda image: image.transpose(Image.Transpose.ROTATE_90),
    "upside down": lambda image: image.transpose(Image.Transpose.ROTATE_180),
    "mirrored": ImageOps.mirror,
    "darker": lambda image: ImageEnhance.Brightness(image).enhance(0.6),
    "grey": lambda image: ImageOps.grayscale(image).convert("RGB"),
    "letterboxed": lambda image: ImageOps.expand(image, (0, 80), "black"),
    "on a page": on_a_page,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["astronaut", "coffee"])
def test_a_changed_copy_is_known_again(name, change):
    assert likeness(CHANGES[change](photo(name)), photo(name)) > 0.95


def test_other_pictures_are_told_apart():
    names = ("astronaut", "coffee", "chelsea", "rocket", "camera", "coins")
    for place, name in enumerate(names):
        for other in names[place + 1 :]:
            assert likeness(photo(name), photo(other)) < 0.8, (name, other)


@pytest.mark.parametrize("size", [(1, 1), (1, 3_000), (3_000, 1), (9, 9), (40, 30)])
def test_any_picture_has_one_also_a_tiny_or_empty_one(size):
    blank = Image.new("RGB", size, "navy")
    assert without_frame(blank).size == size, "a picture of one colour is all frame, and is left as it is"
    assert fingerprint(blank).shape == (LENGTH,)
    assert likeness(blank, blank) == 0, "and is like nothing"


def test_resemblance_is_of_each_stored_picture():
    stored = np.stack([fingerprint(photo(name)) for name in ("coffee", "astronaut", "rocket")])
    found = resemblance(fingerprint(photo("astronaut")), stored)
    assert (found.dtype, found.shape, found.argmax()) == (np.float32, (3,), 1)
    assert found[1] == pytest.approx(1, abs=1e-5)
    assert resemblance(stored[0], np.zeros((0, LENGTH), np.uint8)).shape == (0,)
