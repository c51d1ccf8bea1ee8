"""The `light` profile: models that come with pip, or a text model of the user's own in place of MiniLM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import load_file

from mmmem.encoders.catalogue import known_models
from mmmem.encoders.weights import models_folder, read_manifest, verified_folder, verified_pin
from mmmem.errors import WeightsError

if TYPE_CHECKING:
    from mmmem.encoders import ImageEncoder, TextEncoder
    from mmmem.encoders.device import Device
    from mmmem.encoders.weights import Model
    from mmmem.settings import Settings
    from mmmem.types import Float32

MINILM, PROJECTION = "all-MiniLM-L6-v2", "minilm-tokens-pca128"
EFFICIENTNET, CLASS_NAMES, CLASS_VECTORS = "efficientnet-lite2", "imagenet-classes", "imagenet-classes-minilm"


def check(settings: Settings) -> None:
    """Raises StartupError when a file is missing or not what it should be."""
    files_of(settings)
    pins(settings)


def files_of(settings: Settings) -> dict[str, Path]:
    """The first file of each built-in model that the profile needs, all of them verified."""
    models = {model.name: model for model in read_manifest()}
    places: dict[str, Path | None] = {EFFICIENTNET: None, CLASS_NAMES: None}
    if not settings.text_dir:
        places |= {MINILM: None, PROJECTION: models_folder(), CLASS_VECTORS: models_folder()}
    return {name: verified_folder(name, place) / models[name].files[0].path for name, place in places.items()}


def pins(settings: Settings) -> dict[str, Model]:
    """The manifests' entries of the user's own text model and its projection, by setting; none with MiniLM."""
    if settings.text_projection and not settings.text_dir:
        raise WeightsError("text_projection: belongs to the text model that MMMEM_TEXT_DIR names, and that is not set")
    if not settings.text_dir:
        return {}
    models = known_models(settings)
    paths = {"text_dir": settings.text_dir, "text_projection": settings.text_projection}
    return {setting: verified_pin(setting, Path(path), models) for setting, path in paths.items() if path}


def load(settings: Settings, device: Device) -> tuple[TextEncoder, ImageEncoder]:
    """The encoders of the profile."""
    from mmmem.encoders.conse import ConseImageEncoder

    prints = {model.name: model.fingerprint for model in read_manifest()}
    files = files_of(settings)
    own = pins(settings)
    if own:
        text = _own_text(settings, device, own)
        space, revision = own["text_dir"].fingerprint, prints[CLASS_NAMES]
        classes = _class_vectors(text, files[CLASS_NAMES].parent, settings, device)
    else:
        text = _minilm(settings, device, files, f"{MINILM}@{prints[MINILM]}+{prints[PROJECTION]}")
        space, revision = prints[MINILM], prints[CLASS_VECTORS]
        classes = load_file(files[CLASS_VECTORS])["classes"].astype(np.float32)
    image = ConseImageEncoder(
        files[EFFICIENTNET],
        classes,
        files[CLASS_NAMES],
        space=space,
        revision=f"{prints[EFFICIENTNET]}+{revision}",
        device=device.name,
    )
    return text, image


def _minilm(settings: Settings, device: Device, files: dict[str, Path], name: str) -> TextEncoder:
    from mmmem.encoders.contextual import MINILM as CONVENTIONS
    from mmmem.encoders.contextual import ContextualEncoder
    from mmmem.encoders.tokens import Projection

    projection = Projection.load(files[PROJECTION])
    folder, batch_size = files[MINILM].parent, settings.encode_batch_size
    return ContextualEncoder(folder, CONVENTIONS, projection, name=name, device=device.name, batch_size=batch_size)


def _own_text(settings: Settings, device: Device, pins: dict[str, Model]) -> TextEncoder:
    from mmmem.encoders.contextual import SETTING, ContextualEncoder
    from mmmem.encoders.conventions import Conventions
    from mmmem.encoders.tokens import Projection

    folder = Path(settings.text_dir)
    return ContextualEncoder(
        folder,
        Conventions.read(SETTING, folder),
        Projection.load(Path(settings.text_projection)) if settings.text_projection else None,
        name="text@" + "+".join(model.fingerprint for model in pins.values()),
        device=device.name,
        batch_size=settings.encode_batch_size,
    )


def _class_vectors(text: TextEncoder, names: Path, settings: Settings, device: Device) -> Float32:
    """The image network's classes in the space of the user's own text model: on encoder threads, so always the same bits."""
    from mmmem.encoders.batched import BatchedTextEncoder
    from mmmem.encoders.batching import EncoderThreads
    from mmmem.encoders.conse import class_texts, class_vectors

    threads = EncoderThreads(device, settings.encode_batch_size)
    try:
        return class_vectors(BatchedTextEncoder(text, threads), class_texts(names))
    finally:
        threads.close()
