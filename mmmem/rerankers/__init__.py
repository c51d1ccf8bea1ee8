"""What puts the top of a ranking in order anew, behind one small protocol. `wiring.py` picks the implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.types import Float32, Int8, Int64, QueryEncoding


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. text: as the encoders read it. encoding: of that text. token_weights: float32 [q], 0: does not count."""

    text: str
    encoding: QueryEncoding
    token_weights: Float32


@dataclass(frozen=True, slots=True)
class Candidates:
    """The c memories to put in order, by their texts and by their stored token vectors.

    tokens: int8 [T, k], all candidates' in a row. token_scales: float32 [T], the reciprocal norms of its rows.
    token_offsets: int64 [c+1], candidate i holds offsets[i]:offsets[i+1].
    """

    texts: Sequence[str]
    tokens: Int8
    token_scales: Float32
    token_offsets: Int64


class Reranker(Protocol):
    """Compares a question with a few memories, more closely than the channels compare it with all of them."""

    @property
    def name(self) -> str:
        """The kind, and the checkpoint where there is one."""

    def __call__(self, question: Question, candidates: Candidates) -> Float32:
        """A score for each candidate, float32 [c], larger is better. Blocks; may be called from several threads.

        NaN where there is nothing to compare: a memory without text, and every memory when the question is blank.
        Raises ModelUnavailable when a model fails.
        """
