"""Reranks with any ColBERT checkpoint, which reads the candidates when they are asked for (Khattab & Zaharia, 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mmmem.encoders.batching import Lane
from mmmem.rerankers.texts import score_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.encoders.batching import EncoderThreads
    from mmmem.encoders.colbert import TokenVectors
    from mmmem.rerankers import Candidates, Question
    from mmmem.types import Float32


class TokenEncoder(Protocol):
    """A ColBERT checkpoint."""

    @property
    def name(self) -> str:
        """Kind and fingerprint."""

    def encode_queries(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Every token that the checkpoint scores."""

    def encode_documents(self, texts: Sequence[str], *, special: bool) -> list[TokenVectors]:
        """A text's tokens, with [CLS] and the like if `special`."""


class ColbertReranker:
    """MaxSim as the checkpoint was trained: every token of the question counts the same, and special tokens are matched too."""

    def __init__(self, encoder: TokenEncoder, threads: EncoderThreads) -> None:
        self._encoder = encoder
        self._threads = threads
        self.name = encoder.name

    def __call__(self, question: Question, candidates: Candidates) -> Float32:
        """See Reranker. Scores are sums of cosines, one of each token of the question."""
        return score_texts(question, candidates, self._score)

    def _score(self, question: str, texts: list[str]) -> list[float]:
        pairs = [(question, text) for text in texts]
        return self._threads.run(Lane.RERANK, self._score_pairs, pairs, cost=lambda pair: len(pair[1]))

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        # A question is encoded once for each batch of its candidates: cheap beside the candidates themselves.
        questions = list(dict.fromkeys(question for question, _ in pairs))
        asked = dict(zip(questions, self._encoder.encode_queries(questions), strict=True))
        documents = self._encoder.encode_documents([text for _, text in pairs], special=True)
        return [
            _summed_best(asked[question].vectors, document.vectors)
            for (question, _), document in zip(pairs, documents, strict=True)
        ]


def _summed_best(question: Float32, document: Float32) -> float:
    """The best cosine of each token of the question, summed. float32 [q, k] and [t, k], unit rows."""
    return float((question @ document.T).max(axis=1, initial=-1).sum())
