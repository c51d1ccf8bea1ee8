"""One small ColBERT checkpoint with random weights, a question, and memories that it tells apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mmmem.encoders.batching import EncoderThreads
from mmmem.encoders.colbert import ColbertTokenEncoder
from mmmem.encoders.device import Device
from mmmem.encoders.tokens import quantise
from mmmem.rerankers import Candidates, Question
from mmmem.types import QueryEncoding
from tests.encoders import tiny

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

QUESTION = "where did Ann sing in the choir last summer?"
MEMORIES = (
    "last summer it did rain in the city",
    "Kettle, cups, sugar.",
    "where did Ann sing in the choir last summer",
    "no",
    "we saw Ann in the choir last summer",
    "sing in the choir, Ann!",
)


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """No reranker asks the network for anything."""
    tried = tiny.refuse_network(monkeypatch)
    yield
    assert tried == []


@pytest.fixture(scope="package")
def checkpoint(tmp_path_factory) -> Path:
    """A Stanford ColBERT folder that says what RAGatouille reads of it: width, and 32 tokens of a question."""
    folder = tmp_path_factory.mktemp("checkpoint") / "folder"
    tiny.write_stanford_colbert(folder, dim=8, query_maxlen=32)
    return folder


@pytest.fixture(scope="package")
def encoder(checkpoint) -> ColbertTokenEncoder:
    return ColbertTokenEncoder(checkpoint, models=tiny.pinned(checkpoint), device="cpu", batch_size=4)


@pytest.fixture
def threads():
    running = EncoderThreads(Device("cpu", threads=2, cores=2), 4)
    yield running
    running.close()


@pytest.fixture
def ask(encoder) -> Callable[[str], Question]:
    """A question as a search hands it on, every token of it weighing the same."""

    def asked(text: str) -> Question:
        [tokens] = encoder.encode_queries([text])
        alike = np.ones(len(tokens.ids), np.float32)
        return Question(text, QueryEncoding(np.zeros(0, np.float32), tokens.vectors, tokens.ids, 0 * alike), alike)

    return asked


@pytest.fixture
def stored(encoder) -> Callable[[Sequence[str]], Candidates]:
    """Memories as the store holds them."""

    def candidates(texts: Sequence[str]) -> Candidates:
        tokens = [quantise(text.vectors) for text in encoder.encode_documents(texts)]
        rows = np.concatenate(tokens)
        norms = np.linalg.norm(rows.astype(np.float32), axis=1)
        return Candidates(texts, rows, 1 / norms, np.cumsum([0, *map(len, tokens)]))

    return candidates
