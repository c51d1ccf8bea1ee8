"""Which models are used, and on what."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Models(BaseModel):
    """The encoders."""

    profile: Literal["light", "clip"] = Field(
        "light",
        description="`light`: models that come with pip. `clip`: OpenCLIP, a ColBERT checkpoint and a sentence encoder from folders.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Where the encoders run; `cuda` refuses to start without a GPU."
    )
    threads: int = Field(
        0,
        ge=0,
        le=256,
        description="CPU threads of one encoder process; 0: as many as there are cores, or as a container's quota keeps busy; several workers share these among their searches.",
    )
    encode_batch_size: int = Field(
        32, ge=1, le=1024, description="Texts, or images, that one pass of an encoder takes at most."
    )
    models_manifest: str = Field(
        "",
        description="TOML file with the sha256 of models you bring, as `mmmem models pin` writes it; adds to the built-in ones.",
    )
    models_dir: str = Field(
        "~/.cache/mmmem/models",
        min_length=1,
        description="Where `mmmem models fetch` puts models, each in a folder of its name.",
    )
    clip_model: str = Field("ViT-B-32", description="`clip`: open_clip architecture of a weights file.")
    clip_checkpoint: str = Field(
        "",
        description="`clip`: open_clip weights file (`.safetensors`, `.pt`), or a folder with open_clip_config.json, which "
        "names its architecture itself; unset: the fetched siglip2-b32-256.",
    )
    clip_precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        "auto",
        description="`clip`: what the image model computes in. `auto`: half precision on a GPU, bfloat16 where it has that; float32 on a CPU.",
    )
    colbert_dir: str = Field(
        "",
        description="`clip`: folder of the ColBERT checkpoint for token vectors; unset: the fetched answerai-colbert-small-v1.",
    )
    sentence_dir: str = Field(
        "",
        description="`clip`: folder of the sentence encoder for dense vectors; unset: the fetched bge-small-en-v1.5.",
    )
    text_dir: str = Field(
        "",
        description="`light`: folder of a sentence encoder that takes the place of all-MiniLM-L6-v2, such as a multilingual one.",
    )
    text_projection: str = Field(
        "",
        description="`light`: file that scripts/fit_projection.py made for that encoder; unset: its token vectors keep their width.",
    )
    ocr: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Whether the text in images is read (Chinese and English). `auto`: where rapidocr-onnxruntime is installed and any model is used.",
    )
    ocr_lines: int = Field(200, ge=1, description="Lines of one image that are read at most.")
    ocr_seconds: float = Field(
        20.0,
        gt=0,
        description="Time after which no further lines of an image are read; rarely reached, lines are the bound.",
    )
