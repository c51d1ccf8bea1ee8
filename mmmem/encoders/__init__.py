"""What turns text and images into vectors, behind three small protocols. `wiring.py` picks the implementations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image

    from mmmem.types import Float32, ImageEncoding, QueryEncoding, TextEncoding


class TextEncoder(Protocol):
    """Encodes text for the dense and the late-interaction channel."""

    @property
    def name(self) -> str:
        """Model, revision and anything else that changes the vectors; a store is bound to it."""

    @property
    def dimensions(self) -> int:
        """Width of a dense vector."""

    @property
    def token_dimensions(self) -> int:
        """Width of a token vector."""

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """Encode each text with its previous turn as context ("" for none); any length, nothing is cut off."""

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """Encode questions."""


class ImageEncoder(Protocol):
    """Encodes images, and text into the same space."""

    @property
    def name(self) -> str:
        """Model, revision and anything else that changes the vectors; a store is bound to it."""

    @property
    def dimensions(self) -> int:
        """Width of an image vector."""

    def encode_images(self, images: Sequence[Image]) -> list[ImageEncoding]:
        """Encode decoded RGB images."""

    def encode_captions(self, texts: Sequence[str]) -> Float32:
        """float32 [n, d]: texts in the images' space, unit rows."""

    @property
    def caption_noise(self) -> tuple[float, float]:
        """Mean and standard deviation of the cosine between a text and an image that have nothing to do with each other."""

    @property
    def image_noise(self) -> tuple[float, float]:
        """The same between two images that have nothing to do with each other."""
