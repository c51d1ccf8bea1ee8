"""A document of several pages is kept whole or refused, whichever page stands for it."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
import tifffile
from PIL import Image

from mmmem.errors import InvalidImage, TooLarge
from mmmem.media.images import decode_image
from mmmem.media.tiff import MOST_PAGES, is_cut_off
from mmmem.settings import Settings
from mmmem.types import ImagePart

PAGES = [
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (60, 80, 3), np.uint8)).resize((160, 120))
    for seed in range(3)
]
WAYS = {
    "plain": {},
    "big-endian": {"byteorder": ">"},
    "BigTIFF": {"bigtiff": True},
    "big-endian BigTIFF": {"bigtiff": True, "byteorder": ">"},
    "compressed": {"compression": "zlib"},
    "in strips": {"rowsperstrip": 7},
    "in tiles": {"tile": (32, 48)},
    "one strip of a pixel": {"small": True},
}


def document(*, small: bool = False, **options) -> bytes:
    file = io.BytesIO()
    kept = {name: options.pop(name) for name in ("bigtiff", "byteorder") if name in options}
    with tifffile.TiffWriter(file, **kept) as writer:
        for page in PAGES:
            writer.write(
                np.asarray(page.resize((1, 1)) if small else page), photometric="rgb", metadata=None, **options
            )
    return file.getvalue()


def decode(data: bytes) -> Image.Image:
    return decode_image(ImagePart("data:image/tiff;base64", data), "messages.0", Settings())


@pytest.mark.parametrize("way", WAYS)
def test_all_pages_are_found(way):
    assert not is_cut_off(document(**WAYS[way]))


@pytest.mark.parametrize("way", WAYS)
def test_a_document_that_ends_anywhere_before_its_end_is_cut_off(way):
    data = document(**WAYS[way])
    for end in {*np.linspace(8, len(data) - 1, 200).astype(int).tolist(), len(data) - 1}:
        with pytest.raises(InvalidImage):
            decode(data[:end])


@pytest.mark.parametrize("options", [{}, {"compression": "tiff_lzw"}, {"compression": "group4"}])
def test_a_document_as_pillow_writes_it_is_kept_whole_or_refused(options):
    pages = [page.convert("1") for page in PAGES] if options.get("compression") == "group4" else PAGES
    file = io.BytesIO()
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:], **options)
    assert decode(file.getvalue()).size == (160, 120)
    with pytest.raises(InvalidImage, match="damaged or cut off"):
        decode(file.getvalue()[: len(file.getvalue()) * 2 // 3])


def pages_of_tags(pages: int, tags: int) -> bytes:
    """So many pages, each of the same tags: their ends overlap."""
    tag = b"\0\1\3\0\1\0\0\0\1\0\0\0"
    size = 2 + 12 * tags + 4
    places = [8 + size * number for number in range(pages)]
    bodies = [
        tags.to_bytes(2, "little") + tag * tags + following.to_bytes(4, "little") for following in [*places[1:], 0]
    ]
    return b"II*\0" + (8).to_bytes(4, "little") + b"".join(bodies)


@pytest.mark.parametrize(("pages", "tags"), [(MOST_PAGES + 1, 1), (40, 40_000)])
def test_one_of_more_pages_or_tags_than_anyone_has_is_refused_at_once(pages, tags):
    began = time.process_time()
    with pytest.raises(TooLarge, match="more pieces than are read"):
        decode(pages_of_tags(pages, tags))
    assert time.process_time() - began < 2


def test_pages_in_a_circle_end():
    data = bytearray(document())
    first = int.from_bytes(data[4:8], "little")
    end = first + 2 + 12 * int.from_bytes(data[first : first + 2], "little")
    data[end : end + 4] = first.to_bytes(4, "little")
    assert not is_cut_off(bytes(data))
