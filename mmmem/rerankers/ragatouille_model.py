"""A ColBERT checkpoint loaded by RAGatouille: from its folder alone, whole, and without compiling anything.

RAGatouille 0.0.9 stands on colbert-ai, which needs help in four things. It compiles a C++ extension that reranking does not
use; it takes the network's class from a name in the checkpoint's metadata, which it looks up at a model hub; that class
does not load under transformers 5; and it draws a progress bar for each call.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging as transformers_logging

from mmmem.encoders.conventions import read_json
from mmmem.encoders.device import Device
from mmmem.errors import StartupError, WeightsError

SETTING = "reranker_dir"


def load(folder: Path, device: Device) -> Any:
    """The RAGPretrainedModel of an absolute folder. Raises StartupError, or WeightsError when it is not a whole checkpoint."""
    _require_device(device)
    _require_plain(folder)
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its next version, and of what it uses of torch
        kind = _imported()
        try:
            with _mended(folder):
                model = kind.from_pretrained(str(folder), verbose=0)
            missing = _missing_weights(model, folder)
        except Exception as error:  # the libraries raise whatever their parts raise, with paths in the message
            raise WeightsError(f"{SETTING}: RAGatouille cannot load it ({type(error).__name__})") from error
    if missing:
        raise WeightsError(f"{SETTING}: lacks {len(missing)} weights of the network, for example {missing[0]}")
    model.model.inference_ckpt.amp_manager.activated = device.name != "cpu"  # half precision, which a CPU warns about
    return model


def _require_device(device: Device) -> None:
    if device.name == "cpu" and torch.cuda.is_available():
        raise StartupError(
            "the ragatouille reranker runs on the GPU wherever torch sees one; set MMMEM_DEVICE=auto, "
            "or hide the GPU with CUDA_VISIBLE_DEVICES="
        )


def _require_plain(folder: Path) -> None:
    """Refuse what would run code of the checkpoint's own, or unpickle."""
    if "auto_map" in read_json(folder / "config.json", {}):
        raise WeightsError(f"{SETTING}: config.json asks for code of its own (auto_map), which is not run")
    if not any(folder.glob("*.safetensors")):
        raise WeightsError(f"{SETTING}: has no .safetensors file; pickled weights (.bin, .pt) are not loaded")


def _imported() -> Any:
    try:
        from ragatouille import RAGPretrainedModel  # noqa: PLC0415
    except ImportError as error:
        raise StartupError(
            f"the ragatouille reranker lacks {error.name or 'a part of a library'}: run `pip install 'mmmem[ragatouille]'`"
        ) from error
    return RAGPretrainedModel


@contextmanager
def _mended(folder: Path) -> Iterator[None]:
    """colbert-ai as this module's docstring wants it; the network's class comes from `folder` as long as this lasts."""
    from colbert.modeling import base_colbert, checkpoint  # noqa: PLC0415
    from colbert.modeling.colbert import ColBERT  # noqa: PLC0415

    class_of = base_colbert.class_factory

    def class_of_folder(_: str) -> Any:
        network = class_of(str(folder))
        # What transformers 5 sets in post_init, which colbert-ai does not call, and expects to be a set.
        network.all_tied_weights_keys = {}
        network._keys_to_ignore_on_load_unexpected = None
        return network

    ColBERT.loaded_extensions = True
    checkpoint.tqdm = lambda batches, **_: batches
    base_colbert.class_factory = class_of_folder
    try:
        yield
    finally:
        base_colbert.class_factory = class_of


def _missing_weights(model: Any, folder: Path) -> list[str]:
    # Loading says which weights were not there, but only to whoever calls it directly: so it is loaded once more.
    loaded = model.model.inference_ckpt
    network, config = type(loaded.model), loaded.colbert_config
    _, report = super(network, network).from_pretrained(
        str(folder), colbert_config=config, local_files_only=True, use_safetensors=True, output_loading_info=True
    )
    return sorted(key for key in report["missing_keys"] if "pooler." not in key)  # nothing here reads the pooler
