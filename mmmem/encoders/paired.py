"""A dense encoder and a token encoder that together are one TextEncoder: the `clip` profile's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmmem.encoders.background import Background
from mmmem.encoders.colbert import ColbertTokenEncoder
from mmmem.encoders.tokens import quantise
from mmmem.types import QueryEncoding, TextEncoding

if TYPE_CHECKING:
    from mmmem.encoders import DenseEncoder
    from mmmem.types import Int32


class PairedTextEncoder:
    """A TextEncoder: dense vectors from one model, token vectors from another.

    Neither model was trained on a turn with its predecessor beside it, so `previous` is not used: each text is encoded
    as it would be alone.
    """

    def __init__(self, dense: DenseEncoder, tokens: ColbertTokenEncoder) -> None:
        self._dense = dense
        self._tokens = tokens
        self.name = f"{dense.name}+{tokens.name}"
        self.dimensions = dense.dimensions
        self.token_dimensions = tokens.dimensions
        self._background = Background(tokens.vocabulary)

    def encode_memories(self, texts: Sequence[str], previous: Sequence[str]) -> list[TextEncoding]:
        """Encode each text by itself."""
        pairs = zip(self._dense.encode_documents(texts), self._tokens.encode_documents(texts), strict=True)
        return [TextEncoding(dense, quantise(tokens.vectors), tokens.ids) for dense, tokens in pairs]

    def encode_queries(self, texts: Sequence[str]) -> list[QueryEncoding]:
        """Encode questions."""
        pairs = zip(self._dense.encode_queries(texts), self._tokens.encode_queries(texts), strict=True)
        return [
            QueryEncoding(dense, tokens.vectors, tokens.ids, self._background.of(tokens.ids)) for dense, tokens in pairs
        ]

    def token_texts(self, ids: Int32) -> list[str]:
        """See TextEncoder."""
        return self._tokens.token_texts(ids)
