"""A Search on its way: the query is encoded, the user's memories are ranked, the best are shown."""

from __future__ import annotations

from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from mmmem.explanation import Explainer
from mmmem.image_budget import ImageBudget
from mmmem.meter import NO_METER, Meter
from mmmem.presentation import present
from mmmem.ranking import Ranker
from mmmem.retrieval.conversation import following
from mmmem.types import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.channels import EncodedQuery
    from mmmem.encoders import TextEncoder
    from mmmem.encoders.batching import EncoderThreads
    from mmmem.questions import QuestionEncoder
    from mmmem.rerankers import Reranker
    from mmmem.settings import Settings
    from mmmem.store import Store, UserArrays
    from mmmem.types import Int64, Memory, Query


class Search:
    """Answers queries from one store, with a reranker or none. `text` is the encoder that the questions are encoded with."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        text: TextEncoder,
        questions: QuestionEncoder,
        *,
        threads: EncoderThreads,
        reranker: Reranker | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        self._settings = settings
        self._store = store
        self._images = ImageBudget(settings, store)
        self._text = text
        self._questions = questions
        self._threads = threads
        self._meter = meter
        self._reranker = reranker
        self._rank = Ranker(settings, reranker)

    def ranked_by(self, settings: Settings) -> Search:
        """The same search with other settings of the ranking, of those that are read anew for every question."""
        parts = (self._store, self._text, self._questions.asked_by(settings))
        return Search(settings, *parts, threads=self._threads, reranker=self._reranker, meter=self._meter)

    def __call__(self, query: Query, *, explained: bool = False) -> list[Hit]:
        """Hits, best first, at most `top_k`; with how each came about if `explained`.

        Raises InvalidImage, TooLarge, StoreUnavailable or ModelUnavailable.
        """
        operation = "explain" if explained else "search"
        with self._meter.stage(operation, "images"):
            prepared = self._questions.prepare(query)
        with self._meter.stage(operation, "load"):
            arrays = self._store.arrays(query.user_id)
        if not len(arrays):
            return []
        with self._meter.stage(operation, "text"):
            encoded = self._questions.encode(query, prepared, pictured=len(arrays.images) > 0)
        asked = perf_counter()

        def found() -> list[Hit]:
            self._meter.spent(operation, "turn", perf_counter() - asked)
            return self._found(query, encoded, arrays, operation)

        return self._threads.compute(found)

    def _found(self, query: Query, encoded: EncodedQuery, arrays: UserArrays, operation: str) -> list[Hit]:
        top_k = min(query.top_k, self._settings.max_return)
        with self._meter.stage(operation, "rank"):
            ranking = self._rank(encoded, arrays, top_k)
        explainer = None
        if operation == "explain":
            explainer = Explainer(ranking, encoded, arrays, self._settings, self._text)
        with self._meter.stage(operation, "present"):
            shown = self._shown(query.user_id, ranking.rows, arrays)
        places = zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True)
        hits = [
            Hit(shown[row], score, explainer(row) if explainer else None)
            for row, score in places
            if row in shown  # else deleted while we were searching
        ]
        return self._within_limit(hits, query.top_k)

    def _shown(self, user_id: str, rows: Int64, arrays: UserArrays) -> dict[int, Memory]:
        """The rows' memories as they are returned."""
        after = following(arrays.previous)
        turns, chars = self._settings.context_turns, self._settings.context_chars
        return {
            row: present(
                memory,
                [arrays.memories[i] for i in islice(_along(arrays.previous, row), turns)][::-1],
                [arrays.memories[i] for i in islice(_along(after, row), turns)],
                chars,
            )
            for row, memory in self._images.load(user_id, rows, arrays).items()
        }

    def _within_limit(self, hits: list[Hit], top_k: int) -> list[Hit]:
        """Those that together hold no more text than an answer may; the first always."""
        limit = self._settings.max_return_chars * max(top_k, 100) // 100
        ends = np.cumsum([len(hit.memory.text) for hit in hits])
        return hits[: max(1, int(np.searchsorted(ends, limit, side="right")))]


def _along(links: Int64, row: int) -> Iterator[int]:
    """The rows that follow each other from one, by links that are -1 at an end."""
    while (row := int(links[row])) >= 0:
        yield row
