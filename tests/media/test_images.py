"""Images are decoded for the encoders as a person would see them, or refused with a reason."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw

from mmmem.errors import InvalidImage, TooLarge
from mmmem.media.images import decode_image
from mmmem.settings import Settings
from mmmem.types import ImagePart

FIELD = "messages.0.content.1.image_url.url"
RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


def encode(image: Image.Image, image_format: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, image_format, **options)
    return file.getvalue()


def decode(data: bytes, header: str = "data:image/png;base64", **settings: int) -> Image.Image:
    return decode_image(ImagePart(header, data), FIELD, Settings(**settings))


def picture(mode: str = "RGB") -> Image.Image:
    """64 x 48: the left half red, the right half blue."""
    image = Image.new("RGB", (64, 48), RED)
    ImageDraw.Draw(image).rectangle((32, 0, 63, 47), fill=BLUE)
    return image.convert(mode)


def assert_colours(image: Image.Image, left: tuple[int, ...], right: tuple[int, ...], tolerance: int = 16) -> None:
    assert image.mode == "RGB"
    for place, colour in (((8, 24), left), ((56, 24), right)):
        assert np.abs(np.subtract(image.getpixel(place), colour)).max() <= tolerance


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF"])
def test_every_common_format_shows_its_picture(image_format: str) -> None:
    image = decode(encode(picture(), image_format))
    assert image.size == (64, 48)
    assert_colours(image, RED, BLUE, tolerance=40)


def test_the_bytes_decide_and_not_the_declared_type() -> None:
    assert_colours(decode(encode(picture(), "PNG"), header="data:text/plain;base64"), RED, BLUE)


@pytest.mark.parametrize("mode", ["P", "CMYK"])
def test_palettes_and_print_colours_become_rgb(mode: str) -> None:
    assert_colours(decode(encode(picture(mode), "TIFF")), RED, BLUE, tolerance=40)


@pytest.mark.parametrize("image_format", ["PNG", "WEBP"])
def test_transparency_is_shown_on_white(image_format: str) -> None:
    image = picture("RGBA")
    ImageDraw.Draw(image).rectangle((0, 0, 31, 47), fill=(0, 0, 0, 0))
    assert_colours(decode(encode(image, image_format, lossless=True)), WHITE, BLUE)


def test_a_transparent_colour_of_a_palette_is_shown_on_white() -> None:
    data = encode(picture("P"), "PNG", transparency=picture("P").getpixel((0, 0)))
    assert_colours(decode(data), WHITE, BLUE, tolerance=40)


def test_grey_with_alpha_is_shown_on_white() -> None:
    image = Image.new("LA", (64, 48), (0, 255))
    image.paste((0, 0), (0, 0, 32, 48))
    assert_colours(decode(encode(image, "PNG")), WHITE, (0, 0, 0))


def test_sixteen_bit_grey_keeps_its_levels() -> None:
    levels = np.zeros((48, 64), np.uint16)
    levels[:, :32] = 200 << 8
    assert_colours(decode(encode(Image.fromarray(levels), "PNG")), (200,) * 3, (0,) * 3, tolerance=1)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_grey_of_no_known_range_is_stretched(dtype: type) -> None:
    levels = np.full((48, 64), 3, dtype)
    levels[:, :32] = 7
    assert_colours(decode(encode(Image.fromarray(levels), "TIFF")), WHITE, (0, 0, 0), tolerance=1)


def test_black_and_white_is_read() -> None:
    image = Image.new("1", (64, 48), 0)
    image.paste(1, (0, 0, 32, 48))
    assert_colours(decode(encode(image, "PNG")), WHITE, (0, 0, 0))


def test_a_photo_taken_sideways_is_turned_upright() -> None:
    sideways = picture().transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned 90 degrees clockwise
    image = decode(encode(sideways, "JPEG", exif=exif, quality=95))
    assert image.size == (64, 48)
    assert_colours(image, RED, BLUE, tolerance=40)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")  # Pillow says so once; the service keeps it out of its log
def test_broken_exif_does_not_cost_the_picture() -> None:
    data = encode(picture(), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff", quality=95)
    assert_colours(decode(data), RED, BLUE, tolerance=40)


@pytest.mark.parametrize("image_format", ["GIF", "WEBP", "PNG"])
def test_an_animation_shows_its_first_frame(image_format: str) -> None:
    frames = [Image.new("RGB", (64, 48), colour) for colour in (BLUE, WHITE)]
    data = encode(picture(), image_format, save_all=True, append_images=frames)
    assert_colours(decode(data), RED, BLUE, tolerance=40)


def test_the_bytes_are_left_alone() -> None:
    part = ImagePart("data:image/jpeg;base64", encode(picture(), "JPEG"))
    before = bytes(part.data)
    decode_image(part, FIELD, Settings())
    assert part.data == before


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_an_image_that_is_cut_off_is_refused(image_format: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (128, 128, 3), np.uint8)
    data = encode(Image.fromarray(noise), image_format)
    with pytest.raises(InvalidImage, match=r"damaged or cut off|not an image") as caught:
        decode(data[: len(data) // 2])
    assert caught.value.field == FIELD


@pytest.mark.parametrize(
    "data",
    [b"hello", b"\0" * 100, b"%PDF-1.7\n", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x89PNG\r\n\x1a\n"],
)
def test_what_is_no_image_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidImage) as caught:
        decode(data)
    assert caught.value.field == FIELD


def test_formats_beyond_the_common_ones_are_refused() -> None:
    """Pillow reads them, some through other programs; nobody needs that from a stranger."""
    for image_format in ("PPM", "TGA", "EPS", "ICO", "PDF"):
        with pytest.raises(InvalidImage, match="not an image that can be read"):
            decode(encode(picture(), image_format))


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it has this many pixels; were they decoded, it would be found to be cut off."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(8_000, 8_000), (10_000, 10_000), (60_000, 60_000)])
def test_a_decompression_bomb_is_refused_before_a_pixel_is_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(TooLarge, match="more pixels than the limit of one image, 50,000,000") as caught:
        decode(bomb(*size))
    assert caught.value.field == FIELD


def test_the_limit_on_pixels_is_exact() -> None:
    data = encode(picture(), "PNG")
    assert decode(data, max_image_pixels=64 * 48).size == (64, 48)
    with pytest.raises(TooLarge):
        decode(data, max_image_pixels=64 * 48 - 1)


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF"])
def test_a_damaged_file_is_decoded_or_refused_and_nothing_else(image_format: str) -> None:
    rng = np.random.default_rng(7)
    data = np.frombuffer(encode(picture(), image_format), np.uint8)
    for _ in range(40):
        damaged = data.copy()
        damaged[rng.integers(0, len(data), 6)] = rng.integers(0, 256, 6)
        try:
            assert decode(damaged.tobytes()).mode == "RGB"
        except (InvalidImage, TooLarge) as error:
            assert error.field == FIELD
