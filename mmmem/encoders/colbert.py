"""Token vectors from a ColBERT checkpoint (Khattab & Zaharia, 2020; Santhanam et al., 2022) in a local folder.

Loads what sentence-transformers loads: Stanford ColBERT (`artifact.metadata`, `linear.weight`), PyLate and its own format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sentence_transformers import MultiVectorEncoder

from mmmem.encoders.checkpoint import Checkpoint, Features
from mmmem.encoders.conventions import read_json
from mmmem.encoders.tokens import unit_rows
from mmmem.encoders.weights import Model, verified_pin
from mmmem.errors import WeightsError
from mmmem.types import SPECIAL, UNKNOWN

if TYPE_CHECKING:
    from mmmem.types import Float32, Int32

SETTING = "colbert_dir"


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """One text. vectors: float32 [t, k], unit rows. ids: int32 [t], the vocabulary's, or SPECIAL, or UNKNOWN in a query.

    Special are markers, [CLS], [SEP] and the [MASK]s of query expansion.
    """

    vectors: Float32
    ids: Int32


class ColbertTokenEncoder:
    """Encodes documents and queries into token vectors, as the checkpoint was trained to.

    A text longer than the checkpoint's document or query length is encoded in several windows. Raises WeightsError when
    the folder is not pinned in `models` or is not a whole ColBERT checkpoint; it names `setting`.
    """

    def __init__(
        self, folder: Path, *, models: Iterable[Model], device: str, batch_size: int, setting: str = SETTING
    ) -> None:
        entry = verified_pin(setting, folder, models)
        _require_projection(setting, folder)
        self._checkpoint = Checkpoint(MultiVectorEncoder, setting, folder, device=device, batch_size=batch_size)
        self.name = f"colbert@{entry.fingerprint}"
        self.dimensions = self._checkpoint.dimensions
        self.vocabulary = self._checkpoint.vocabulary

    def encode_documents(self, texts: Sequence[str], *, special: bool = False) -> list[TokenVectors]:
        """A text's own tokens, without those that the checkpoint skips in documents (usually punctuation).

        With `special` also [CLS], the marker and [SEP] of each window, which the checkpoint was trained to match.
        """
        limit = self._checkpoint.backbone.document_length
        encoded = self._checkpoint.encode(texts, "document", limit, self._scored)
        joined = [_joined(windows) for windows in encoded]
        return joined if special else [_own(tokens) for tokens in joined]

    def encode_queries(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Every token that the checkpoint scores, special ones and the expansion to its query length included."""
        backbone = self._checkpoint.backbone
        limit = backbone.query_expansion["length"] if backbone.query_expansion else backbone.query_length
        encoded = self._checkpoint.encode(texts, "query", limit, self._scored)
        return [self._with_unknown(_joined(windows)) for windows in encoded]

    def token_texts(self, ids: Int32) -> list[str]:
        """What the tokens of these vocabulary ids look like."""
        return self._checkpoint.token_texts(ids.tolist())

    def _scored(self, features: Features, row: int) -> TokenVectors:
        """The tokens of one window that the checkpoint's scoring mask keeps."""
        ids = features["input_ids"][row].cpu().numpy()
        special = np.isin(ids, self._checkpoint.special_ids)
        special[: features.get("prompt_length", 0)] = True
        if "query_expansion_positions" in features:
            special |= features["query_expansion_positions"][row].cpu().numpy()
        scored = features["attention_mask"][row].bool().cpu().numpy()
        vectors = features["token_embeddings"][row].float().cpu().numpy()
        return TokenVectors(unit_rows(vectors[scored]), np.where(special, SPECIAL, ids)[scored].astype(np.int32))

    def _with_unknown(self, tokens: TokenVectors) -> TokenVectors:
        unknown = tokens.ids == self._checkpoint.unknown_id
        return TokenVectors(tokens.vectors, np.where(unknown, UNKNOWN, tokens.ids).astype(np.int32))


def _require_projection(setting: str, folder: Path) -> None:
    """Refuse a plain BERT or sentence encoder: the library would give it a random projection and go on."""
    architectures = read_json(folder / "config.json", {}).get("architectures") or []
    kind = read_json(folder / "config_sentence_transformers.json", {}).get("model_type")
    modules = {module["type"].rpartition(".")[2] for module in read_json(folder / "modules.json", [])}
    pylate = "Dense" in modules and "Pooling" not in modules  # older ones do not say their model_type
    saved = bool(modules) and kind in {"ColBERT", "MultiVectorEncoder"}
    if not (pylate or saved or "HF_ColBERT" in architectures):
        raise WeightsError(
            f"{setting}: is not a ColBERT checkpoint: neither config.json (architectures: HF_ColBERT) "
            "nor modules.json with config_sentence_transformers.json says so"
        )


def _own(tokens: TokenVectors) -> TokenVectors:
    own = tokens.ids != SPECIAL
    return TokenVectors(tokens.vectors[own], tokens.ids[own])


def _joined(windows: list[TokenVectors]) -> TokenVectors:
    return TokenVectors(
        np.concatenate([window.vectors for window in windows]), np.concatenate([window.ids for window in windows])
    )
