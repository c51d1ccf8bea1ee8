"""What looks again at the top of a ranking."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mmmem.encoders.catalogue import known_models
from mmmem.encoders.weights import verified_pin
from mmmem.errors import StartupError, WeightsError

if TYPE_CHECKING:
    from mmmem.encoders.batching import EncoderThreads
    from mmmem.encoders.device import Device
    from mmmem.encoders.weights import Model
    from mmmem.rerankers import Reranker
    from mmmem.settings import Settings

RERANKER_CHECKPOINTS = ("colbert", "ragatouille")


def pins(settings: Settings) -> tuple[Model, ...]:
    """Every pinned model, after the checkpoint was found to be one of them, where the reranker needs one."""
    models = known_models(settings)
    if settings.reranker in RERANKER_CHECKPOINTS:
        if not settings.reranker_dir:
            raise WeightsError(f"the {settings.reranker} reranker needs MMMEM_RERANKER_DIR: the checkpoint's folder")
        verified_pin("reranker_dir", Path(settings.reranker_dir), models)
    if settings.reranker == "ragatouille" and find_spec("ragatouille") is None:
        raise StartupError("the ragatouille reranker is not installed: run `pip install 'mmmem[ragatouille]'`")
    return models


def load(settings: Settings, device: Device, threads: EncoderThreads) -> Reranker | None:
    """The reranker that the settings ask for, or None for none. Raises StartupError."""
    models = pins(settings)
    folder, batch_size = Path(settings.reranker_dir), settings.encode_batch_size
    match settings.reranker:
        case "maxsim":
            from mmmem.rerankers.maxsim import MaxSimReranker

            return MaxSimReranker()
        case "colbert":
            from mmmem.encoders.colbert import ColbertTokenEncoder
            from mmmem.rerankers.colbert import ColbertReranker

            encoder = ColbertTokenEncoder(
                folder, models=models, device=device.name, batch_size=batch_size, setting="reranker_dir"
            )
            return ColbertReranker(encoder, threads)
        case "ragatouille":
            from mmmem.rerankers.ragatouille import RagatouilleReranker

            return RagatouilleReranker(folder, threads, models=models, device=device, batch_size=batch_size)
        case "none":
            return None
