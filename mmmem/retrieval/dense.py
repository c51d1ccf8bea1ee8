"""Cosine of pooled vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.retrieval.products import products, whole_numbers

if TYPE_CHECKING:
    from mmmem.types import Float32, Int8, Int64

BLOCK = 2_048  # vectors at a time: they stay in the CPU's cache


def whole_cosine(query: Float32, vectors: Int8, scales: Float32) -> Float32:
    """float32 [n]: the query, float32 [d], against rows int8 [n, d] with the reciprocals of their norms, float32 [n]."""
    whole, norms = whole_numbers(query[None])
    scores = np.empty(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), BLOCK):
        block = slice(start, start + BLOCK)
        scores[block] = products(whole, vectors[block], scales[block])[0]
    return scores * norms


def cosine(query: Float32, vectors: Float32) -> Float32:
    """float32 [n]: the query, float32 [d], against unit rows float32 [n, d]."""
    scores: Float32 = vectors @ query
    return scores


def best_of_owner(scores: Float32, owners: Int64, n: int) -> Float32:
    """The best score of each owner, float32 [n]: a memory's best image. NaN for an owner that has none.

    scores: float32 [m]. owners: int64 [m], each in range(n).
    """
    best = np.full(n, -np.inf, dtype=np.float32)
    np.maximum.at(best, owners, scores)
    best[np.isneginf(best)] = np.nan
    return best
