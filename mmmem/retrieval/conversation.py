"""What a memory's place in its conversation says of it: an answer is worth finding for what was asked before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mmmem.retrieval.fusion import Scores
    from mmmem.types import Int64


def inherited(scores: Scores, previous: Int64, asks: NDArray[np.bool_]) -> Scores:
    """float [n]: of a memory that follows a question, that question's score where it is above 0; NaN for all others.

    scores: standard scores, float [n]. previous: int64 [n], the row before in the same session, -1 for none. asks: bool [n].
    """
    answers = (previous >= 0) & asks[previous]
    return np.where(answers, np.maximum(scores[previous], 0), np.nan)


def between(previous: Int64, says: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool [n]: whether a memory says nothing and another one that follows the same turn does: a picture before an answer.

    previous: int64 [n], the row before that says something, -1 for none. says: bool [n].
    """
    followed = np.zeros(len(previous) + 1, dtype=np.bool_)  # -1 reads the last one
    followed[previous[says]] = True
    followed[-1] = False
    return ~says & followed[previous]


def passed_on(scores: Scores, previous: Int64, asks: NDArray[np.bool_]) -> Scores:
    """float [n]: of a question that is followed by another turn, its own score where it is above 0; NaN for all others."""
    followed = np.zeros(len(scores), dtype=np.bool_)
    followed[previous[previous >= 0]] = True
    return np.where(followed & asks, np.maximum(scores, 0), np.nan)


def following(previous: Int64) -> Int64:
    """The row after in the same session, int64 [n], -1 for none, from the row before."""
    after = np.full(len(previous), -1, dtype=np.int64)
    has_before = np.flatnonzero(previous >= 0)
    after[previous[has_before]] = has_before
    return after


def neighbouring(scores: Scores, previous: Int64, following: Int64) -> Scores:
    """float [n]: the better score of the turns just before and after in the same session where it is above 0; NaN without any."""
    padded = np.append(scores, np.nan)  # -1 reads the last one
    better: Scores = np.maximum(np.fmax(padded[previous], padded[following]), 0)
    return better
