"""How near memories are to a time that a question names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mmmem.retrieval.fusion import Scores
    from mmmem.types import Int64

DAY = 86_400_000  # ms
OUTSIDE = 0.7  # beside a time, even by a moment, is less than in it
BEFORE = 2 * DAY  # what is planned is told a little before it happens,
AFTER = 7 * DAY  # what happened in the days after it,
SLACK = 0.25  # and about a long time, this share of it later


def nearness(times: Int64, known: NDArray[np.bool_], windows: Sequence[tuple[int, int]]) -> Scores:
    """float64 [n]: 1 within a window, OUTSIDE and falling off exponentially beside it; the nearest counts. NaN where no time is known.

    times: int64 [n], Unix ms. known: bool [n]. windows: [start, end) in Unix ms, at least one.
    """
    moments = times.astype(np.float64)
    nearest = np.zeros(len(times), dtype=np.float64)
    for start, end in windows:
        slack = SLACK * (end - start)
        early = np.maximum(start - moments, 0) / (BEFORE + slack / 2)
        late = np.maximum(moments - end, 0) / (AFTER + slack)
        inside = (moments >= start) & (moments < end)
        nearest = np.maximum(nearest, np.exp(-(early + late)) * np.where(inside, 1, OUTSIDE))
    return np.where(known, nearest, np.nan)


def within(events: Int64, owners: Int64, n: int, windows: Sequence[tuple[int, int]]) -> Scores:
    """float64 [n]: the share of a time of which a memory speaks that lies in a window, its best; NaN for one that names none.

    events: int64 [e, 2], [start, end) in Unix ms. owners: int64 [e], which memory each is of, in range(n).
    """
    starts, ends = events[:, 0].astype(np.float64), events[:, 1].astype(np.float64)
    best = np.zeros(len(events), dtype=np.float64)
    for start, end in windows:
        shared = np.minimum(ends, end) - np.maximum(starts, start)
        best = np.maximum(best, np.maximum(shared, 0) / (ends - starts))
    found = np.full(n, -np.inf, dtype=np.float64)
    np.maximum.at(found, owners, best)
    return np.where(np.isneginf(found), np.nan, found)
