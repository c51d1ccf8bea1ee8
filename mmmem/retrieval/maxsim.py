"""Late interaction: every query token takes its best match among a memory's tokens (Khattab & Zaharia, ColBERT, 2020).

Tokens are int8 on both sides, so their products are whole numbers that float32 holds exactly: a memory's score is the same
bits alone, among all memories or among a few, on any machine and however the work is cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.retrieval.products import products, whole_numbers
from mmmem.types import SPECIAL, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.types import Float32, Int8, Int32, Int64

SPECIAL_WEIGHT = 0.1  # of [CLS] and [SEP], which match a little of everything, beside IDF weights around 1 to 8
BLOCK = 8_192  # token vectors at a time: with their products they stay in the CPU's cache


def token_idf(query_ids: Int32, frequencies: Int64, n: int, background: Float32, texts: int) -> Float32:
    """Inverse document frequency of each query token in one user's memories, float32 [q] (Spärck Jones, 1972).

    query_ids: int32 [q]; SPECIAL tokens get SPECIAL_WEIGHT, UNKNOWN ones 0: their vectors say nothing of the word.
    frequencies: int64 [q], how many of the user's n memories hold each token. background: float32 [q], the share of `texts` texts of
    all kinds that do: they are counted as well, so that a word is not rare because a user has said little so far.
    """
    held, among = frequencies + texts * background.astype(np.float64), n + texts
    weights = np.log1p((among - held + 0.5) / (held + 0.5))
    weights = np.where(query_ids >= 0, weights, np.where(query_ids == SPECIAL, SPECIAL_WEIGHT, 0.0))
    return weights.astype(np.float32)


def legibility(query_ids: Int32) -> float:
    """How far an encoder can read a question, 0 to 1: from half of its tokens in the vocabulary, which tell it nothing, to all.

    query_ids: int32 [q].
    """
    own = query_ids[query_ids != SPECIAL]
    known = float((own != UNKNOWN).mean()) if len(own) else 0.0
    return max(2 * known - 1, 0.0)


def strongest(weights: Float32, limit: int) -> Int64:
    """The places of the `limit` largest weights, in order of place; among equal weights the earlier ones."""
    return np.sort(np.argsort(-weights, kind="stable")[:limit])


def maxsim(
    query: Float32, weights: Float32, tokens: Int8, scales: Float32, offsets: Int64, *, rows: Int64 | None = None
) -> Float32:
    """Weighted mean over the query's tokens of the best cosine in each memory, float32 [r]; NaN where it has no tokens.

    weights: float32 [q], not all zero. The rest as in `best_matches`.
    """
    return weighted(best_matches(query, tokens, scales, offsets, rows=rows), weights)


def weighted(best: Float32, weights: Float32) -> Float32:
    """The weighted mean of rows, float32 [r]. best: float32 [q, r]. weights: float32 [q], not all zero.

    Added up token by token: a matrix product would round differently with the number of memories.
    """
    scores = np.zeros(best.shape[1], dtype=np.float32)
    for share, matches in zip((weights / weights.sum()).astype(np.float32), best, strict=True):
        scores += share * matches
    return scores


def best_matches(
    query: Float32, tokens: Int8, scales: Float32, offsets: Int64, *, rows: Int64 | None = None
) -> Float32:
    """The best cosine of each query token in each memory, float32 [q, r]; NaN for a memory that has no tokens.

    query: float32 [q, k]; only its rows' directions count. tokens: int8 [T, k]. scales: float32 [T], the reciprocal norms of the
    rows of `tokens`. offsets: int64 [n+1], memory i holds offsets[i]:offsets[i+1]. rows: int64 [r], the memories to
    compare, ascending; None for all n. Every memory's tokens are exactly its own: nothing is padded, so there is nothing to mask.
    """
    rows = np.arange(len(offsets) - 1) if rows is None else rows
    whole, whole_scales = whole_numbers(query)
    best = np.full((len(query), len(rows)), np.nan, dtype=np.float32)
    lengths = offsets[rows + 1] - offsets[rows]
    filled = np.flatnonzero(lengths)
    starts, lengths = offsets[rows[filled]], lengths[filled]
    ends = np.cumsum(lengths)
    firsts = ends - lengths
    places = np.repeat(starts - firsts, lengths) + np.arange(lengths.sum())
    for block in _blocks(ends):
        first, end = firsts[block.start], ends[block.stop - 1]
        chosen = places[first:end]
        similarity = products(whole, tokens.take(chosen, axis=0), scales.take(chosen))
        best[:, filled[block]] = np.maximum.reduceat(similarity, firsts[block] - first, axis=1)
    return best * whole_scales[:, None]


def _blocks(ends: Int64) -> Iterator[slice]:
    """Runs of memories with about BLOCK tokens together. ends: int64 [m], where the tokens of each end."""
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + BLOCK, side="right")))
        yield slice(start, stop)
        start = stop
