"""Late interaction: every query token takes its best match among a memory's tokens (Khattab & Zaharia, ColBERT, 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.types import SPECIAL

if TYPE_CHECKING:
    from mmmem.types import Float32, Int8, Int32, Int64

SPECIAL_WEIGHT = 0.1  # of [CLS] and [SEP], which match a little of everything, beside IDF weights around 1 to 8
CHUNK = 65_536  # token vectors turned to float32 at a time: 32 MiB at 128 dimensions


def token_idf(query_ids: Int32, token_ids: Int32, token_offsets: Int64) -> Float32:
    """Inverse document frequency of each query token in one user's memories, float32 [q] (Spärck Jones, 1972).

    query_ids: int32 [q]; SPECIAL tokens get SPECIAL_WEIGHT, UNKNOWN ones 0: their vectors say nothing of the word.
    token_ids: int32 [T], all memories' tokens in a row. token_offsets: int64 [n+1], memory i holds offsets[i]:offsets[i+1].
    """
    n = len(token_offsets) - 1
    weights = np.where(query_ids == SPECIAL, SPECIAL_WEIGHT, 0.0).astype(np.float32)
    for token in np.unique(query_ids[query_ids >= 0]):
        places = np.flatnonzero(token_ids == token)
        frequency = len(np.unique(np.searchsorted(token_offsets, places, side="right")))
        weights[query_ids == token] = np.log1p((n - frequency + 0.5) / (frequency + 0.5))
    return weights


def strongest(weights: Float32, limit: int) -> Int64:
    """The places of the `limit` largest weights, in order of place; among equal weights the earlier ones."""
    return np.sort(np.argsort(-weights, kind="stable")[:limit])


def maxsim(query: Float32, weights: Float32, tokens: Int8, scales: Float32, offsets: Int64) -> Float32:
    """Weighted mean over the query's tokens of the best cosine in each memory, float32 [n]; NaN where it has no tokens.

    query: float32 [q, k], unit rows. weights: float32 [q], not all zero. tokens: int8 [T, k]. scales: float32 [T], the
    reciprocal norms of the rows of `tokens`. offsets: int64 [n+1]. Every memory's tokens are exactly its own: nothing is
    padded, so there is nothing to mask.
    """
    n = len(offsets) - 1
    scores = np.full(n, np.nan, dtype=np.float32)
    share = (weights / weights.sum()).astype(np.float32)
    filled = np.flatnonzero(np.diff(offsets))
    start = 0
    while start < len(filled):
        first = offsets[filled[start]]
        stop = max(start + 1, int(np.searchsorted(offsets[filled + 1], first + CHUNK, side="right")))
        rows = filled[start:stop]
        block = slice(int(first), int(offsets[rows[-1] + 1]))
        similarity = tokens[block].astype(np.float32) @ query.T
        similarity *= scales[block, None]
        best = np.maximum.reduceat(similarity, offsets[rows] - first, axis=0)
        scores[rows] = best @ share
        start = stop
    return scores
