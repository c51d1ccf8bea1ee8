"""Among whom a memory is compared: pictures told beside what is said change nothing between sayings.

Photos without words would lower the mean of every channel of words, and screenshots would make words common that nobody says.
So what says something is measured among what says something, and pictures among all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels.channel import Channel
from mmmem.retrieval.candidates import sample
from mmmem.retrieval.fusion import zscores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mmmem.retrieval.fusion import Scores
    from mmmem.store import UserArrays
    from mmmem.types import Int64

FEW = 30  # fewer have no mean and deviation to speak of


def counted(arrays: UserArrays) -> NDArray[np.bool_]:
    """bool [n]: the memories that say something; all of them where too few do to be compared among themselves."""
    return arrays.says if arrays.says.sum() >= FEW else everybody(arrays)


def everybody(arrays: UserArrays) -> NDArray[np.bool_]:
    """bool [n]: all memories."""
    return np.ones(len(arrays), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Sample:
    """Memories that stand for all of the user's, and those that stand for the ones that are counted: int64 rows."""

    everybody: Int64
    counted: Int64

    @classmethod
    def spread(cls, arrays: UserArrays) -> Sample:
        """Some of many, spread evenly."""
        rows = np.flatnonzero(counted(arrays))
        return cls(sample(len(arrays)), rows[sample(len(rows))])


def standing(
    name: str,
    weight: float,
    measure: Callable[[NDArray[np.bool_]], Scores],
    arrays: UserArrays,
    among: Sample | None = None,
) -> Channel:
    """A channel in standard deviations. measure: scores, float [n], from the memories, bool [n], that say what is rare and usual.

    among: who was scored, where that is not everybody.
    """
    counts = counted(arrays)
    scores = measure(everybody(arrays))
    standard = zscores(scores, among.everybody if among else None)
    if not counts.all():
        own = measure(counts)
        scores = np.where(counts, own, scores)
        standard = np.where(counts, zscores(own, among.counted if among else np.flatnonzero(counts)), standard)
    return Channel(name, weight, scores, standard)
