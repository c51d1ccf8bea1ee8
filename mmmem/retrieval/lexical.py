"""BM25 (Robertson & Zaragoza, 2009) over posting lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.types import Float32, Int32, Int64


def bm25(postings: Sequence[tuple[Int32, Int32]], lengths: Int64, *, k1: float, b: float) -> Float32:
    """BM25 of each memory, float32 [n], 0 where no term matches.

    postings: for each distinct term of the query the rows that hold it, int32 [p], each once, and how often, int32 [p].
    lengths: int64 [n], terms of each memory.
    """
    n = len(lengths)
    scores = np.zeros(n, dtype=np.float64)
    if not lengths.any():
        return scores.astype(np.float32)
    mean = lengths.mean()
    for rows, counts in postings:
        idf = np.log1p((n - len(rows) + 0.5) / (len(rows) + 0.5))
        norms = k1 * (1 - b + b * lengths[rows] / mean)
        scores[rows] += idf * counts * (k1 + 1) / (counts + norms)
    return scores.astype(np.float32)
