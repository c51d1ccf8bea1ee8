"""Reranks with RAGatouille (the extra `mmmem[ragatouille]`), for those who want its scores.

It reads at most 32 tokens of a question, or 1.35 times its words where that is more, so the end of a long one in a script
without spaces is lost; and zeros that fill up short texts take part in the comparison. `colbert` has neither fault.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from mmmem.encoders.batching import BATCH_COST, Lane
from mmmem.encoders.weights import verified_pin
from mmmem.rerankers.ragatouille_model import SETTING, load
from mmmem.rerankers.texts import score_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from mmmem.encoders.batching import EncoderThreads
    from mmmem.encoders.device import Device
    from mmmem.encoders.weights import Model
    from mmmem.rerankers import Candidates, Question
    from mmmem.types import Float32


class RagatouilleReranker:
    """`RAGPretrainedModel.rerank` on a Stanford ColBERT checkpoint.

    Raises WeightsError when the folder is not pinned in `models` or is not a whole checkpoint, StartupError when
    RAGatouille is not installed or would not run on the device.
    """

    def __init__(
        self, folder: Path, threads: EncoderThreads, *, models: Iterable[Model], device: Device, batch_size: int
    ) -> None:
        entry = verified_pin(SETTING, folder, models)
        self._model = load(folder.resolve(), device)
        self._threads = threads
        self._batch_size = batch_size
        self._one_at_a_time = threading.Lock()  # it keeps the lengths of the texts at hand in the model
        self.name = f"ragatouille@{entry.fingerprint}"

    def __call__(self, question: Question, candidates: Candidates) -> Float32:
        """See Reranker. Scores are sums of cosines, one of each token of the question."""
        return score_texts(question, candidates, self._score)

    def _score(self, question: str, texts: list[str]) -> list[float]:
        scores: list[float] = []
        # The lock is taken here and not by an encoder thread: those that would wait for it encode questions meanwhile.
        with self._one_at_a_time:
            for batch in _batches(texts, self._batch_size):
                [found] = self._threads.run(Lane.RERANK, self._score_batches, [(question, batch)])
                scores += found
        return scores

    def _score_batches(self, batches: Sequence[tuple[str, list[str]]]) -> list[list[float]]:
        return [self._rerank(question, texts) for question, texts in batches]

    def _rerank(self, question: str, texts: list[str]) -> list[float]:
        # k is exactly their number: asked for more it returns None.
        results = self._model.rerank(question, texts, k=len(texts), bsize=self._batch_size)
        scores = [math.nan] * len(texts)
        for result in results:
            scores[result["result_index"]] = result["score"]
        return scores


def _batches(texts: list[str], batch_size: int) -> Iterator[list[str]]:
    """The texts in order, as many at a time as an encoder thread takes in one pass."""
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) == batch_size or sum(map(len, batch)) + len(text) > BATCH_COST):
            yield batch
            batch = []
        batch.append(text)
    yield batch
