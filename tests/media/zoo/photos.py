"""Files that cameras, programs and web sites write: one function per format."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pillow_heif
import tifffile
from PIL import Image, ImageOps

from tests.media.zoo import png
from tests.media.zoo.specimen import BLACK, QUARTERS, WHITE, Shows, Specimen, encode, grey, oriented, picture

STEPS = (0, 80, 160, 240)
BARELY = 12  # of files that lose nothing


def jpeg() -> Iterator[Specimen]:
    """JPEG."""
    plain = encode(picture(), "JPEG", quality=95)
    yield Specimen("jpeg", plain, Shows())
    yield Specimen("jpeg, progressive", encode(picture(), "JPEG", quality=95, progressive=True), Shows())
    yield Specimen("jpeg, grey", encode(picture(*grey(*STEPS)).convert("L"), "JPEG"), Shows(grey(*STEPS)))
    yield Specimen("jpeg, colours subsampled", encode(picture(), "JPEG", quality=90, subsampling="4:1:1"), Shows())
    yield Specimen("jpeg, restart markers", encode(picture(), "JPEG", quality=95, restart_marker_rows=1), Shows())
    yield Specimen("jpeg, cmyk", encode(picture().convert("CMYK"), "JPEG", quality=95), Shows())
    yield Specimen("jpeg, ycck of Adobe's", ycck(), Shows())
    yield Specimen(
        "jpeg, of a phone that stores a film behind it", plain + bytes(500) + b"ftypmp42" + b"\xff\xda" * 2_000, Shows()
    )
    yield Specimen(
        "jpeg, two pictures in one file",
        encode(picture(), "MPO", save_all=True, append_images=[picture(BLACK)]),
        Shows(),
    )
    yield Specimen("jpeg, line of a pixel across a screen", encode(picture(size=(3840, 2)).crop((0, 0, 3840, 1)), "JPEG"),
                   Shows((QUARTERS[0], QUARTERS[1]) * 2, (3840, 1), 60))  # fmt: skip
    yield Specimen(
        "jpeg, long screenshot", encode(picture(size=(100, 2800)), "JPEG", quality=95), Shows(size=(100, 2800))
    )
    for orientation in range(1, 9):
        stored, exif = oriented(orientation)
        yield Specimen(f"jpeg, exif orientation {orientation}", encode(stored, "JPEG", exif=exif, quality=95), Shows())
    stored, _ = oriented(6)
    yield Specimen("jpeg, xmp orientation", encode(stored, "JPEG", quality=95, xmp=xmp(6)), Shows())
    broken = b"Exif\0\0MM\0*\0\0\0\x08\xff\xff"
    yield Specimen("jpeg, broken exif", encode(picture(), "JPEG", exif=broken, quality=95), Shows())
    nonsense = Image.Exif()
    nonsense[0x0112] = 77
    yield Specimen("jpeg, no such orientation", encode(picture(), "JPEG", exif=nonsense, quality=95), Shows())


def png_files() -> Iterator[Specimen]:
    """PNG."""
    exact = Shows(tolerance=0)
    yield Specimen("png", encode(picture(), "PNG"), exact)
    yield Specimen("png, palette", encode(picture().quantize(8), "PNG"), Shows(tolerance=BARELY))
    yield Specimen("png, palette of two bits", encode(picture().quantize(4), "PNG", bits=2), Shows(tolerance=BARELY))
    yield Specimen("png, black and white", encode(picture(BLACK, WHITE, WHITE, BLACK).convert("1"), "PNG"),
                   Shows((BLACK, WHITE, WHITE, BLACK), tolerance=0))  # fmt: skip
    yield Specimen("png, interlaced", png.interlaced(picture()), exact)
    yield Specimen("png, 16 bits", png.sixteen_bits(picture()), exact)
    yield Specimen("png, 16 bits and alpha", png.sixteen_bits(picture().convert("RGBA")), exact)
    shades = picture(*grey(*STEPS)).convert("L")
    yield Specimen("png, grey", encode(shades, "PNG"), Shows(grey(*STEPS), tolerance=0))
    yield Specimen("png, 16-bit grey", png.sixteen_bits(shades), Shows(grey(*STEPS), tolerance=0))
    yield Specimen("png, 12-bit grey in 16", encode(Image.fromarray(np.asarray(shades).astype(np.uint16) << 4), "PNG"),
                   Shows(grey(*STEPS), tolerance=1))  # fmt: skip
    stored, exif = oriented(8)
    yield Specimen("png, exif orientation 8", encode(stored, "PNG", exif=exif), exact)
    yield Specimen("png, gamma of nonsense", png.with_chunks(encode(picture(), "PNG"), (b"gAMA", bytes(4))), exact)


def webp() -> Iterator[Specimen]:
    """WebP."""
    yield Specimen("webp, lossy", encode(picture(), "WEBP", quality=90), Shows())
    yield Specimen("webp, lossless", encode(picture(), "WEBP", lossless=True), Shows(tolerance=0))
    yield Specimen("webp, opaque alpha", encode(picture().convert("RGBA"), "WEBP", lossless=True, exact=True), Shows())
    stored, exif = oriented(3)
    yield Specimen("webp, exif orientation 3", encode(stored, "WEBP", lossless=True, exif=exif), Shows())


def gif_and_bmp() -> Iterator[Specimen]:
    """GIF and BMP."""
    yield Specimen("gif", encode(picture(), "GIF"), Shows(tolerance=BARELY))
    yield Specimen("gif, not interlaced", encode(picture(), "GIF", interlace=False), Shows(tolerance=BARELY))
    yield Specimen("gif, without its end", encode(picture(), "GIF").removesuffix(b";"), Shows(tolerance=BARELY))
    for name, image in (
        ("24 bits", picture()),
        ("palette", picture().quantize(8)),
        ("alpha", picture().convert("RGBA")),
    ):
        yield Specimen(f"bmp, {name}", encode(image, "BMP"), Shows(tolerance=BARELY))
    yield Specimen("bmp, top line first", top_down_bmp(), Shows(tolerance=0))


def tiff() -> Iterator[Specimen]:
    """TIFF."""
    for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"):
        yield Specimen(f"tiff, {compression}", encode(picture(), "TIFF", compression=compression), Shows())
    fax = picture(BLACK, WHITE, WHITE, BLACK).convert("1")
    yield Specimen("tiff, fax", encode(fax, "TIFF", compression="group4"), Shows((BLACK, WHITE, WHITE, BLACK)))
    yield Specimen("tiff, cmyk", encode(picture().convert("CMYK"), "TIFF"), Shows())
    pixels = np.asarray(picture())
    yield Specimen("tiff, 16 bits", tiff_of(pixels.astype(np.uint16) << 8), Shows(tolerance=0))
    yield Specimen("tiff, tiled", tiff_of(pixels, tile=(16, 16), compression="zlib"), Shows(tolerance=0))
    yield Specimen("tiff, big-endian", tiff_of(pixels, byteorder=">"), Shows(tolerance=0))
    yield Specimen("tiff, 64-bit offsets", tiff_of(pixels, bigtiff=True), Shows(tolerance=0))
    shades = np.asarray(picture(*grey(*STEPS)).convert("L"))
    yield Specimen("tiff, 16-bit grey", tiff_of(shades.astype(np.uint16) << 8), Shows(grey(*STEPS), tolerance=0))
    stretched = Shows(grey(0, 85, 170, 255), tolerance=2)
    yield Specimen("tiff, floating point", tiff_of(shades.astype(np.float32) / 1e3 - 5), stretched)
    yield Specimen("tiff, 32-bit grey", tiff_of(shades.astype(np.int32) * 1_000), stretched)
    extremes = np.where(shades == 0, -3e38, 3e38).astype(np.float32)
    yield Specimen("tiff, floating point, the largest", tiff_of(extremes), Shows(grey(0, 255, 255, 255)))
    holes = shades.astype(np.float32)
    holes[0, :4] = (np.nan, np.inf, -np.inf, 0)
    yield Specimen("tiff, floating point with holes", tiff_of(holes), stretched)
    lab = Image.merge("LAB", [Image.fromarray(shades), *(Image.new("L", (64, 48), 128) for _ in "ab")])
    yield Specimen("tiff, lab", encode(lab, "TIFF"), Shows(grey(0, 75, 152, 239), tolerance=8))
    stored, _ = oriented(6)
    yield Specimen("tiff, orientation 6", encode(stored, "TIFF", tiffinfo={274: 6}), Shows(tolerance=0))


def avif_and_heic() -> Iterator[Specimen]:
    """AVIF and HEIC."""
    yield Specimen("avif", encode(picture(), "AVIF", quality=90), Shows())
    yield Specimen("avif, opaque alpha", encode(picture().convert("RGBA"), "AVIF", quality=90), Shows())
    yield Specimen("heic", heic(picture()), Shows())
    yield Specimen("heic, ten bits", heic_of_ten_bits(), Shows())
    yield Specimen("heic, opaque alpha", heic(picture().convert("RGBA")), Shows())
    yield Specimen("heic, grey", heic(picture(*grey(*STEPS)).convert("L")), Shows(grey(*STEPS)))
    yield Specimen("heic, in tiles", heic(picture(size=(256, 192)), tile_size=64), Shows(size=(256, 192)))
    yield Specimen(
        "heic, the second of three is the primary",
        heic(picture(BLACK), picture(), picture(WHITE), primary_index=1),
        Shows(),
    )
    yield Specimen("heic, under the brand of all images", heic(picture()).replace(b"ftypheic", b"ftypmif1", 1), Shows())
    for orientation in (3, 5, 6):
        stored, exif = oriented(orientation)
        turned = heic(stored, exif=exif.tobytes())  # both writers also write the box that says it
        yield Specimen(f"heic, turned by its box and by exif {orientation}", turned, Shows())
        yield Specimen(
            f"avif, turned by its box and by exif {orientation}", encode(stored, "AVIF", exif=exif, quality=90), Shows()
        )


def ycck() -> bytes:
    """A JPEG of YCCK, as Photoshop writes them: the CMYK writer is given what it is to store, and the marker says what that is."""
    stored = [ImageOps.invert(channel) for channel in ImageOps.invert(picture()).convert("YCbCr").split()]
    data = encode(Image.merge("CMYK", [*stored, Image.new("L", picture().size, 0)]), "JPEG", quality=95)
    adobe = data.index(b"Adobe")
    return data[: adobe + 11] + b"\2" + data[adobe + 12 :]


def xmp(orientation: int) -> bytes:
    """XMP as Lightroom writes it."""
    return b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="%d"/></x:xmpmeta>' % orientation


def top_down_bmp() -> bytes:
    """A BMP with a negative height."""
    turned = encode(picture().transpose(Image.Transpose.FLIP_TOP_BOTTOM), "BMP")
    return turned[:22] + struct.pack("<i", -48) + turned[26:]


def tiff_of(pixels: Any, **options: Any) -> bytes:
    """A TIFF of tifffile's."""
    file = io.BytesIO()
    photometric = "rgb" if pixels.ndim == 3 else "minisblack"
    tifffile.imwrite(file, pixels, photometric=photometric, metadata=None, **options)
    return file.getvalue()


def heic(*images: Image.Image, **options: Any) -> bytes:
    """A HEIC file. The encoder's own opener is not registered: what reads here is what the service reads with."""
    file = io.BytesIO()
    container = pillow_heif.from_pillow(images[0])
    for image in images[1:]:
        container.add_from_pillow(image)
    container.save(file, quality=95, **options)
    return file.getvalue()


def heic_of_ten_bits() -> bytes:
    """A HEIC file with ten bits a channel."""
    levels = np.asarray(picture()).astype(np.uint16) << 8
    file = io.BytesIO()
    pillow_heif.from_bytes("RGB;16", picture().size, levels.tobytes()).save(file, quality=95)
    return file.getvalue()
