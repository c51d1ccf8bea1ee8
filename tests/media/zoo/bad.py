"""Files that are refused: cut off, no images, and bombs."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator

import numpy as np
import tifffile
from PIL import Image

from tests.media.zoo import png
from tests.media.zoo.moving import growing
from tests.media.zoo.photos import heic
from tests.media.zoo.specimen import SIZE, Refused, Shows, Specimen, encode, grey, picture

TOO_MANY = Refused("more pixels than the limit of one image, 50,000,000", 413)


def cut_off() -> Iterator[Specimen]:
    """The first half of a file, and all of it but its last part."""
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (128, 128, 3), np.uint8))
    files = {name: encode(noise, name) for name in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")}
    for name, data in {**files, "HEIC": heic(noise)}.items():
        yield Specimen(f"{name.lower()}, the first half", data[: len(data) // 2], Refused())
        yield Specimen(f"{name.lower()}, without its last tenth", data[: len(data) * 9 // 10], Refused())
    yield Specimen("jpeg, without its end", files["JPEG"].removesuffix(b"\xff\xd9"), Refused())
    yield Specimen("png, a damaged line", damaged_png(), Refused())
    frames = [noise, noise.rotate(90), noise.rotate(180)]
    moving = encode(frames[0], "GIF", save_all=True, append_images=frames[1:])
    yield Specimen("gif, cut off in its third frame", moving[: len(moving) * 9 // 10], Refused())


def no_images() -> Iterator[Specimen]:
    """What is sent as an image and is none, or none that is read."""
    others = {
        "text": b"hello",
        "zeros": bytes(100),
        "a pdf": b"%PDF-1.7\n1 0 obj\n",
        "an svg": b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
        "a web page": b"<!DOCTYPE html><title>404 Not Found</title>",
        "a film": b"\0\0\0\x18ftypmp42" + bytes(100),
        "an icon": encode(picture(), "ICO"),
        "postscript": encode(picture(), "EPS"),
        "a tga": encode(picture(), "TGA"),
    }
    for name, data in others.items():
        yield Specimen(name, data, Refused("not an image that can be read"))
    yield Specimen("a png of its signature alone", png.SIGNATURE, Refused())
    yield Specimen("a gif without a pixel", struct.pack("<6sHHBBB", b"GIF89a", 0, 0, 0, 0, 0) + b";", Refused())


def too_large() -> Iterator[Specimen]:
    """Small files of which much more would be made."""
    for width, height in ((8_000, 8_000), (10_000, 10_000), (60_000, 60_000)):
        yield Specimen(f"png, {width:,} pixels wide", png.png((width, height), bytes(64)), TOO_MANY)
    yield Specimen(
        "gif, a huge screen", b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + encode(picture(), "GIF")[10:], TOO_MANY
    )
    frame = b"," + struct.pack("<HHHHB", 0, 0, 60_000, 60_000, 0) + b"\x02\x02D\x01\0;"
    yield Specimen("gif, a huge first frame", b"GIF89a" + struct.pack("<HHBBB", *SIZE, 0, 0, 0) + frame, TOO_MANY)
    yield Specimen("gif, grows with its second frame", growing(9_000, 9_000), TOO_MANY)
    yield Specimen("jpeg, huge", resized_jpeg(65_000, 65_000), TOO_MANY)
    yield Specimen("webp, huge", resized_webp(16_383, 16_383), TOO_MANY)
    yield Specimen("bmp, huge", resized(encode(picture(), "BMP"), "<ii", (60_000, 60_000)), TOO_MANY)
    yield Specimen("tiff, huge", resized_tiff(60_000, 60_000), TOO_MANY)
    yield Specimen("tiff, small with a huge tile", huge_tile(), TOO_MANY)
    yield Specimen("avif, huge", resized_box(encode(picture(), "AVIF"), 16_000), TOO_MANY)
    yield Specimen("heic, huge", resized_box(heic(picture(size=(64, 64))), 16_000), TOO_MANY)
    yield Specimen("jpeg, thousands of scans", many_scans(20_000), Refused("more scans", 413))
    comment = b"\xff\xfe" + struct.pack(">H", 4) + b"\xff\xd9"
    hidden = b"\xff\xd8" + comment + many_scans(20_000)[2:]
    yield Specimen("jpeg, thousands of scans behind an end in a comment", hidden, Refused("more scans", 413))
    pieces = Refused("more pieces", 413)
    screenshot, photo = encode(picture(), "PNG"), encode(picture(), "JPEG")
    for name in (b"tEXt", b"IDAT"):
        yield Specimen(
            f"png, {name.decode()} without end", png.with_chunks(screenshot, *[(name, b"")] * 20_000), pieces
        )
    for marker in (b"\xff\xfe", b"\xff\xe1", b"\xff\xdb"):
        many = photo[:2] + (marker + b"\x00\x02") * 20_000 + photo[2:]
        yield Specimen(f"jpeg, segments {marker.hex()} without end", many, pieces)
    yield Specimen(
        "png, one pixel wide and 5,000 high", encode(Image.new("RGB", (1, 5_000)), "PNG"), Refused("4,000 times", 413)
    )


def bombs() -> Iterator[Specimen]:
    """What is packed beside a picture and unpacks to 64 MB."""
    whole, packed = encode(picture(), "PNG"), zlib.compress(bytes(64_000_000), 9)
    for name, content in (
        ("iCCP", b"x\0\0" + packed),
        ("zTXt", b"x\0\0" + packed),
        ("iTXt", b"x\0\1\0\0\0" + packed),
    ):
        yield Specimen(f"png, a bomb in {name}", png.with_chunks(whole, (name.encode(), content)), Refused())
    yield Specimen("tiff, a tag of 4 GB", tag_beyond_the_file(), Refused())
    # libavif draws what it holds into the size it says; its own limit is 16,384 pixels a side.
    yield Specimen("avif, made smaller than what it holds", lying("AVIF"), Shows(grey(128) * 4))
    yield Specimen("heic, made smaller than what it holds", lying("HEIC"), Refused())


def damaged_png() -> bytes:
    """A PNG whose pixels do not unpack."""
    data = bytearray(encode(picture(), "PNG"))
    start = data.index(b"IDAT") + 8
    data[start : start + 8] = b"\xff" * 8
    return bytes(data)


def resized(data: bytes, how: str, size: tuple[int, int]) -> bytes:
    """A file that says it has this size, not 64 x 48."""
    assert struct.pack(how, *SIZE) in data
    return data.replace(struct.pack(how, *SIZE), struct.pack(how, *size))


def resized_box(data: bytes, side: int) -> bytes:
    """An AVIF or HEIC file whose box says so, though the bitstream does not."""
    place = data.index(b"ispe") + 8
    return data[:place] + struct.pack(">II", side, side) + data[place + 8 :]


def resized_jpeg(width: int, height: int) -> bytes:
    """A JPEG that says so: height comes first in it."""
    return encode(picture(), "JPEG").replace(struct.pack(">HH", 48, 64), struct.pack(">HH", height, width))


def resized_webp(width: int, height: int) -> bytes:
    """A WebP whose bitstream says so: 14 bits each."""
    data = encode(picture(), "WEBP", lossless=True)
    start = data.index(b"VP8L") + 9
    bits = int.from_bytes(data[start : start + 4], "little") >> 28 << 28 | (height - 1) << 14 | (width - 1)
    return data[:start] + bits.to_bytes(4, "little") + data[start + 4 :]


def resized_tiff(width: int, height: int) -> bytes:
    """A TIFF that says so in its tags."""
    data = encode(picture(), "TIFF", compression="tiff_lzw")
    for tag, old, new in ((256, 64, width), (257, 48, height), (278, 48, height)):
        data = data.replace(struct.pack("<HHII", tag, 4, 1, old), struct.pack("<HHII", tag, 4, 1, new))
        data = data.replace(struct.pack("<HHIHH", tag, 3, 1, old, 0), struct.pack("<HHII", tag, 4, 1, new))
    return data


def huge_tile() -> bytes:
    """A TIFF of 64 x 48 whose one tile unpacks to 128 megapixels."""
    tile = zlib.compress(bytes(16_000 * 8_000), 9)
    file = io.BytesIO()
    tifffile.imwrite(file, iter([tile]), shape=(48, 64), dtype=np.uint8, tile=(8_000, 16_000), compression="zlib")
    return file.getvalue()


def tag_beyond_the_file() -> bytes:
    """A TIFF whose strip offsets are said to be a billion."""
    data = encode(picture(), "TIFF", compression="tiff_lzw")
    place = data.index(struct.pack("<HH", 273, 4))
    return data[: place + 4] + struct.pack("<II", 1_000_000_000, 8) + data[place + 12 :]


def many_scans(count: int) -> bytes:
    """A progressive JPEG that comes back to its last scan again and again."""
    data = encode(Image.new("L", (1_000, 1_000), 128), "JPEG", progressive=True)
    last = data.rindex(b"\xff\xda")
    return data[:-2] + data[last:-2] * count + data[-2:]


def lying(kind: str) -> bytes:
    """A file that says 64 x 48 and holds many more pixels, of one colour."""
    side = 3_000 if kind == "AVIF" else 1_000
    image = Image.new("L", (side, side), 128)
    data = encode(image, "AVIF", speed=10) if kind == "AVIF" else heic(image)
    return data.replace(struct.pack(">II", side, side), struct.pack(">II", *SIZE))
