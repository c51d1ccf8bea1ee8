"""Cosine of pooled vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mmmem.types import Float32, Int64


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
