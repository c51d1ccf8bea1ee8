"""Putting channels together, and ordering. A channel that has nothing to say of a memory gives NaN there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.types import Int64

Scores = NDArray[np.floating]


def ranks(scores: Scores) -> Int64:
    """int64 [n]: each memory's place in one channel, 1 for the best; equal scores share a place; NaN comes last, as n + 1."""
    known = ~np.isnan(scores)
    places = np.full(len(scores), len(scores) + 1, dtype=np.int64)
    descending = -scores[known]
    places[known] = np.searchsorted(np.sort(descending), descending, side="left") + 1
    return places


def reciprocal_rank_fusion(channels: Sequence[Scores], weights: Sequence[float], *, k: float) -> Scores:
    """float64 [n]: the weighted sum of 1 / (k + rank) (Cormack, Clarke & Büttcher, 2009). NaN adds nothing."""
    total = np.zeros(len(channels[0]), dtype=np.float64)
    for scores, weight in zip(channels, weights, strict=True):
        total += np.where(np.isnan(scores), 0.0, weight / (k + ranks(scores)))
    return total


def weighted_sum(channels: Sequence[Scores], weights: Sequence[float]) -> Scores:
    """float64 [n]: the weighted sum of standard scores. NaN counts as 0, a channel's mean: no opinion."""
    total = np.zeros(len(channels[0]), dtype=np.float64)
    for scores, weight in zip(channels, weights, strict=True):
        values = scores.astype(np.float64)
        values[np.isnan(values)] = 0
        total += weight * values
    return total


def weighted_mean(channels: Sequence[Scores], weights: Sequence[float]) -> Scores:
    """float64 [n]: `weighted_sum` over the sum of the weights."""
    return weighted_sum(channels, weights) / sum(weights)


def logistic(scores: Scores) -> Scores:
    """float64 [n] in 0..1, in the same order."""
    return np.exp(-np.logaddexp(0, -scores))


def beyond_luck(standard: Scores, draws: int) -> Scores:
    """Standard scores less what the best of `draws` unrelated ones is expected to reach, sqrt(2 ln draws); 0 below that.

    The mean of the largest of m standard normal values grows like that (Cramér, 1946).
    """
    beyond: Scores = np.maximum(standard - np.sqrt(2 * np.log(max(draws, 1))), 0)  # NaN stays NaN
    return beyond


def zscores(scores: Scores, among: Int64 | None = None) -> Scores:
    """float64 [n]: (score - mean) / standard deviation over the known ones; zeros where all are equal; NaN stays NaN.

    among: int64 rows whose mean and deviation count, where only some of all memories were scored.
    """
    values = scores.astype(np.float64)
    known = values if among is None else values[among]
    known = known[~np.isnan(known)]
    if not len(known):
        return values
    deviation = known.std()
    # Equal scores differ from their mean by rounding, and that is no difference.
    return (values - known.mean()) / deviation if deviation > 1e-12 * np.abs(known).max() else values * 0.0


def best_first(scores: Scores, k: int) -> Int64:
    """int64 [min(k, n)]: rows by falling score, of equal ones the later row first: a total order, however rows were grouped."""
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        rows = np.flatnonzero(scores >= threshold)
    else:
        rows = np.arange(len(scores))
    order: Int64 = np.lexsort((-rows, -scores[rows]))
    return rows[order[:k]]
