"""Pictures drawn for the tests, as data URLs."""

import base64
import io

from PIL import Image, ImageDraw


def draw(colour: str = "red", shape: str = "ellipse") -> Image.Image:
    """A shape on white."""
    image = Image.new("RGB", (96, 96), "white")
    getattr(ImageDraw.Draw(image), shape)((16, 16, 80, 80), fill=colour)
    return image


def data_url(image: Image.Image, image_format: str = "PNG", mime: str | None = None) -> str:
    """The image file as a data URL."""
    file = io.BytesIO()
    image.save(file, image_format)
    return url_of(file.getvalue(), mime or f"image/{image_format.lower()}")


def url_of(data: bytes, mime: str = "image/png") -> str:
    """Any bytes as a data URL."""
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def image_part(url: str) -> dict[str, object]:
    """A content part."""
    return {"type": "image_url", "image_url": {"url": url}}


def text_part(text: str) -> dict[str, object]:
    """A content part."""
    return {"type": "text", "text": text}
