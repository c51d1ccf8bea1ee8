"""An open_clip model built from local files alone, with nothing of it random and nothing about it guessed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import open_clip
from open_clip.constants import HF_CONFIG_NAME, HF_SAFE_WEIGHTS_NAME, HF_WEIGHTS_NAME
from open_clip.factory import load_state_dict
from timm.models import reparameterize_model

from mmmem.encoders.conventions import read_json
from mmmem.errors import WeightsError

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

SETTING = "clip_checkpoint"
PREPROCESSING = ("mean", "std", "interpolation", "resize_mode")
READABLE = {".safetensors", ".pt", ".pth", ".bin"}
FOLDER_HINT = f"use a folder with {HF_CONFIG_NAME}, {HF_SAFE_WEIGHTS_NAME} and its tokenizer instead"


@dataclass(frozen=True, slots=True)
class Clip:
    """A loaded model. preprocess: PIL image -> float32 [3, h, w]. dimensions: width of its vectors."""

    architecture: str
    model: Any
    preprocess: Callable[[Image], torch.Tensor]
    tokenizer: Any
    dimensions: int
    _lock: threading.Lock = field(default_factory=threading.Lock)  # padding is a Hugging Face tokenizer's state

    @property
    def context_length(self) -> int:
        """Tokens that the text tower takes, start and end of text included."""
        return int(self.tokenizer.context_length)

    def tokenise(self, texts: list[str]) -> torch.Tensor:
        """int64 [n, context_length]."""
        with self._lock:
            tokens: torch.Tensor = self.tokenizer(texts)
        return tokens

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, start and end of text included."""
        encode = getattr(self.tokenizer, "tokenizer", self.tokenizer).encode
        with self._lock:
            return len(encode(text)) + 2


def load_clip(architecture: str, checkpoint: Path) -> Clip:
    """Build the model and fill it from a weights file of `architecture`, or from a folder with open_clip_config.json.

    Raises WeightsError when something would be random, guessed or fetched.
    """
    source = f"local-dir:{checkpoint}" if checkpoint.is_dir() else architecture
    config = _folder_config(checkpoint) if checkpoint.is_dir() else _config(architecture)
    weights = _folder_weights(checkpoint) if checkpoint.is_dir() else checkpoint
    preprocessing = {} if checkpoint.is_dir() else _preprocessing(architecture, config)
    if weights.suffix not in READABLE:
        raise WeightsError(f"{SETTING}: is none of {', '.join(sorted(READABLE))}")
    with _without_alarm():
        model, _, preprocess = open_clip.create_model_and_transforms(
            source,
            load_weights=False,
            pretrained_text=False,
            **{f"image_{key}": value for key, value in preprocessing.items()},
        )
    _fill(model, weights)
    # MobileCLIP's branches that only training needs become one: a quarter less time an image, the same vectors.
    reparameterize_model(model.eval(), inplace=True)
    label = "folder" if checkpoint.is_dir() else architecture
    return Clip(label, model, preprocess, _tokenizer(source, config), int(config["embed_dim"]))


def _config(architecture: str) -> dict[str, Any]:
    """open_clip's own configuration of an architecture whose towers and tokenizer come with open_clip."""
    config: dict[str, Any] | None = open_clip.get_model_config(architecture)
    if config is None:
        raise WeightsError(f"clip_model: open_clip has no architecture {architecture}")
    if config["text_cfg"].get("hf_tokenizer_name") or "siglip" in architecture.lower():
        raise WeightsError(f"{SETTING}: {architecture} has a tokenizer of its own; {FOLDER_HINT}")
    _require_native_text(config)
    return config


def _folder_config(folder: Path) -> dict[str, Any]:
    document = read_json(folder / HF_CONFIG_NAME, {})
    config: dict[str, Any] = document.get("model_cfg") or {}
    if not {"embed_dim", "vision_cfg", "text_cfg"} <= config.keys():
        raise WeightsError(f"{SETTING}: {HF_CONFIG_NAME} is missing or does not describe a model (model_cfg)")
    lacking = [key for key in ("mean", "std") if key not in (document.get("preprocess_cfg") or {})]
    if lacking:
        raise WeightsError(f"{SETTING}: {HF_CONFIG_NAME} does not say preprocess_cfg.{lacking[0]}")
    _require_native_text(config)
    return config


