"""From Settings to a running service. The only place that names concrete classes."""

# Heavy modules (torch, transformers, open_clip) are imported where they are used: a profile loads only what it needs,
# and the command line answers before any of them.

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import TYPE_CHECKING

from mmmem.meter import NO_METER, Meter
from mmmem.wiring import clip, light, ocr, remote, rerankers
from mmmem.wiring.stores import count_tables, holds_store, inspect, open_to_remove

if TYPE_CHECKING:
    from mmmem.encoders import ImageEncoder, TextEncoder
    from mmmem.encoders.device import Device
    from mmmem.memory import MemoryService
    from mmmem.settings import Settings

__all__ = ["build_service", "check", "count_tables", "holds_store", "inspect", "open_to_remove"]

log = logging.getLogger(__name__)


def check(settings: Settings) -> None:
    """What can be known before anything is loaded: StartupError when weights are missing or not what they should be."""
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
    from threadpoolctl import threadpool_limits

    from mmmem.encoders.batched import BatchedImageEncoder, BatchedTextEncoder
    from mmmem.encoders.batching import EncoderThreads
    from mmmem.encoders.device import choose_device
    from mmmem.encoders.remote import JoinedTextEncoder
    from mmmem.ingest import Ingest
    from mmmem.media.colours import NAMES
    from mmmem.media.fingerprints import LENGTH
    from mmmem.memory import MemoryService
    from mmmem.pictures import PictureEncoder
    from mmmem.questions import QuestionEncoder
    from mmmem.search import Search
    from mmmem.store import Dimensions
    from mmmem.store.users import LanceStore

    threadpool_limits(
        1, user_api="blas"
    )  # searches run side by side: their products fighting for cores took 10 times as long
    device = choose_device(settings)
    text, image = _encoders(settings, device)
    reader = ocr.load(settings, device, models=needs_models(settings))
    with ExitStack() as encoders:
        threads = EncoderThreads(device, settings.encode_batch_size, meter)
        encoders.callback(threads.close)
        text, image = BatchedTextEncoder(text, threads), BatchedImageEncoder(image, threads)
        if provider := remote.load(settings, meter):
            encoders.callback(provider.close)
            text = JoinedTextEncoder(provider, text)
        store = LanceStore(
            settings,
            models={"text": text.name, "image": image.name},
            dimensions=Dimensions(
                text.dimensions,
                text.token_dimensions,
                image.dimensions,
                image.appearance_dimensions,
                LENGTH,
                len(NAMES),
            ),
            meter=meter,
        )
        store.open()
        questions = QuestionEncoder(settings, text, image, PictureEncoder(settings, image, reader))
        reranker = rerankers.load(settings, device, threads)
        search = Search(settings, store, text, questions, threads=threads, reranker=reranker, meter=meter)
        ingest = Ingest(settings, text, PictureEncoder(settings, image, reader), meter)
        service = MemoryService(store, encoders.pop_all(), ingest, search, meter)
    meter.ready(device.name)
    log.info(
        "ready: profile %s on %s; text %s, dimensions %d, of tokens %d; images %s, dimensions %d, of appearance %d; text in images %s",
        *(settings.profile, device.name),
        *(text.name, text.dimensions, text.token_dimensions),
        *(image.name, image.dimensions, image.appearance_dimensions),
        reader.name,
    )
    return service


def needs_models(settings: Settings) -> bool:
    """Whether any channel that is switched on compares vectors: the lexical ones need no model."""
    weights = (settings.weight_maxsim, settings.weight_dense, settings.weight_image, settings.weight_labels)
    return any(weights) or settings.reranker == "maxsim"


def _encoders(settings: Settings, device: Device) -> tuple[TextEncoder, ImageEncoder]:
    if not needs_models(settings):
        from mmmem.encoders.absent import NoImageEncoder, NoTextEncoder

        return NoTextEncoder(), NoImageEncoder()
    return light.load(settings, device) if settings.profile == "light" else clip.load(settings, device)
