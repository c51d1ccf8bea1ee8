"""From Settings to a running service. The only place that names concrete classes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from mmmem.encoders.weights import models_folder, read_manifest, verified_folder, verified_pin
from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from mmmem.encoders import ImageEncoder, TextEncoder
    from mmmem.encoders.device import Device
    from mmmem.encoders.weights import Model
    from mmmem.memory import MemoryService
    from mmmem.settings import Settings


class Common(TypedDict):
    """What every encoder of the clip profile takes."""

    models: tuple[Model, ...]
    device: str
    batch_size: int


# Heavy modules (torch, transformers, open_clip) are imported where they are used: a profile loads only what it needs,
# and the command line answers before any of them.

log = logging.getLogger(__name__)
MINILM, PROJECTION = "all-MiniLM-L6-v2", "minilm-tokens-pca128"
EFFICIENTNET, CLASS_NAMES, CLASS_VECTORS = "efficientnet-lite2", "imagenet-classes", "imagenet-classes-minilm"


def check(settings: Settings) -> None:
    """What can be known before anything is loaded: StartupError when weights are missing or not what they should be."""
    if settings.profile == "light":
        _light_files()
    else:
        _clip_pins(settings)


def build_service(settings: Settings) -> MemoryService:
    """Load the profile's models and open the store. Raises StartupError with what to do about it."""
    from mmmem.encoders.batching import BatchedImageEncoder, BatchedTextEncoder, EncoderThreads  # noqa: PLC0415
    from mmmem.encoders.device import choose_device  # noqa: PLC0415
    from mmmem.ingest import Ingest  # noqa: PLC0415
    from mmmem.memory import MemoryService  # noqa: PLC0415
    from mmmem.search import Search  # noqa: PLC0415
    from mmmem.store import Dimensions  # noqa: PLC0415
    from mmmem.store.lance import LanceStore  # noqa: PLC0415

    device = choose_device(settings)
    text, image = _light(settings, device) if settings.profile == "light" else _clip(settings, device)
    store = LanceStore(
        settings,
        models={"text": text.name, "image": image.name},
        dimensions=Dimensions(text.dimensions, text.token_dimensions, image.dimensions),
    )
    store.open()
    threads = EncoderThreads(device, settings.encode_batch_size)
    text, image = BatchedTextEncoder(text, threads), BatchedImageEncoder(image, threads)
    log.info("ready: profile %s on %s, text %s, images %s", settings.profile, device.name, text.name, image.name)
    return MemoryService(store, threads, Ingest(settings, text, image), Search(settings, store, text, image))


def _light_files() -> dict[str, Path]:
    """The first file of each model of the profile, all of them verified."""
    models = {model.name: model for model in read_manifest()}
    places = {
        MINILM: None,
        PROJECTION: models_folder(),
        EFFICIENTNET: None,
        CLASS_NAMES: None,
        CLASS_VECTORS: models_folder(),
    }
    return {name: verified_folder(name, place) / models[name].files[0].path for name, place in places.items()}


def _light(settings: Settings, device: Device) -> tuple[TextEncoder, ImageEncoder]:
    from safetensors.numpy import load_file  # noqa: PLC0415

    from mmmem.encoders.conse import ConseImageEncoder  # noqa: PLC0415
    from mmmem.encoders.minilm import MiniLMEncoder  # noqa: PLC0415
    from mmmem.encoders.tokens import Projection  # noqa: PLC0415

    prints = {model.name: model.fingerprint for model in read_manifest()}
    files = _light_files()
    text = MiniLMEncoder(
        files[MINILM].parent,
        Projection.load(files[PROJECTION]),
        revision=f"{prints[MINILM]}+{prints[PROJECTION]}",
        device=device.name,
        batch_size=settings.encode_batch_size,
    )
    image = ConseImageEncoder(
        files[EFFICIENTNET],
        load_file(files[CLASS_VECTORS])["classes"].astype(np.float32),
        files[CLASS_NAMES],
        space=prints[MINILM],
        revision=f"{prints[EFFICIENTNET]}+{prints[CLASS_VECTORS]}",
        device=device.name,
    )
    return text, image


CLIP_SETTINGS = ("clip_checkpoint", "colbert_dir", "sentence_dir")


def _clip_pins(settings: Settings) -> tuple[Model, ...]:
    """The manifests' models, after each of the profile's paths was found to be one of them."""
    models = read_manifest(Path(settings.models_manifest) if settings.models_manifest else None)
    for setting in CLIP_SETTINGS:
        if not getattr(settings, setting):
            raise WeightsError(f"the clip profile needs MMMEM_{setting.upper()}: the model's place on disk")
        verified_pin(setting, Path(getattr(settings, setting)), models)
    return models


def _clip(settings: Settings, device: Device) -> tuple[TextEncoder, ImageEncoder]:
    from mmmem.encoders.clip import ClipImageEncoder  # noqa: PLC0415
    from mmmem.encoders.colbert import ColbertTokenEncoder  # noqa: PLC0415
    from mmmem.encoders.paired import PairedTextEncoder  # noqa: PLC0415
    from mmmem.encoders.sentence import SentenceEncoder  # noqa: PLC0415

    models = read_manifest(Path(settings.models_manifest) if settings.models_manifest else None)
    common: Common = {"models": models, "device": device.name, "batch_size": settings.encode_batch_size}
    text = PairedTextEncoder(
        SentenceEncoder(Path(settings.sentence_dir), **common),
        ColbertTokenEncoder(Path(settings.colbert_dir), **common),
    )
    return text, ClipImageEncoder(settings.clip_model, Path(settings.clip_checkpoint), **common)
