"""What images may cost. What they show is in test_zoo.py."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from PIL import Image

from mmmem.errors import InvalidImage, TooLarge
from mmmem.media.images import ImageReader, decode_image
from mmmem.settings import Settings
from mmmem.types import ImagePart
from tests.media.zoo import png
from tests.media.zoo.moving import animated
from tests.media.zoo.photos import heic
from tests.media.zoo.specimen import BLUE, RED, SIZE, WHITE, encode, picture

FIELD = "messages.0.content.1.image_url.url"
PIXELS = SIZE[0] * SIZE[1]
BLANK = Image.new("RGB", SIZE, WHITE)


def decode(data: bytes, header: str = "data:image/png;base64", **settings: int) -> Image.Image:
    return decode_image(ImagePart(header, data), FIELD, Settings(**settings))


def shows_picture(image: Image.Image) -> bool:
    """Rather than a blank frame."""
    return bool(np.abs(np.subtract(image.getpixel((8, 8)), RED)).max() < 40)


def read(settings: Settings, *files: bytes) -> list[tuple[int, int]]:
    """The sizes of the images of one request."""
    parts = [(f"messages.{place}", ImagePart("data:;base64", data)) for place, data in enumerate(files)]
    return ImageReader(settings).read(parts, lambda image: image.size)


def test_the_bytes_decide_and_not_the_declared_type() -> None:
    assert shows_picture(decode(encode(picture(), "PNG"), header="data:text/plain;base64"))


@pytest.mark.parametrize("image_format", ["PNG", "GIF", "HEIC"])
def test_the_limit_on_pixels_is_exact(image_format: str) -> None:
    data = heic(picture()) if image_format == "HEIC" else encode(picture(), image_format)
    assert decode(data, max_image_pixels=PIXELS).size == SIZE
    with pytest.raises(TooLarge, match=f"more pixels than the limit of one image, {PIXELS - 1:,}") as caught:
        decode(data, max_image_pixels=PIXELS - 1)
    assert caught.value.field == FIELD


@pytest.mark.parametrize("size", [(300, 3), (3, 300)])
def test_the_limit_on_narrowness_is_exact(size: tuple[int, int]) -> None:
    data = encode(Image.new("RGB", size), "PNG")
    assert decode(data, max_image_aspect=100).size == size
    with pytest.raises(TooLarge, match="99 times as long as wide") as caught:
        decode(data, max_image_aspect=99)
    assert caught.value.field == FIELD


@pytest.mark.parametrize("image_format", ["GIF", "PNG", "WEBP", "AVIF", "TIFF"])
def test_only_so_many_frames_are_looked_at(image_format: str) -> None:
    data = animated([BLANK, Image.new("RGB", SIZE, BLUE), picture()], image_format)
    assert shows_picture(decode(data, max_image_frames=3))
    assert not shows_picture(decode(data, max_image_frames=2))


@pytest.mark.parametrize("image_format", ["GIF", "PNG", "WEBP", "AVIF", "TIFF"])
def test_the_frames_looked_at_have_no_more_pixels_than_one_image_may(image_format: str) -> None:
    data = animated([BLANK, Image.new("RGB", SIZE, BLUE), picture()], image_format)
    assert shows_picture(decode(data, max_image_pixels=3 * PIXELS))
    assert not shows_picture(decode(data, max_image_pixels=3 * PIXELS - 1))


def test_what_comes_after_the_frames_looked_at_may_be_missing() -> None:
    noise = [Image.fromarray(np.random.default_rng(seed).integers(0, 256, (64, 64, 3), np.uint8)) for seed in range(3)]
    data = animated(noise, "GIF")[:-2_000]
    assert decode(data, max_image_frames=2).size == (64, 64)
    with pytest.raises(InvalidImage, match="damaged or cut off"):
        decode(data)


def test_the_images_of_a_request_share_a_number_of_pixels() -> None:
    image = encode(picture(), "PNG")
    assert read(Settings(max_images_pixels=2 * PIXELS), image, image) == [SIZE, SIZE]
    with pytest.raises(TooLarge, match="brings the request's images over the limit") as caught:
        read(Settings(max_images_pixels=2 * PIXELS - 1), image, image)
    assert caught.value.field == "messages.1"


def test_frames_that_are_looked_at_count_among_those() -> None:
    image, animation = encode(picture(), "PNG"), animated([BLANK, picture()], "GIF")
    assert read(Settings(max_images_pixels=3 * PIXELS), animation, image) == [SIZE, SIZE]
    with pytest.raises(TooLarge, match="brings the request's images over the limit"):
        read(Settings(max_images_pixels=3 * PIXELS - 1), animation, image)


def test_a_photo_from_a_phone_or_a_web_tool_has_few_enough_scans() -> None:
    """Ten is what encoders write; they are counted against the largest image, so that a large photo may have them too."""
    data = encode(Image.new("RGB", (3_000, 2_000), RED), "JPEG", progressive=True)
    assert data.count(b"\xff\xda") == 10
    assert decode(data, max_image_pixels=6_000_000).size == (3_000, 2_000)


@pytest.mark.parametrize("after", [b"", b"\x00"])
def test_a_jpeg_with_a_million_fill_bytes_does_not_hold_up_anyone(after: bytes) -> None:
    """To look at each of them from each of them took minutes."""
    data = encode(picture(), "JPEG")
    filled = data[:2] + b"\xff" * 1_000_000 + after + data[2:]
    assert decode(filled).size == SIZE


def test_a_png_in_pieces_as_small_as_tools_write_them_is_read() -> None:
    width, height = 1_200, 900
    content = zlib.compress(png.lines(np.full((height, width, 3), 128, np.uint8)), level=0)
    pieces = [png.chunk(b"IDAT", content[start : start + 1_024]) for start in range(0, len(content), 1_024)]
    assert len(pieces) > 3_000
    data = png.png((width, height), b"")[:33] + b"".join(pieces) + png.chunk(b"IEND", b"")
    assert decode(data).size == (width, height)


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIC"])
@pytest.mark.filterwarnings("ignore::UserWarning")  # the service keeps Pillow's out of its log
def test_a_damaged_file_is_decoded_or_refused_and_nothing_else(image_format: str) -> None:
    rng = np.random.default_rng(7)
    file = heic(picture()) if image_format == "HEIC" else encode(picture(), image_format)
    data = np.frombuffer(file, np.uint8)
    for _ in range(40):
        damaged = data.copy()
        damaged[rng.integers(0, len(data), 6)] = rng.integers(0, 256, 6)
        try:
            assert decode(damaged.tobytes()).mode == "RGB"
        except (InvalidImage, TooLarge) as error:
            assert error.field == FIELD
