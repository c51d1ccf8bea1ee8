"""Encoders in the place of those that are not used: no model is loaded, nothing is encoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.encoders import Chance
from mmmem.types import ImageVectors, QueryEncoding, TextEncoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

    from mmmem.types import Float32, Int32

WIDTH = 1  # of vectors that say nothing: the store's columns have some width


class NoTextEncoder:
    """A TextEncoder without tokens: late interaction and pooled vectors have nothing to say."""

    name = "none"
    dimensions = WIDTH
    token_dimensions = WIDTH

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """See TextEncoder."""
        nothing = TextEncoding(np.zeros(WIDTH, np.float32), np.zeros((0, WIDTH), np.int8), np.zeros(0, np.int32))
        return [nothing for _ in texts]

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """See TextEncoder."""
        ids, background = np.zeros(0, np.int32), np.zeros(0, np.float32)
        nothing = QueryEncoding(np.zeros(WIDTH, np.float32), np.zeros((0, WIDTH), np.float32), ids, background)
        return [nothing for _ in texts]

    def token_texts(self, ids: Int32) -> list[str]:
        """See TextEncoder."""
        return ["" for _ in ids]


class NoDenseEncoder:
    """A DenseEncoder for where pooled vectors come from elsewhere."""

    name = "none"
    dimensions = WIDTH

    def encode_documents(self, texts: Sequence[str]) -> list[Float32]:
        """See DenseEncoder."""
        return [np.zeros(WIDTH, np.float32) for _ in texts]

    def encode_queries(self, texts: Sequence[str]) -> list[Float32]:
        """See DenseEncoder."""
        return self.encode_documents(texts)


class NoImageEncoder:
    """An ImageEncoder that keeps images and compares none."""

    name = "none"
    dimensions = WIDTH
    appearance_dimensions = WIDTH
    appearance_chance = Chance(0.0, 1.0)

    def prepare(self, image: Image) -> Float32:
        """See ImageEncoder."""
        return np.zeros((3, 1, 1), np.float32)

    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageVectors]:
        """See ImageEncoder."""
        return [ImageVectors(np.zeros(WIDTH, np.float32), np.zeros(WIDTH, np.float32)) for _ in prepared]

    def encode_captions(self, texts: Sequence[str], encodings: Sequence[QueryEncoding]) -> list[Float32]:
        """See ImageEncoder."""
        return [np.zeros(WIDTH, np.float32) for _ in texts]

    def caption_chance(self, caption: Float32) -> Chance:
        """See ImageEncoder."""
        return Chance(0.0, 1.0)
