"""Which memories of a large user late interaction compares, and which stand for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.retrieval.fusion import best_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mmmem.retrieval.fusion import Scores
    from mmmem.types import Int64

SAMPLE = 512  # memories whose scores stand for all: their mean is within a twentieth of a standard deviation


def candidates(scores: Scores, depth: int, previous: Int64, asks: NDArray[np.bool_]) -> Int64:
    """The `depth` best memories, the questions that they answer and the answers to them: int64 rows, ascending.

    previous: int64 [n], the row before in the same session, -1 for none. asks: bool [n].
    """
    chosen = np.zeros(len(scores), dtype=np.bool_)
    chosen[best_first(scores, depth)] = True
    answers = np.flatnonzero((previous >= 0) & asks[previous])
    questions = previous[answers]
    found = chosen.copy()
    found[answers] |= chosen[questions]
    found[questions] |= chosen[answers]
    return np.flatnonzero(found)


def sample(n: int) -> Int64:
    """Up to SAMPLE rows spread evenly over all n: the same ones for the same memories."""
    return np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64)
