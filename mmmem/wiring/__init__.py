"""From Settings to a running service. The only place that names concrete classes."""

# Heavy modules (torch, transformers, open_clip) are imported where they are used: a profile loads only what it needs,
# and the command line answers before any of them.

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from mmmem.meter import NO_METER, Meter
from mmmem.wiring import clip, light, ocr, remote, rerankers
from mmmem.wiring.loading import load, needs_models
from mmmem.wiring.stores import count_tables, holds_store, inspect, open_to_remove, open_without_models

if TYPE_CHECKING:
    from mmmem.memory import MemoryService
    from mmmem.settings import Settings

__all__ = [
    "build_service",
    "check",
    "check_weights",
    "count_tables",
    "holds_store",
    "inspect",
    "open_to_remove",
    "open_without_models",
]

log = logging.getLogger(__name__)


def check(settings: Settings) -> None:
    """What can be known before anything is loaded: StartupError without the GPU that is asked for, or as `check_weights`."""
    if settings.device == "cuda":  # otherwise torch is not imported before the port answers
        from mmmem.encoders.device import choose_device

        choose_device(settings)
    check_weights(settings)


def check_weights(settings: Settings) -> None:
    """Raises StartupError when weights are missing or not what they should be."""
    if not needs_models(settings):
        pass
    elif settings.profile == "light":
        light.check(settings)
    else:
        clip.pins(settings)
    ocr.check(settings, models=needs_models(settings))
    rerankers.pins(settings)
    remote.check(settings)


def build_service(settings: Settings, meter: Meter = NO_METER) -> MemoryService:
    """Load the models and open the store; `meter` is told of all work. Raises StartupError with what to do about it."""
    from mmmem.ingest import Ingest
    from mmmem.listing import Listing
    from mmmem.memory import MemoryService
    from mmmem.questions import QuestionEncoder
    from mmmem.search import Search
    from mmmem.store.users import LanceStore

    models = load(settings, meter)
    text, image, threads = models.text, models.image, models.threads
    with models.ending as encoders:
        store = LanceStore(settings, models=models.names, dimensions=models.dimensions, meter=meter)
        store.open()
        questions = QuestionEncoder(settings, text, image, models.pictures())
        reranker = rerankers.load(settings, models.device, threads)
        search = Search(settings, store, text, questions, threads=threads, reranker=reranker, meter=meter)
        ingest = Ingest(settings, text, models.pictures(), meter)
        service = MemoryService(store, encoders.pop_all(), ingest, search, Listing(settings, store), meter=meter)
    meter.ready(models.device.name)
    log.info(
        "ready: profile %s on %s; text %s, dimensions %d, of tokens %d; images %s, dimensions %d, of appearance %d; text in images %s",
        *(settings.profile, models.device.name),
        *(text.name, text.dimensions, text.token_dimensions),
        *(image.name, image.dimensions, image.appearance_dimensions),
        models.reader.name,
    )
    return service
