"""The top of a ranking put in order anew: orders in, orders out, best first, int64 [m] rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mmmem.retrieval.fusion import Scores
    from mmmem.types import Int64


def reranked(
    order: Int64, scores: Scores, replaced: Scores, by: Scores, *, counted: NDArray[np.bool_], weight: float
) -> Int64:
    """The order after a closer look at all of it: each memory's score, with one share of it measured anew.

    scores: float [m], what put them in order. replaced: float [m], the share of it that the closer look takes the place of.
    by: float [m], what that says; NaN, nothing to compare, keeps what was. It is brought to the mean and the
    deviation of what it replaces, or to 0 and 1 where that is all one, and counts `weight` times. counted: bool [m], the memories
    that are compared among themselves, and the others among themselves.
    """
    anew = scores.astype(np.float64)
    for group in (counted, ~counted):
        known = ~np.isnan(by) & group
        if known.sum() < 2 or not by[known].std() > 0:
            continue
        standard = (by[known] - by[known].mean()) / by[known].std()
        spread = replaced[known].std()
        anew[known] += weight * (standard * (spread if spread > 0 else 1.0) + replaced[known].mean()) - replaced[known]
    return order[np.argsort(-anew, kind="stable")]


def reaching(counted: NDArray[np.bool_], depth: int) -> int:
    """How many of the first it takes to have `depth` that are counted; all where there are fewer. counted: bool [m]."""
    first = np.flatnonzero(counted)
    return int(first[depth - 1]) + 1 if len(first) >= depth else len(counted)


def newest_forward(
    order: Int64, scores: Scores, times: Int64, *, counted: NDArray[np.bool_], depth: int, nudge: float
) -> Int64:
    """The order with the newest of the first `depth` raised by `nudge`, the oldest by nothing, the others by their rank in age.

    scores: float [m]. times: int64 [m], Unix ms. counted: bool [m], whose ages rank; the others are raised as the next older of those.
    """
    raised = scores.astype(np.float64)
    told = np.unique(times[:depth][counted[:depth]])
    if len(told) > 1:
        ages = np.maximum(np.searchsorted(told, times[:depth], side="right") - 1, 0)
        raised[:depth] += nudge * ages / (len(told) - 1)
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
