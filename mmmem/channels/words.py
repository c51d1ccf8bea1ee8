"""The channels that compare words: late interaction, BM25 over terms, over identifiers, over names, and pooled vectors.

Of a large user's memories late interaction compares only candidates: those that the others, which cost little, put first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mmmem.channels.channel import Channel, heavier, switched_on, together
from mmmem.channels.standing import Sample, counted, standing
from mmmem.retrieval.candidates import candidates
from mmmem.retrieval.dense import whole_cosine
from mmmem.retrieval.lexical import bm25
from mmmem.retrieval.maxsim import best_matches, legibility, strongest, token_idf, weighted
from mmmem.types import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mmmem.channels.query import EncodedText
    from mmmem.retrieval.fusion import Scores
    from mmmem.settings import Settings
    from mmmem.store import UserArrays
    from mmmem.types import Float32, Int64


@dataclass(frozen=True, slots=True)
class Compared:
    """The memories that late interaction compares, int64 rows ascending, and those of them that stand for all; None where all are."""

    rows: Int64
    sample: Sample | None

    @classmethod
    def among(
        cls, words: Sequence[Words], others: Sequence[Channel], arrays: UserArrays, settings: Settings
    ) -> Compared:
        """All of them, or of more than `exact_memories` the candidates. `others` are cheap channels that are no words'."""
        n = len(arrays)
        if n <= settings.exact_memories:
            return cls(np.arange(n), None)
        cheap = [*others]
        for text, lexical in words:
            cheap += [heavier(lexical[0], 1.0), *lexical[1:], _dense(text, arrays, weight=1.0)]
        cheap = switched_on(cheap)
        scores = together(cheap) if cheap else np.zeros(n)
        compared, spread = np.zeros(n, dtype=np.bool_), Sample.spread(arrays)
        compared[candidates(scores, settings.candidates, arrays.said_before, arrays.asks)] = True
        compared[spread.everybody] = compared[spread.counted] = True
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
    for (text, lexical), matches in zip(words, matched, strict=True):
        readable = legibility(text.encoding.token_ids)
        late = _late(settings.weight_maxsim * readable, matches, compared, arrays, settings)
        # What the encoder's vocabulary cannot read (Chinese, in a model for English) is left to the words themselves.
        more = heavier(lexical[0], settings.weight_maxsim * (1 - readable))
        dense = [_dense(text, arrays, settings.weight_dense)] if settings.weight_dense else []
        found.append(switched_on([late, more, *lexical[1:], *dense]))
    return found


@dataclass(frozen=True, slots=True)
class Matches:
    """How well a text's tokens are matched, float32 [q, r] at `places` of the text, in the memories compared, int64 rows [r]."""

    text: EncodedText
    places: Int64
    best: Float32
    rows: Int64

    def scores(self, arrays: UserArrays, settings: Settings, counts: NDArray[np.bool_]) -> Float32:
        """IDF-weighted MaxSim, float32 [n], NaN for what is not compared. counts: as in `token_weights`."""
        scores = np.full(len(arrays), np.nan, dtype=np.float32)
        weights = token_weights(self.text, arrays, settings, counts)[self.places]
        if len(self.best) and weights.any():
            scores[self.rows] = weighted(self.best, weights)
        return scores


def late_interaction(
    texts: Sequence[EncodedText], compared: Compared, arrays: UserArrays, settings: Settings
) -> list[Matches]:
    """What each text matches; nothing where late interaction is off. One pass over the memories for all texts."""
    counts = counted(arrays)
    weights = [token_weights(text, arrays, settings, counts) for text in texts]
    kept = [strongest(of_text, settings.max_query_tokens) for of_text in weights]
    if not settings.weight_maxsim or not any(of_text.any() for of_text in weights):
        return [
            Matches(text, places, np.zeros((0, 0), np.float32), compared.rows)
            for text, places in zip(texts, kept, strict=True)
        ]
    vectors = np.concatenate([text.encoding.tokens[places] for text, places in zip(texts, kept, strict=True)])
    best = best_matches(vectors, arrays.tokens, arrays.token_scales, arrays.token_offsets, rows=compared.rows)
    pieces = np.split(best, np.cumsum([len(places) for places in kept])[:-1])
    return [Matches(*found, compared.rows) for found in zip(texts, kept, pieces, strict=True)]


def token_weights(text: EncodedText, arrays: UserArrays, settings: Settings, counts: NDArray[np.bool_]) -> Float32:
    """What each query token weighs, float32 [q]. counts: bool [n], the memories that say what is rare: all, or those that say something."""
    ids = text.encoding.token_ids
    if not settings.token_idf:
        return np.where(ids == UNKNOWN, np.float32(0), np.float32(1))
    frequencies = arrays.token_frequencies.of(ids)
    if not counts.all():
        frequencies = frequencies - arrays.unsaid_frequencies.of(ids)
    return token_idf(ids, frequencies, int(counts.sum()), text.encoding.background, settings.background_texts)


def _late(weight: float, matches: Matches, compared: Compared, arrays: UserArrays, settings: Settings) -> Channel:
    late = standing("maxsim", weight, partial(matches.scores, arrays, settings), arrays, compared.sample)
    if len(compared.rows) < len(arrays) and not np.isnan(late.standard).all():
        left_out = np.ones(len(arrays), dtype=np.bool_)
        left_out[compared.rows] = False
        late.standard[left_out] = np.nanmin(late.standard)  # what nothing else put forward is not better than what was
    return late


def _as_held(text: EncodedText, arrays: UserArrays) -> Int64:
    """The terms of each name whole where a memory holds it so, else of the names in it: what has the whole has its parts too."""
    terms = [name[:1] if arrays.postings.of(name[:1]) else name for name in text.identifiers]
    return np.concatenate(terms)


def _bm25(name: str, weight: float, terms: Int64, arrays: UserArrays, settings: Settings) -> Channel:
    postings = arrays.postings.of(terms)
    measure = partial(bm25, postings, arrays.lengths, k1=settings.bm25_k1, b=settings.bm25_b)
    return standing(name, weight, measure, arrays)


def _dense(text: EncodedText, arrays: UserArrays, weight: float) -> Channel:
    scores: Scores = whole_cosine(text.encoding.dense, arrays.dense, arrays.dense_scales)
    return standing("dense", weight, lambda _: scores, arrays)
