"""The top of a ranking put in order anew: orders in, orders out, best first, int64 [m] rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mmmem.retrieval.fusion import Scores
    from mmmem.types import Int64


def reranked(order: Int64, scores: Scores, replaced: Scores, by: Scores, weight: float) -> Int64:
    """The order after a closer look at all of it: each memory's score, with one share of it measured anew.

    scores: float [m], what put them in order. replaced: float [m], the share of it that the closer look takes the place of.
    by: float [m], what that says; NaN, nothing to compare, keeps what was. It is brought to the mean and the
    deviation of what it replaces, or to 0 and 1 where that is all one, and counts `weight` times.
    """
    known = ~np.isnan(by)
    if known.sum() < 2 or not by[known].std() > 0:
        return order
    standard = (by[known] - by[known].mean()) / by[known].std()
    spread = replaced[known].std()
    anew = scores.astype(np.float64)
    anew[known] += weight * (standard * (spread if spread > 0 else 1.0) + replaced[known].mean()) - replaced[known]
    return order[np.argsort(-anew, kind="stable")]


def newest_forward(order: Int64, scores: Scores, times: Int64, depth: int, nudge: float) -> Int64:
    """The order with the newest of the first `depth` raised by `nudge`, the oldest by nothing, the others by their rank in age.

    scores: float [m]. times: int64 [m], Unix ms.
    """
    depth = min(depth, len(order))
    raised = scores.astype(np.float64)
    ages = np.unique(times[:depth], return_inverse=True)[1]
    if depth and ages.max() > 0:
        raised[:depth] += nudge * ages / ages.max()
    head = np.argsort(-raised[:depth], kind="stable")
    return np.concatenate([order[:depth][head], order[depth:]])


def repeats(keys: Int64) -> NDArray[np.bool_]:
    """bool [m]: whether a memory says what one before it says. keys: int64 [m], in order, equal for the same."""
    again = np.ones(len(keys), dtype=np.bool_)
    again[np.unique(keys, return_index=True)[1]] = False
    return again


def behind(order: Int64, last: NDArray[np.bool_]) -> Int64:
    """The order with these moved behind all others. last: bool [m]."""
    return np.concatenate([order[~last], order[last]])


def with_floors(order: Int64, needs: Sequence[Int64], *, places: int, floor: int) -> Int64:
    """The order with the best `floor` memories of each need among its first `places`, so that no need goes without.

    needs: for each, rows best first. Those that were not among the first take the place of the last ones there that no need
    asks for, behind the others; the rest keep their order.
    """
    asked = list(
        dict.fromkeys(row for best in zip(*(need[:floor].tolist() for need in needs), strict=False) for row in best)
    )
    head = order[:places]
    missing = [row for row in asked if row not in head][:places]
    others = np.flatnonzero(~np.isin(head, asked))
    room = places - len(head)
    left_out = others[max(len(others) - max(len(missing) - room, 0), 0) :]
    kept = np.delete(head, left_out)
    first = np.concatenate([kept, np.array(missing[: places - len(kept)], dtype=np.int64)])
    return np.concatenate([first, order[~np.isin(order, first)]])
