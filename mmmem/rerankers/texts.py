"""What the rerankers that read text at query time have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.texts import well_formed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mmmem.rerankers import Candidates, Question
    from mmmem.types import Float32


def score_texts(
    question: Question, candidates: Candidates, score: Callable[[str, list[str]], Sequence[float]]
) -> Float32:
    """`score` of the question and the candidates' texts, float32 [c]; NaN where either of them is blank.

    `score` gets each text once, well-formed, and at least one.
    """
    scores = np.full(len(candidates.texts), np.nan, dtype=np.float32)
    places: dict[str, list[int]] = {}
    for place, text in enumerate(candidates.texts):
        if text.strip():
            places.setdefault(well_formed(text), []).append(place)
    if question.text.strip() and places:
        found = score(well_formed(question.text), list(places))
        for of_text, value in zip(places.values(), found, strict=True):
            scores[of_text] = value
    return scores
