"""Altered copies of a picture, as they come back to someone who asks about it. RGB in, RGB out; the same every time."""

from __future__ import annotations

import io
from collections.abc import Callable

from benchmark_screens import font
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps

THUMBNAIL = 96  # px of the longer side


def cut(image: Image.Image, share: float, x: float, y: float) -> Image.Image:
    """A window of this share of either side; x and y, from 0 to 1, say where it lies."""
    width, height = round(share * image.width), round(share * image.height)
    left, top = round(x * (image.width - width)), round(y * (image.height - height))
    return image.crop((left, top, left + width, top + height))


def scaled(image: Image.Image, factor: float) -> Image.Image:
    """Smaller or larger."""
    return image.resize((max(1, round(image.width * factor)), max(1, round(image.height * factor))))


def saved(image: Image.Image, form: str, quality: int) -> Image.Image:
    """What is left of it in a lossy file."""
    file = io.BytesIO()
    image.save(file, form, quality=quality)
    return Image.open(file).convert("RGB")


def shifted(image: Image.Image) -> Image.Image:
    """Warmer: more red, less blue, and the hues turned by 25 degrees."""
    hue, saturation, value = image.convert("HSV").split()
    turned = Image.merge("HSV", (hue.point(lambda level: (level + 18) % 256), saturation, value)).convert("RGB")
    red, green, blue = turned.split()
    return Image.merge("RGB", (red.point(lambda v: min(255, v * 1.15)), green, blue.point(lambda v: v * 0.85)))


def letterboxed(image: Image.Image) -> Image.Image:
    """With black bars that make it square, and a thin frame."""
    side = max(image.size)
    return ImageOps.expand(ImageOps.pad(image, (side, side), color="black"), side // 40, "black")


def on_a_page(image: Image.Image) -> Image.Image:
    """A screenshot that shows the picture in a web page, on a good half of either side."""
    page = Image.new("RGB", (round(image.width * 1.7), round(image.height * 1.6)), "white")
    pen, bar = ImageDraw.Draw(page), round(image.height * 0.12)
    pen.rectangle((0, 0, page.width, bar), "#e6e6e6")
    pen.rounded_rectangle((bar, bar * 0.2, page.width - bar, bar * 0.8), bar * 0.25, "white")
    page.paste(image, (round(image.width * 0.3), round(image.height * 0.25)))
    return page


def written_on(image: Image.Image) -> Image.Image:
    """With a line of text across its lower part, as a meme has it."""
    copy = image.copy()
    size = max(10, image.width // 12)
    at = (image.width / 2, image.height * 0.85)
    pen = ImageDraw.Draw(copy)
    pen.text(at, "WHEN IT IS MONDAY", "white", font(size), "mm", stroke_width=max(1, size // 12), stroke_fill="black")
    return copy


ALTERATIONS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "centre crop, 70 %": lambda image: cut(image, 0.7, 0.5, 0.5),
    "off-centre crop, 65 %": lambda image: cut(image, 0.65, 0.15, 0.8),
    "half size": lambda image: scaled(image, 0.5),
    "thumbnail, 96 px": lambda image: scaled(image, THUMBNAIL / max(image.size)),
    "JPEG, quality 30": lambda image: saved(image, "JPEG", 30),
    "WebP, quality 50": lambda image: saved(image, "WEBP", 50),
    "rotated by 90 degrees": lambda image: image.transpose(Image.Transpose.ROTATE_90),
    "rotated by 180 degrees": lambda image: image.transpose(Image.Transpose.ROTATE_180),
    "rotated by 5 degrees": lambda image: image.rotate(5, Image.Resampling.BICUBIC),
    "mirrored": ImageOps.mirror,
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.5),
    "darker": lambda image: ImageEnhance.Brightness(image).enhance(0.55),
    "colour-shifted": shifted,
    "grey": lambda image: ImageOps.grayscale(image).convert("RGB"),
    "blurred": lambda image: image.filter(ImageFilter.GaussianBlur(max(image.size) / 150)),
    "letterboxed": letterboxed,
    "shown on a page": on_a_page,
    "text across": written_on,
}


def opened(data: bytes) -> Image.Image:
    """An image file as RGB, what is transparent in it on white."""
    image: Image.Image = Image.open(io.BytesIO(data))
    if image.mode in {"RGBA", "LA", "P"}:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def jpeg(image: Image.Image) -> bytes:
    """The file of a photo."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    return file.getvalue()


def png(image: Image.Image) -> bytes:
    """The file of a screenshot."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
