"""The channels that compare words: late interaction, BM25 over terms, over identifiers, over names, and pooled vectors.

Of a large user's memories late interaction compares only candidates: those that the others, which cost little, put first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmmem.channels.channel import Channel, heavier, switched_on, together
from mmmem.retrieval.candidates import candidates, sample
from mmmem.retrieval.dense import whole_cosine
from mmmem.retrieval.fusion import zscores
from mmmem.retrieval.lexical import bm25
from mmmem.retrieval.maxsim import best_matches, legibility, strongest, token_idf, weighted
from mmmem.types import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.channels.query import EncodedText
    from mmmem.retrieval.fusion import Scores
    from mmmem.settings import Settings
    from mmmem.store import UserArrays
    from mmmem.types import Float32, Int64


@dataclass(frozen=True, slots=True)
class Compared:
    """The memories that late interaction compares, int64 rows ascending, and those of them that stand for all of the user's."""

    rows: Int64
    sample: Int64

    @classmethod
    def among(
        cls, words: Sequence[Words], others: Sequence[Channel], arrays: UserArrays, settings: Settings
    ) -> Compared:
        """All of them, or of more than `exact_memories` the candidates. `others` are cheap channels that are no words'."""
        n = len(arrays)
        everything = np.arange(n)
        if n <= settings.exact_memories:
            return cls(everything, everything)
        cheap = [*others]
        for text, lexical in words:
            cheap += [heavier(lexical[0], 1.0), *lexical[1:], _dense(text, arrays, weight=1.0)]
        cheap = switched_on(cheap)
        scores = together(cheap) if cheap else np.zeros(n)
        compared, spread = np.zeros(n, dtype=np.bool_), sample(n)
        compared[candidates(scores, settings.candidates, arrays.said_before, arrays.asks)] = True
        compared[spread] = True
        return cls(np.flatnonzero(compared), spread)


class Words(NamedTuple):
    """A text, and what BM25 says of it: over all of its terms first, then over its names of both kinds alone."""

    text: EncodedText
    lexical: list[Channel]

    @classmethod
    def of(cls, text: EncodedText, arrays: UserArrays, settings: Settings) -> Words:
        """Compare the terms of a text."""
        found = [_bm25("lexical", settings.weight_lexical, text.terms, arrays, settings)]
        if text.identifiers and settings.weight_identifiers:
            found.append(_bm25("identifiers", settings.weight_identifiers, _as_held(text, arrays), arrays, settings))
        if len(text.entities) and settings.weight_entities:
            found.append(_bm25("entities", settings.weight_entities, text.entities, arrays, settings))
        return cls(text, found)


def word_channels(
    words: Sequence[Words], compared: Compared, arrays: UserArrays, settings: Settings
) -> list[list[Channel]]:
    """Of each text the channels that are switched on."""
    matched = late_interaction([text for text, _ in words], compared, arrays, settings)
    found = []
    for (text, lexical), scores in zip(words, matched, strict=True):
        readable = legibility(text.encoding.token_ids)
        late = _late(settings.weight_maxsim * readable, scores, compared, arrays)
        # What the encoder's vocabulary cannot read (Chinese, in a model for English) is left to the words themselves.
        more = heavier(lexical[0], settings.weight_maxsim * (1 - readable))
        dense = [_dense(text, arrays, settings.weight_dense)] if settings.weight_dense else []
        found.append(switched_on([late, more, *lexical[1:], *dense]))
    return found


def late_interaction(
    texts: Sequence[EncodedText], compared: Compared, arrays: UserArrays, settings: Settings
) -> list[Float32]:
    """IDF-weighted MaxSim of each text, float32 [n], NaN for what is not compared. One pass over the memories for all texts."""
    weights = [token_weights(text, arrays, settings) for text in texts]
    kept = [strongest(of_text, settings.max_query_tokens) for of_text in weights]
    vectors = [text.encoding.tokens[places] for text, places in zip(texts, kept, strict=True)]
    weights = [of_text[places] for of_text, places in zip(weights, kept, strict=True)]
    scores = [np.full(len(arrays), np.nan, dtype=np.float32) for _ in texts]
    if not settings.weight_maxsim or not any(weight.any() for weight in weights):
        return scores
    best = best_matches(
        np.concatenate(vectors), arrays.tokens, arrays.token_scales, arrays.token_offsets, rows=compared.rows
    )
    start = 0
    for of_text, weight in zip(scores, weights, strict=True):
        if weight.any():
            of_text[compared.rows] = weighted(best[start : start + len(weight)], weight)
        start += len(weight)
    return scores


def token_weights(text: EncodedText, arrays: UserArrays, settings: Settings) -> Float32:
    """What each query token weighs, float32 [q]."""
    ids = text.encoding.token_ids
    if not settings.token_idf:
        return np.where(ids == UNKNOWN, np.float32(0), np.float32(1))
    frequencies = arrays.token_frequencies.of(ids)
    return token_idf(ids, frequencies, len(arrays), text.encoding.background, settings.background_texts)


def _late(weight: float, scores: Float32, compared: Compared, arrays: UserArrays) -> Channel:
    standard = zscores(scores, compared.sample)
    if len(compared.rows) < len(arrays) and not np.isnan(standard).all():
        left_out = np.ones(len(arrays), dtype=np.bool_)
        left_out[compared.rows] = False
        standard[left_out] = np.nanmin(standard)  # what nothing else put forward is not better than what was
    return Channel("maxsim", weight, scores, standard)


def _as_held(text: EncodedText, arrays: UserArrays) -> Int64:
    """The terms of each name whole where a memory holds it so, else of the names in it: what has the whole has its parts too."""
    terms = [name[:1] if arrays.postings.of(name[:1]) else name for name in text.identifiers]
    return np.concatenate(terms)


def _bm25(name: str, weight: float, terms: Int64, arrays: UserArrays, settings: Settings) -> Channel:
    scores = bm25(arrays.postings.of(terms), arrays.lengths, k1=settings.bm25_k1, b=settings.bm25_b)
    return Channel(name, weight, scores, zscores(scores))


def _dense(text: EncodedText, arrays: UserArrays, weight: float) -> Channel:
    scores: Scores = whole_cosine(text.encoding.dense, arrays.dense, arrays.dense_scales)
    return Channel("dense", weight, scores, zscores(scores))
