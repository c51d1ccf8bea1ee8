"""How a memory came to its place: what each channel, the fusion and the reranker said, and which tokens met."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.channels import counted, token_weights
from mmmem.retrieval.maxsim import strongest
from mmmem.types import SPECIAL, UNKNOWN, ChannelScore, Explanation, PictureReading, Place, TokenMatch

if TYPE_CHECKING:
    from mmmem.channels import EncodedQuery
    from mmmem.encoders import TextEncoder
    from mmmem.ranking import Ranking
    from mmmem.retrieval.fusion import Scores
    from mmmem.settings import Settings
    from mmmem.store import UserArrays
    from mmmem.types import Float32


MOST_TOKENS = 32  # of a question that are shown, the weightiest


class Explainer:
    """Explains the rows of one ranking."""

    def __init__(
        self, ranking: Ranking, query: EncodedQuery, arrays: UserArrays, settings: Settings, text: TextEncoder
    ) -> None:
        self._ranking = ranking
        self._query = query.text
        self._query_pictures = tuple(picture.reading for picture in query.images)
        self._arrays = arrays
        self._text = text
        self._weights = (
            token_weights(query.text, arrays, settings, counted(arrays)) if query.text else np.zeros(0, np.float32)
        )

    def __call__(self, row: int) -> Explanation:
        """How this memory came to its place."""
        ranking = self._ranking
        said = {
            channel.name: ChannelScore(
                *_place(channel.scores, row),
                channel.weight,
                channel.weight * float(np.nan_to_num(channel.standard[row])),
            )
            for channel in ranking.channels
            if not np.isnan(channel.scores[row])
        }
        looked = ranking.reranked
        return Explanation(
            channels=said,
            fused=_place(ranking.fused, row),
            reranked=None if looked is None or np.isnan(looked[row]) else _place(looked, row),
            tokens=self._tokens(row),
            pictures=self._pictures(row),
            query_pictures=self._query_pictures,
        )

    def _pictures(self, row: int) -> tuple[PictureReading, ...]:
        images = self._arrays.images
        own = range(*np.searchsorted(images.owners, [row, row + 1]).tolist())
        return tuple(PictureReading(images.labels[image], images.texts[image]) for image in own)

    def _tokens(self, row: int) -> tuple[TokenMatch, ...]:
        """For each token of the question its best match in the memory, the weightiest first."""
        arrays = self._arrays
        own = slice(int(arrays.token_offsets[row]), int(arrays.token_offsets[row + 1]))
        if self._query is None or own.start == own.stop:
            return ()
        ids = self._query.encoding.token_ids
        words = np.where((ids == SPECIAL) | (ids == UNKNOWN), np.float32(0), self._weights)
        asked = strongest(words, min(MOST_TOKENS, int((words > 0).sum())))
        similarity = self._query.encoding.tokens[asked] @ _unit(arrays, own).T
        best = similarity.argmax(axis=1)
        questions = self._text.token_texts(ids[asked])
        answers = self._text.token_texts(arrays.token_ids[own][best])
        weights = self._weights[asked] / self._weights.sum()
        found = [
            TokenMatch(question, answer, float(similarity[place, best[place]]), float(weights[place]))
            for place, (question, answer) in enumerate(zip(questions, answers, strict=True))
        ]
        return tuple(sorted(found, key=lambda match: -match.weight * match.similarity))


def _unit(arrays: UserArrays, own: slice) -> Float32:
    vectors: Float32 = arrays.tokens[own].astype(np.float32) * arrays.token_scales[own, None]
    return vectors


def _place(scores: Scores, row: int) -> Place:
    """One rank below all known scores that are better."""
    return Place(int((scores > scores[row]).sum()) + 1, float(scores[row]))