def _require_native_text(config: dict[str, Any]) -> None:
    if "hf_model_name" in config["text_cfg"]:
        raise WeightsError(
            f"{SETTING}: its text tower is built from a file on a model hub, and nothing is downloaded here"
        )


def _folder_weights(folder: Path) -> Path:
    files: list[Path] = [folder / HF_SAFE_WEIGHTS_NAME, folder / HF_WEIGHTS_NAME]
    for file in files:
        if file.is_file():
            return file
    raise WeightsError(f"{SETTING}: has neither {HF_SAFE_WEIGHTS_NAME} nor {HF_WEIGHTS_NAME}")


def _preprocessing(architecture: str, config: dict[str, Any]) -> dict[str, Any]:
    """How images are prepared for an architecture, when all its published weights agree on it.

    Weights trained with the other activation are no weights of this architecture: a file cannot show the difference.
    """
    quick_gelu = config.get("quick_gelu", False)
    published = [
        open_clip.get_pretrained_cfg(architecture, tag) for tag in open_clip.list_pretrained_tags_by_model(architecture)
    ]
    ways = [
        {key: entry[key] for key in PREPROCESSING}
        for entry in published
        if entry.get("quick_gelu", False) == quick_gelu
    ]
    if not ways or any(way != ways[0] for way in ways):
        raise WeightsError(
            f"{SETTING}: a weights file does not say how {architecture} wants its images prepared; {FOLDER_HINT}"
        )
    return ways[0]


def _fill(model: Any, weights: Path) -> None:
    try:
        _require_same_positions(model, load_state_dict(str(weights), weights_only=True))
        outcome = open_clip.load_checkpoint(model, str(weights), strict=False, weights_only=True)
    except WeightsError:
        raise
    except RuntimeError as error:
        if "size mismatch" in str(error):
            raise WeightsError(f"{SETTING}: the weights are another architecture's: their shapes differ") from error
        raise WeightsError(f"{SETTING}: cannot be read as plain tensors; use .safetensors") from error
    except Exception as error:  # unpickling, safetensors and conversion each have their own
        raise WeightsError(f"{SETTING}: cannot be read as plain tensors; use .safetensors") from error
    _require_exact(outcome.missing_keys, outcome.unexpected_keys)


def _require_exact(missing: list[str], extra: list[str]) -> None:
    # The logit scale and bias turn cosines into a loss; the vectors do not depend on them.
    missing = [key for key in missing if not key.startswith("logit_")]
    if missing and extra:
        raise WeightsError(
            f"{SETTING}: the weights are another architecture's: {missing[0]} is not among them, {extra[0]} is"
        )
    for tower in ("image tower", "text tower"):
        lacking = [key for key in missing if key.startswith("visual.") == (tower == "image tower")]
        if lacking:
            raise WeightsError(f"{SETTING}: lacks {len(lacking)} weights of the {tower}, for example {lacking[0]}")
    if extra:
        raise WeightsError(f"{SETTING}: has {len(extra)} weights that the architecture has not, for example {extra[0]}")


def _require_same_positions(model: Any, state: dict[str, torch.Tensor]) -> None:
    """Refuse weights for another image size or text length: open_clip would stretch their positions in silence."""
    built = model.state_dict()
    for name in ("visual.positional_embedding", "positional_embedding", "text.positional_embedding"):
        if name in state and name in built and state[name].shape != built[name].shape:
            raise WeightsError(f"{SETTING}: the weights are another architecture's: {name} has another shape")


def _tokenizer(source: str, config: dict[str, Any]) -> Any:
    options = {"local_files_only": True} if config["text_cfg"].get("hf_tokenizer_name") else {}
    try:
        return open_clip.get_tokenizer(source, **options)
    except Exception as error:
        raise WeightsError(f"{SETTING}: its tokenizer cannot be loaded ({type(error).__name__})") from error


@contextmanager
def _without_alarm() -> Iterator[None]:
    # open_clip logs that the model is random. It is, for the moment until `_fill`.
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(level)
