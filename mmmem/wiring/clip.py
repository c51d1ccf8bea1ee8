"""The `clip` profile: OpenCLIP, a ColBERT checkpoint and a sentence encoder, from folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from mmmem.encoders.catalogue import fetched_folder, known_models
from mmmem.encoders.weights import verified_pin
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


# The setting of each model, and the fetched model that is taken when it is unset.
CHOICES = {
    "clip_checkpoint": "siglip2-b32-256",
    "colbert_dir": "answerai-colbert-small-v1",
    "sentence_dir": "bge-small-en-v1.5",
}


def pins(settings: Settings) -> tuple[Model, ...]:
    """Every model that is pinned, after each of the profile's own was found to be one of them."""
    models = known_models(settings)
    for setting, path in places(settings).items():
        fetching = "" if getattr(settings, setting) else f"Run `mmmem models fetch {CHOICES[setting]}`"
        verified_pin(setting, path, models, fetching)
    return models


def places(settings: Settings) -> dict[str, Path]:
    """Where each model lies, by setting. Raises WeightsError for one that is neither set nor fetched."""
    choices = chosen(settings)
    folders = {setting: fetched_folder(settings) / name for setting, name in choices.items()}
    for setting, name in choices.items():
        if not getattr(settings, setting) and not folders[setting].is_dir():
            raise WeightsError(
                f"the clip profile needs MMMEM_{setting.upper()}, the model's place on disk, or the model that it takes "
                f"where that is unset: run `mmmem models fetch {name}`"
            )
    own = {setting: getattr(settings, setting) for setting in choices}
    return {setting: Path(own[setting]) if own[setting] else folder for setting, folder in folders.items()}


def chosen(settings: Settings) -> dict[str, str]:
    """Those of the choices that are needed: a provider's pooled vectors take the place of the sentence encoder's."""
    remote = settings.text_encoder != "local"
    return {setting: name for setting, name in CHOICES.items() if not (remote and setting == "sentence_dir")}


def load(settings: Settings, device: Device) -> tuple[TextEncoder, ImageEncoder]:
    """The encoders of the profile."""
    from mmmem.encoders.absent import NoDenseEncoder
    from mmmem.encoders.clip import ClipImageEncoder
    from mmmem.encoders.colbert import ColbertTokenEncoder
    from mmmem.encoders.paired import PairedTextEncoder
    from mmmem.encoders.sentence import SentenceEncoder

    common: Common = {
        "models": known_models(settings),
        "device": device.name,
        "batch_size": settings.encode_batch_size,
    }
    folders = places(settings)
    sentence = folders.get("sentence_dir")
    dense = SentenceEncoder(sentence, **common) if sentence else NoDenseEncoder()
    text = PairedTextEncoder(dense, ColbertTokenEncoder(folders["colbert_dir"], **common))
    image = ClipImageEncoder(
        settings.clip_model, folders["clip_checkpoint"], precision=settings.clip_precision, **common
    )
    return text, image
