"""Reranks by the token vectors that are stored: no model runs (Khattab & Zaharia, ColBERT, 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.retrieval.maxsim import legibility, maxsim

if TYPE_CHECKING:
    from mmmem.rerankers import Candidates, Question
    from mmmem.types import Float32


class MaxSimReranker:
    """Weighted MaxSim between the question's token vectors and the candidates' stored ones."""

    name = "maxsim"

    def __call__(self, question: Question, candidates: Candidates) -> Float32:
        """See Reranker. Scores are weighted means of cosines."""
        counting = question.token_weights > 0
        if not question.text.strip() or not counting.any() or not legibility(question.encoding.token_ids):
            return np.full(len(candidates.texts), np.nan, dtype=np.float32)
        return maxsim(
            question.encoding.tokens[counting],
            question.token_weights[counting],
            candidates.tokens,
            candidates.token_scales,
            candidates.token_offsets,
        )
