"""The `clip` profile: OpenCLIP, a ColBERT checkpoint and a sentence encoder, from folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from mmmem.encoders.weights import read_manifest, verified_pin
from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from mmmem.encoders import ImageEncoder, TextEncoder
    from mmmem.encoders.device import Device
    from mmmem.encoders.weights import Model
    from mmmem.settings import Settings


class Common(TypedDict):
    """What every encoder of the profile takes."""

    models: tuple[Model, ...]
    device: str
    batch_size: int


CLIP_SETTINGS = ("clip_checkpoint", "colbert_dir", "sentence_dir")


def pins(settings: Settings) -> tuple[Model, ...]:
    """The manifests' models, after each of the profile's paths was found to be one of them."""
    models = read_manifest(Path(settings.models_manifest) if settings.models_manifest else None)
    for setting in CLIP_SETTINGS:
        if not getattr(settings, setting):
            raise WeightsError(f"the clip profile needs MMMEM_{setting.upper()}: the model's place on disk")
        verified_pin(setting, Path(getattr(settings, setting)), models)
    return models


def load(settings: Settings, device: Device) -> tuple[TextEncoder, ImageEncoder]:
    """The encoders of the profile."""
    from mmmem.encoders.clip import ClipImageEncoder
    from mmmem.encoders.colbert import ColbertTokenEncoder
    from mmmem.encoders.paired import PairedTextEncoder
    from mmmem.encoders.sentence import SentenceEncoder

    models = read_manifest(Path(settings.models_manifest) if settings.models_manifest else None)
    common: Common = {"models": models, "device": device.name, "batch_size": settings.encode_batch_size}
    text = PairedTextEncoder(
        SentenceEncoder(Path(settings.sentence_dir), **common),
        ColbertTokenEncoder(Path(settings.colbert_dir), **common),
    )
    return text, ClipImageEncoder(settings.clip_model, Path(settings.clip_checkpoint), **common)
