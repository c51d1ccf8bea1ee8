"""Pictures as they come to everything that is searched: what they look like, what they show, what is written in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmmem.media.colours import colours
from mmmem.media.fingerprints import fingerprint, without_frame
from mmmem.media.images import ImageReader
from mmmem.types import ImageEncoding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PIL.Image import Image

    from mmmem.encoders import ImageEncoder
    from mmmem.media.ocr import TextReader
    from mmmem.settings import Settings
    from mmmem.types import Float32, ImagePart, UInt8


@dataclass(frozen=True, slots=True)
class PreparedPicture:
    """All that is kept of a decoded picture: the image encoder's input, float32 as it wants it, its fingerprint, colours and text."""

    pixels: Float32
    fingerprint: UInt8
    colours: UInt8
    text: str


class PictureEncoder:
    """Decodes pictures, reads them and encodes them, each once."""

    def __init__(self, settings: Settings, image: ImageEncoder, text: TextReader) -> None:
        self._image = image
        self._text = text
        self._reader = ImageReader(settings)

    def prepare(self, images: Iterable[tuple[str, ImagePart]]) -> list[PreparedPicture]:
        """Pictures decoded and read, in order. `images` are (field, part). Raises InvalidImage or TooLarge for the first bad one."""
        return self._reader.read(images, self._prepare)

    def encode(self, prepared: Sequence[PreparedPicture]) -> list[ImageEncoding]:
        """Everything that is searched. Raises ModelUnavailable."""
        vectors = self._image.encode_images([picture.pixels for picture in prepared])
        return [
            ImageEncoding(seen, picture.fingerprint, picture.colours, picture.text)
            for seen, picture in zip(vectors, prepared, strict=True)
        ]

    def _prepare(self, image: Image) -> PreparedPicture:
        framed = without_frame(image)
        return PreparedPicture(
            self._image.prepare(framed), fingerprint(framed), colours(framed), self._text.read(image)
        )
