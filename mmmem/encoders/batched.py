"""Encoders that run others on EncoderThreads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.encoders.batching import EncoderThreads, Lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

    from mmmem.encoders import Chance, ImageEncoder, TextEncoder
    from mmmem.types import Float32, ImageVectors, Int32, QueryEncoding, TextEncoding


class BatchedTextEncoder:
    """A TextEncoder that runs another one on EncoderThreads."""

    def __init__(self, encoder: TextEncoder, threads: EncoderThreads) -> None:
        self._encoder = encoder
        self._threads = threads
        self.name = encoder.name
        self.dimensions = encoder.dimensions
        self.token_dimensions = encoder.token_dimensions

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """See TextEncoder."""
        pairs = list(zip(texts, previous, strict=True))
        return self._threads.run(Lane.MEMORY, self._encode_pairs, pairs, cost=lambda pair: len(pair[0]) + len(pair[1]))

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """See TextEncoder."""
        return self._threads.run(Lane.QUERY, self._encoder.encode_queries, texts, cost=len)

    def token_texts(self, ids: Int32) -> list[str]:
        """See TextEncoder."""
        return self._encoder.token_texts(ids)

    def _encode_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[TextEncoding]:
        return self._encoder.encode_memories([text for text, _ in pairs], [before for _, before in pairs])


class BatchedImageEncoder:
    """An ImageEncoder that runs another one on EncoderThreads; `prepare` stays on the caller's thread."""

    def __init__(self, encoder: ImageEncoder, threads: EncoderThreads) -> None:
        self._encoder = encoder
        self._threads = threads
        self.name = encoder.name
        self.dimensions = encoder.dimensions
        self.appearance_dimensions = encoder.appearance_dimensions
        self.appearance_chance = encoder.appearance_chance

    def prepare(self, image: Image) -> Float32:
        """See ImageEncoder."""
        return self._encoder.prepare(image)

    def encode_images(self, prepared: Sequence[Float32]) -> list[ImageVectors]:
        """See ImageEncoder."""
        return self._threads.run(Lane.IMAGE, self._encoder.encode_images, prepared)

    def encode_captions(self, texts: Sequence[str], encodings: Sequence[QueryEncoding]) -> list[Float32]:
        """See ImageEncoder."""
        return self._threads.run(Lane.CAPTION, self._encode_captions, list(zip(texts, encodings, strict=True)))

    def _encode_captions(self, captions: Sequence[tuple[str, QueryEncoding]]) -> list[Float32]:
        return self._encoder.encode_captions([text for text, _ in captions], [encoding for _, encoding in captions])

    def caption_chance(self, caption: Float32) -> Chance:
        """See ImageEncoder."""
        return self._encoder.caption_chance(caption)
