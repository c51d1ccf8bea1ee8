"""Small models with random weights in the formats of the real ones: what a user brings for the clip profile."""

from __future__ import annotations

import json
import shutil
import socket
from typing import TYPE_CHECKING

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel, BertTokenizer

from mmmem.encoders.weights import pin, read_manifest, verified_folder

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from mmmem.encoders.weights import Model

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")

CLIP_CONFIG = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": 32, "patch_size": 16, "width": 32, "layers": 1, "head_width": 16},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1},
}
GREY = {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25], "interpolation": "bilinear", "resize_mode": "shortest"}


def refuse_network(patch: pytest.MonkeyPatch) -> list[str]:
    """Refuse every connection and look-up; the list that comes back holds those that were tried."""
    tried: list[str] = []

    def refuse(*_: object, **__: object) -> None:
        tried.append("tried")
        raise OSError("no network in this test")

    patch.setattr(socket.socket, "connect", refuse)
    patch.setattr(socket, "getaddrinfo", refuse)
    return tried


def pinned(path: Path, extra: str = "") -> tuple[Model, ...]:
    """The manifests' models after the user pinned what is at `path` now; `extra` are lines he added to the entry."""
    manifest = path.parent / f"{path.name}.toml"
    manifest.write_text(pin("mine", path) + extra, encoding="utf-8")
    return read_manifest(manifest)


def write_clip_config(folder: Path, config: dict[str, object] = CLIP_CONFIG, preprocessing: object = GREY) -> None:
    """Write the open_clip_config.json of a folder."""
    folder.mkdir(exist_ok=True)
    write_json(folder / "open_clip_config.json", {"model_cfg": config, "preprocess_cfg": preprocessing})


def write_clip(folder: Path) -> torch.nn.Module:
    """Write an open_clip folder; the model that was saved comes back."""
    from open_clip.model import CLIP

    write_clip_config(folder)
    torch.manual_seed(1)
    model = CLIP(**{key: CLIP_CONFIG[key] for key in ("embed_dim", "vision_cfg", "text_cfg")}).eval()
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, weights_of(folder))
    return model


def weights_of(folder: Path) -> Path:
    """The weights file of an open_clip folder."""
    return folder / "open_clip_model.safetensors"


def write_bert(folder: Path, **config: object) -> BertModel:
    """Write a BERT of two small layers with MiniLM's vocabulary."""
    torch.manual_seed(2)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    model = BertModel(BertConfig(**shape, max_position_embeddings=64, **config), add_pooling_layer=False).eval()
    model.save_pretrained(folder)
    for name in TOKENIZER_FILES:
        shutil.copy(verified_folder("all-MiniLM-L6-v2") / name, folder / name)
    return model


def write_stanford_colbert(folder: Path, **metadata: object) -> tuple[BertModel, torch.Tensor]:
    """Write a Stanford ColBERT checkpoint; its BERT and projection, [8, 32], come back."""
    bert = write_bert(folder)
    projection = torch.randn(8, 32)
    state = {f"bert.{name}": value.contiguous() for name, value in bert.state_dict().items()}
    save_file({**state, "linear.weight": projection}, folder / "model.safetensors", metadata={"format": "pt"})
    edit_json(folder / "config.json", architectures=["HF_ColBERT"])
    document = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "doc_maxlen": 24, "query_maxlen": 16}
    document |= {"mask_punctuation": True, "attend_to_mask_tokens": False, **metadata}
    write_json(folder / "artifact.metadata", document)
    return bert, projection


def write_pylate_colbert(folder: Path, projection: torch.Tensor, **said: str) -> None:
    """Write what `write_stanford_colbert` writes as PyLate saves it."""
    write_bert(folder)
    (folder / "1_Dense").mkdir()
    save_file({"linear.weight": projection}, folder / "1_Dense" / "model.safetensors")
    dense = {"in_features": 32, "out_features": 8, "bias": False}
    write_json(folder / "1_Dense" / "config.json", {**dense, "activation_function": "torch.nn.modules.linear.Identity"})
    modules = (("", "sentence_transformers.models.Transformer"), ("1_Dense", "pylate.models.Dense.Dense"))
    write_json(
        folder / "modules.json",
        [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(modules)],
    )
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 23, "do_lower_case": False})
    markers = {"query_prefix": "[unused0] ", "document_prefix": "[unused1] "}
    lengths = {"query_length": 16, "document_length": 24, "attend_to_expansion_tokens": False}
    write_json(folder / "config_sentence_transformers.json", {**markers, **lengths, **said})


def write_json(file: Path, value: object) -> None:
    """Write a JSON file."""
    file.write_text(json.dumps(value), encoding="utf-8")


def write_sentence_encoder(folder: Path, **prompts: str) -> BertModel:
    """Write a sentence-transformers model that takes the mean of its tokens; its BERT comes back."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    plain = folder.with_name("plain")
    bert = write_bert(plain)
    backbone = Transformer(str(plain))
    SentenceTransformer(modules=[backbone, Pooling(32, "mean")], prompts=prompts, device="cpu").save(
        str(folder), create_model_card=False
    )
    return bert


def edit_json(file: Path, **values: object) -> None:
    """Change some of a JSON file's keys."""
    write_json(file, {**json.loads(file.read_text(encoding="utf-8")), **values})


def tokenizer(folder: Path) -> BertTokenizer:
    """The tokenizer of a written BERT."""
    return BertTokenizer.from_pretrained(folder)


def alter(file: Path) -> None:
    """Change one byte near a file's end."""
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(content)
