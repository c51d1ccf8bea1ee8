"""Sentence-transformers models from a folder the user brings: nothing downloaded, no pickle, no weight left random."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from sentence_transformers import MultiVectorEncoder, SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.util import batch_to_device
from transformers.utils import logging as transformers_logging

from mmmem.encoders.conventions import Task, prompt_for, read_json
from mmmem.encoders.windows import PAD_TO, encode_in_windows
from mmmem.errors import WeightsError

Output = TypeVar("Output")
Features = dict[str, Any]
# Windows fit, so nothing is to be cut off; verbose only warns that the maximum length then means nothing.
TOKENISING = {"pad_to_multiple_of": PAD_TO, "truncation": False, "verbose": False}


class Checkpoint:
    """A loaded model, run window by window in float32, or in half precision on a GPU. Safe to share between threads.

    Raises WeightsError, naming `setting`, when the folder does not hold every weight of the network. (The library fills
    in random numbers and only logs it.)
    """

    def __init__(
        self,
        kind: type[SentenceTransformer | MultiVectorEncoder],
        setting: str,
        folder: Path,
        *,
        device: str,
        batch_size: int,
    ) -> None:
        model = _load(kind, setting, folder, device)
        self._model = model
        self._device = device
        self._batch_size = batch_size
        self._lock = threading.Lock()  # padding and truncation are the tokenizer's state
        self.backbone: Any = model[0]
        self.unknown_id: int | None = model.tokenizer.unk_token_id
        self.vocabulary: dict[str, int] = model.tokenizer.get_vocab()
        self.special_ids = _special_ids(model.tokenizer)
        self.dimensions = int(model.get_embedding_dimension() or 0)

    def encode(
        self, texts: Sequence[str], task: Task, limit: int | None, read: Callable[[Features, int], Output]
    ) -> list[list[Output]]:
        """What `read` takes from each window of each text: it gets the features of a batch and a row in it.

        `limit` is the tokens of one window, special tokens and prompt included; None: as many as the network takes.
        """
        prompt = prompt_for(task, self._model.prompts)
        prompt_length = self._prompt_length(prompt)

        def run(windows: list[str]) -> list[Output]:
            features = self._tokenise([prompt + window for window in windows], task)
            if prompt:
                features["prompt_length"] = prompt_length
            with torch.inference_mode(), autocast(self._device):
                features = self._model(batch_to_device(features, torch.device(self._device)), task=task)
            return [read(features, row) for row in range(len(windows))]

        return encode_in_windows(
            texts, lambda text: len(self._ids(prompt + text)), self._window(limit), self._batch_size, run
        )

    def token_texts(self, ids: list[int]) -> list[str]:
        """What the tokens of these vocabulary ids look like."""
        texts: list[str | None] = self._model.tokenizer.convert_ids_to_tokens(ids)
        return [text or "" for text in texts]

    def _window(self, limit: int | None) -> int:
        """The smallest of the given limit, the tokenizer's, and the network's positions, which padding must not pass."""
        positions = getattr(self.backbone.config, "max_position_embeddings", None)
        padded = positions and positions // PAD_TO * PAD_TO
        return min(length for length in (limit, self.backbone.max_seq_length, padded) if length is not None)

    def _tokenise(self, texts: list[str], task: Task) -> Features:
        with self._lock:
            features: Features = self.backbone.preprocess(texts, task=task, processing_kwargs={"text": TOKENISING})
        return features

    def _ids(self, text: str) -> list[int]:
        with self._lock:
            ids: list[int] = self._model.tokenizer(text, verbose=False)["input_ids"]
        return ids

    def _prompt_length(self, prompt: str) -> int:
        ids = self._ids(prompt)
        return len(ids) - 1 if ids and ids[-1] in self.special_ids else len(ids)


def _load(
    kind: type[SentenceTransformer | MultiVectorEncoder], setting: str, folder: Path, device: str
) -> SentenceTransformer | MultiVectorEncoder:
    if not any(folder.rglob("*.safetensors")):
        raise WeightsError(f"{setting}: has no .safetensors file; pickled weights (.bin, .pt) are not loaded")
    # Its report of missing weights is checked below, and has paths in it.
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    options = {"dtype": torch.float32, "use_safetensors": True}
    try:
        model = kind(str(folder), device=device, local_files_only=True, trust_remote_code=False, model_kwargs=options)
        backbone = model[0]
        missing = _missing_weights(backbone, folder) if isinstance(backbone, Transformer) else None
    except Exception as error:  # the library raises whatever its parts raise, with paths in the message
        raise WeightsError(f"{setting}: cannot be loaded as a {kind.__name__} ({type(error).__name__})") from error
    if missing is None:
        raise WeightsError(f"{setting}: does not begin with a transformers model")
    if missing:
        raise WeightsError(f"{setting}: lacks {len(missing)} weights of the network, for example {missing[0]}")
    return model.eval()


def _special_ids(tokenizer: Any) -> list[int]:
    """Ids that stand for no text. The unknown token does stand for some, unless it serves as another one too."""
    others = {getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "cls", "sep", "pad", "mask")}
    return sorted({*tokenizer.all_special_ids} - ({tokenizer.unk_token_id} - others))


def _missing_weights(backbone: Any, folder: Path) -> list[str]:
    # Loading says which weights were not there, but only to whoever calls it directly: so it is loaded once more.
    path = folder / read_json(folder / "modules.json", [{"path": ""}])[0]["path"]
    network = type(backbone.auto_model)
    _, report = network.from_pretrained(path, local_files_only=True, use_safetensors=True, output_loading_info=True)
    # BERT's pooler reads [CLS] for next-sentence prediction; nothing here uses it, and checkpoints often leave it out.
    return sorted(key for key in report["missing_keys"] if "pooler." not in key)


def autocast(device: str) -> torch.autocast:
    """Half precision where it pays: bfloat16 on a GPU that has it, else float16; float32 as it is on a CPU."""
    kind = torch.device(device).type
    half = torch.bfloat16 if kind == "cpu" or torch.cuda.is_bf16_supported() else torch.float16
    return torch.autocast(kind, dtype=half, enabled=kind != "cpu")
