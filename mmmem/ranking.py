"""From what the channels say to an order: fusion, then what looks again at its top."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels import added_up, channels, counted, token_weights
from mmmem.rerankers import Candidates, Question
from mmmem.retrieval.fusion import best_first, logistic, reciprocal_rank_fusion, zscores
from mmmem.retrieval.selection import behind, newest_forward, reaching, repeats, reranked, with_floors
from mmmem.terms import hashed, terms
from mmmem.texts import asks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mmmem.channels import Channel, EncodedQuery
    from mmmem.rerankers import Reranker
    from mmmem.retrieval.fusion import Scores
    from mmmem.settings import Settings
    from mmmem.store import UserArrays
    from mmmem.types import Int64

SPARE = 2  # times top_k are ranked, so that there is something to take the place of repeats


@dataclass(frozen=True, slots=True)
class Ranking:
    """Memories in order, and how that came about.

    rows: int64 [m], best first. scores: float64 [m], in 0..1, falling. channels: what each said of all n. fused: float64 [n].
    reranked: float [n] or None, NaN for what the reranker did not see.
    """

    rows: Int64
    scores: Scores = field(repr=False)
    channels: Sequence[Channel]
    fused: Scores = field(repr=False)
    reranked: Scores | None = field(repr=False)


class Ranker:
    """Ranks with one set of settings, and a reranker or none."""

    def __init__(self, settings: Settings, reranker: Reranker | None) -> None:
        self._settings = settings
        self._reranker = reranker

    def __call__(self, query: EncodedQuery, arrays: UserArrays, top_k: int) -> Ranking:
        """The user's memories for a query, `top_k` at most. Raises ModelUnavailable when a reranker's model fails."""
        settings = self._settings
        found = channels(query, arrays, settings)
        fused = fuse(found, len(arrays), settings)
        order = best_first(fused, max(SPARE * top_k, settings.rerank_top_n))
        # A place keeps its score, whoever takes it: what comes later builds on the order, and scores never rise down the list.
        scores = fused[order]
        looked = None
        if self._reranker and query.text:
            looked = self._look_again(query, order[: settings.rerank_top_n], found, arrays)
            order = self._reranked(order, found, fused, looked, counted(arrays))
        if query.needs and settings.need_places:
            order = self._with_floors(order, query.needs, arrays)
        if query.caption and query.caption.possible and settings.picture_places and len(arrays.images):
            order = self._with_pictures(order, query.for_picture(), arrays)
        if settings.recency:
            counts = counted(arrays)[order[: len(scores)]]
            depth = reaching(counts, settings.recency_depth)
            # When a message without a time came says how Adds were grouped, so then the order in which they were told counts.
            told = arrays.times[order] if arrays.timed[order[:depth]].all() else order
            order = newest_forward(order, scores, told, counted=counts, depth=depth, nudge=settings.recency)
        if settings.deduplicate:
            order = behind(order, repeats(arrays.keys[order]) | _echoes(query, order, arrays))
        total = sum(channel.weight for channel in found) or 1.0
        return Ranking(order[:top_k], logistic(scores[:top_k] / total), found, fused, looked)

    def _look_again(self, query: EncodedQuery, rows: Int64, found: Sequence[Channel], arrays: UserArrays) -> Scores:
        """What the reranker says of these rows, float [n]; NaN for all others."""
        assert self._reranker and query.text
        looked = np.full(len(arrays), np.nan)
        if self._reranker.name == "maxsim":
            # What was compared already it would say the same of again, and without tokens it says nothing.
            looked[rows] = next((channel.scores[rows] for channel in found if channel.name == "maxsim"), np.nan)
            rows = rows[np.isnan(looked[rows]) & (np.diff(arrays.token_offsets)[rows] > 0)]
            if not len(rows):
                return looked
        weights = token_weights(query.text, arrays, self._settings, counted(arrays))
        looked[rows] = self._reranker(Question(query.question, query.text.encoding, weights), _candidates(rows, arrays))
        return looked

    def _reranked(
        self, order: Int64, found: Sequence[Channel], fused: Scores, looked: Scores, counts: NDArray[np.bool_]
    ) -> Int64:
        """The order with its first `rerank_top_n` anew: what the reranker says takes the place of what late interaction did."""
        top, rest = order[: self._settings.rerank_top_n], order[self._settings.rerank_top_n :]
        late = [channel.weight * channel.standard[top] for channel in found if channel.name == "maxsim"]
        said = np.nan_to_num(late[0]) if late and self._settings.fusion == "zscore" else np.zeros(len(top))
        return np.concatenate(
            [
                reranked(top, fused[top], said, looked[top], counted=counts[top], weight=self._settings.weight_rerank),
                rest,
            ]
        )

    def _with_floors(self, order: Int64, needs: Sequence[EncodedQuery], arrays: UserArrays) -> Int64:
        """The order with places among its first for the best memories of each need."""
        settings = self._settings
        places, floor = settings.need_depth, settings.need_places
        best = [best_first(fuse(channels(need, arrays, settings), len(arrays), settings), floor) for need in needs]
        return with_floors(order, best, places=places, floor=floor)

    def _with_pictures(self, order: Int64, query: EncodedQuery, arrays: UserArrays) -> Int64:
        """The order with places among its first for the best pictures. query: one that asks for them."""
        settings = self._settings
        found = channels(query, arrays, settings)
        alike = next((channel.scores for channel in found if channel.name == "text_to_image"), np.zeros(len(arrays)))
        likely = np.flatnonzero(np.nan_to_num(alike) >= settings.picture_least)
        best = likely[best_first(fuse(found, len(arrays), settings)[likely], settings.picture_places)]
        return with_floors(order, [best], places=settings.picture_depth, floor=settings.picture_places)


def fuse(found: Sequence[Channel], n: int, settings: Settings) -> Scores:
    """What the channels say together, float64 [n], in standard deviations."""
    if not found:
        return np.zeros(n)
    if settings.fusion == "rrf":
        ranked = [channel for channel in found if not channel.demotes]
        weights = [channel.weight for channel in ranked]
        return zscores(reciprocal_rank_fusion([channel.scores for channel in ranked], weights, k=settings.rrf_k))
    return added_up(found)


def _echoes(query: EncodedQuery, rows: Int64, arrays: UserArrays) -> NDArray[np.bool_]:
    """bool [m]: whether a memory is the question itself, asked before or just now. It answers nothing."""
    if not query.text:
        return np.zeros(len(rows), dtype=np.bool_)
    asked = query.text.terms
    alike: NDArray[np.bool_] = (arrays.lengths[rows] == len(asked)) & (arrays.asks[rows] | asks(query.question))
    for place in np.flatnonzero(alike).tolist():
        alike[place] = np.array_equal(hashed(terms(arrays.memories[rows[place]].text)), asked)
    return alike


def _candidates(rows: Int64, arrays: UserArrays) -> Candidates:
    bounds = [(arrays.token_offsets[row], arrays.token_offsets[row + 1]) for row in rows.tolist()]
    places = np.concatenate([np.arange(start, end) for start, end in bounds] or [np.zeros(0, np.int64)])
    return Candidates(
        texts=[arrays.memories[row].text for row in rows.tolist()],
        tokens=arrays.tokens[places],
        token_scales=arrays.token_scales[places],
        token_offsets=np.cumsum([0, *(end - start for start, end in bounds)]),
    )
