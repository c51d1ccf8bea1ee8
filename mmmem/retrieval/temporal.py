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
BEFORE = 2 * DAY  # what is planned is told a little before it happens,
AFTER = 7 * DAY  # what happened in the days after it,
SLACK = 0.25  # and about a long time, this share of it later


def nearness(times: Int64, known: NDArray[np.bool_], windows: Sequence[tuple[int, int]]) -> Scores:
    """float64 [n]: 1 within a window, falling off exponentially outside; the nearest window counts. NaN where no time is known.

    times: int64 [n], Unix ms. known: bool [n]. windows: [start, end) in Unix ms, at least one.
    """
    moments = times.astype(np.float64)
    nearest = np.zeros(len(times), dtype=np.float64)
    for start, end in windows:
        slack = SLACK * (end - start)
        early = np.maximum(start - moments, 0) / (BEFORE + slack / 2)
        late = np.maximum(moments - end, 0) / (AFTER + slack)
        nearest = np.maximum(nearest, np.exp(-(early + late)))
    return np.where(known, nearest, np.nan)
