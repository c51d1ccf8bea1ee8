"""What turns text and images into vectors, behind two small protocols. `wiring.py` picks the implementations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image

    from mmmem.types import Float32, ImageVectors, Int32, QueryEncoding, TextEncoding


class Chance(NamedTuple):
    """Mean and standard deviation of a cosine between things that have nothing to do with each other.

    With it a score reads "so many deviations above chance", whatever the encoder and however few images a user has.
    """

    mean: float
    deviation: float


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
        """Encode each text with its previous turn as context ("" for none); any length. No token is cut off."""

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """Encode questions."""

    def token_texts(self, ids: Int32) -> list[str]:
        """What the tokens of these vocabulary ids look like."""


class DenseEncoder(Protocol):
    """Encodes text for the dense channel alone."""

    @property
    def name(self) -> str:
        """Model, revision and anything else that changes the vectors."""

    @property
    def dimensions(self) -> int:
        """Width of a vector."""

    def encode_documents(self, texts: Sequence[str]) -> list[Float32]:
        """Each text's vector, float32 [d], unit length; zero for a blank text, such as an image's."""

    def encode_queries(self, texts: Sequence[str]) -> list[Float32]:
        """The same for questions."""


class ImageEncoder(Protocol):
    """Encodes images, and text into the same space."""

    @property
    def name(self) -> str:
        """Model, revision and anything else that changes the vectors; a store is bound to it."""

    @property
    def dimensions(self) -> int:
        """Width of a vector in the space that images and texts share."""

    @property
    def appearance_dimensions(self) -> int:
        """Width of what images are compared with each other by."""

    def prepare(self, image: Image) -> Float32:
        """The network's input for one decoded RGB image, float32 [3, h, w], or [v, 3, h, w] for v views: small, so that the image can be let go."""

    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageVectors]:
        """Encode prepared images."""

    def encode_captions(self, texts: Sequence[str], encodings: Sequence[QueryEncoding]) -> list[Float32]:
        """Each text in the images' space, float32 [d], unit length.

        `encodings` are the same texts as the text encoder sees them, for an image encoder that shares its space.
        """

    def caption_chance(self, caption: Float32) -> Chance:
        """How cosines of this text with images that have nothing to do with it are spread."""

    @property
    def appearance_chance(self) -> Chance:
        """How cosines of the appearances of images that have nothing to do with each other are spread."""
