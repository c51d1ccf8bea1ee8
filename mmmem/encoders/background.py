"""How common a token is in texts of all kinds, read off the order of its vocabulary.

A user's first memories say little of what is rare: a question's "what" that none of them holds would weigh more than its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mmmem.types import Float32, Int32

WORD_STARTS = "▁Ġ"  # what SentencePiece and byte-level vocabularies put before a word
TEXT_TOKENS = 35  # of a turn in a conversation, on average
ZIPF = 0.1  # share of the commonest word in running text; the r-th has about 1 / r of it (Zipf, 1949),
COMMON = 0.05  # but none more than this


class Background:
    """The share of short texts that hold each token of a vocabulary.

    Vocabularies are made from the commonest words down, so an id beyond the special tokens and single characters is a rank.
    Of single characters, which are in alphabetical order, ASCII ones and punctuation are taken to be common; of the others
    nothing is known.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        plain = {id_: token.removeprefix("##").lstrip(WORD_STARTS) for token, id_ in vocabulary.items()}
        words = (
            id_ for token, id_ in vocabulary.items() if len(plain[id_]) > 1 and plain[id_].isalpha() and token[0] != "#"
        )
        first = min(words, default=0)
        shares = np.zeros(max(plain, default=-1) + 1, dtype=np.float64)
        for id_, text in plain.items():
            if len(text) == 1:
                shares[id_] = COMMON if text.isascii() or not text.isalnum() else 0.0
            elif id_ >= first:
                shares[id_] = ZIPF / (id_ - first + 1 / COMMON * ZIPF)
        self._frequencies = (1 - (1 - shares) ** TEXT_TOKENS).astype(np.float32)

    def of(self, ids: Int32) -> Float32:
        """float32 [q]; 0 for ids below 0, which are no words."""
        return np.where(ids >= 0, self._frequencies[np.maximum(ids, 0)], np.float32(0))
