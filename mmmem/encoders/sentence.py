"""Dense vectors from a sentence-transformers model in a local folder (Reimers & Gurevych, 2019)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sentence_transformers import SentenceTransformer

from mmmem.encoders.checkpoint import Checkpoint, Features
from mmmem.encoders.conventions import Task, read_modules
from mmmem.encoders.tokens import unit_rows
from mmmem.encoders.weights import Model, verified_pin

if TYPE_CHECKING:
    from mmmem.types import Float32

SETTING = "sentence_dir"


class SentenceEncoder:
    """Encodes documents and queries into unit vectors, with the prompts that the model came with.

    The vector of a text longer than the model's window is the mean of its windows'. Raises WeightsError when the folder is
    not pinned in `models` or is not a whole sentence-transformers model.
    """

    def __init__(self, folder: Path, *, models: Iterable[Model], device: str, batch_size: int) -> None:
        entry = verified_pin(SETTING, folder, models)
        # Without modules the library would take the mean of the tokens, which is wrong for models trained on [CLS].
        read_modules(SETTING, folder)
        self._checkpoint = Checkpoint(SentenceTransformer, SETTING, folder, device=device, batch_size=batch_size)
        self.name = f"sentence@{entry.fingerprint}"
        self.dimensions = self._checkpoint.dimensions

    def encode_documents(self, texts: Sequence[str]) -> list[Float32]:
        """Each text's vector, float32 [d], unit length; zero for a blank text, such as an image's."""
        vectors = self._encode(texts, "document")
        return [vector if text.strip() else np.zeros_like(vector) for text, vector in zip(texts, vectors, strict=True)]

    def encode_queries(self, texts: Sequence[str]) -> list[Float32]:
        """Each text's vector, float32 [d], unit length."""
        return self._encode(texts, "query")

    def _encode(self, texts: Sequence[str], task: Task) -> list[Float32]:
        encoded = self._checkpoint.encode(texts, task, None, _pooled)
        return [unit_rows(np.mean(windows, axis=0, dtype=np.float32)) for windows in encoded]


def _pooled(features: Features, row: int) -> Float32:
    vector: Float32 = features["sentence_embedding"][row].float().cpu().numpy()
    return unit_rows(vector)
