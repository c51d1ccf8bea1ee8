"""Colours are named as people name them."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw

from mmmem.media.colours import NAMES, colours, named_colours


def seen(image):
    """The names of the colours that take a tenth of a picture or more, the largest first."""
    shares = dict(zip(NAMES, colours(image).tolist(), strict=True))
    return [name for name in sorted(shares, key=lambda name: -shares[name]) if shares[name] >= 25]


@pytest.mark.parametrize(
    ("shade", "name"),
    [
        ("#c01020", "red"), ("#1e7a32", "green"), ("#ffe135", "yellow"), ("#1338be", "blue"), ("#5c3a1e", "brown"),
        ("#f58216", "orange"), ("#ffb6c1", "pink"), ("#6a0dad", "purple"), ("#0a0a0c", "black"), ("#fdfdfd", "white"),
        ("#7f7f80", "grey"), ("#87ceeb", "blue"), ("#8b0000", "red"),
    ],
)  # fmt: skip
def test_a_surface_has_its_colour(shade, name):
    assert seen(Image.new("RGB", (50, 40), shade)) == [name]


def test_a_picture_has_the_colours_of_its_parts_by_their_size():
    image = Image.new("RGB", (100, 100), "white")
    ImageDraw.Draw(image).rectangle((0, 0, 99, 29), fill="#c01020")
    assert seen(image) == ["white", "red"]
    assert colours(image)[NAMES.index("red")] == pytest.approx(0.3 * 255, abs=8)


def test_one_pixel_is_enough():
    assert seen(Image.new("RGB", (1, 1), "#1338be")) == ["blue"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("the red cup on the grey table", {"red", "grey"}),
        ("a silver car", {"grey"}),
        ("Golden hour, REDDISH sky", {"yellow"}),
        ("one bored, blackened credit card", set()),
        ("那只白猫和红色的杯子", {"white", "red"}),
        ("", set()),
    ],
)
def test_the_colours_that_a_text_names(text, named):
    assert {NAMES[number] for number in named_colours(text)} == named
