"""BM25 (Robertson & Zaragoza, 2009) over posting lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mmmem.types import Float32, Int32, Int64


def bm25(
    postings: Sequence[tuple[Int32, Int32]], lengths: Int64, counted: NDArray[np.bool_], *, k1: float, b: float
) -> Float32:
    """BM25 of each memory, float32 [n], 0 where no term matches.

    postings: for each distinct term of the query the rows that hold it, int32 [p], each once, and how often, int32 [p].
    lengths: int64 [n], terms of each memory. counted: bool [n], the memories that say which terms are rare and what length is common,
    at least one.
    """
    scores = np.zeros(len(lengths), dtype=np.float64)
    common, n = lengths[counted].mean(), counted.sum()
    if not common:
        return scores.astype(np.float32)
    for rows, counts in postings:
        held = counted[rows].sum()
        idf = np.log1p((n - held + 0.5) / (held + 0.5))
        norms = k1 * (1 - b + b * lengths[rows] / common)
        scores[rows] += idf * counts * (k1 + 1) / (counts + norms)
    return scores.astype(np.float32)
