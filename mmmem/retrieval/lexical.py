"""BM25 (Robertson & Zaragoza, 2009) over hashed terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mmmem.types import Float32, Int64


def bm25(query: Int64, terms: Int64, offsets: Int64, *, k1: float, b: float) -> Float32:
    """BM25 of each memory, float32 [n], 0 where no term matches. A term that the query repeats counts once.

    query: int64 [q]. terms: int64 [L], all memories' terms in a row. offsets: int64 [n+1].
    """
    n = len(offsets) - 1
    scores = np.zeros(n, dtype=np.float64)
    lengths = np.diff(offsets)
    if not len(terms):
        return scores.astype(np.float32)
    norm = k1 * (1 - b + b * lengths / lengths.mean())
    for term in np.unique(query):
        rows, counts = _postings(term, terms, offsets)
        if len(rows):
            idf = np.log1p((n - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += idf * counts * (k1 + 1) / (counts + norm[rows])
    return scores.astype(np.float32)


def _postings(term: np.int64, terms: Int64, offsets: Int64) -> tuple[Int64, Int64]:
    places = np.flatnonzero(terms == term)
    rows, counts = np.unique(np.searchsorted(offsets, places, side="right") - 1, return_counts=True)
    return rows, counts
