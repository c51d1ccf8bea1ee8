"""The models that a profile names, loaded, and what they run on."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmmem.meter import NO_METER, Meter
from mmmem.wiring import clip, light, ocr, remote

if TYPE_CHECKING:
    from mmmem.encoders import ImageEncoder, TextEncoder
    from mmmem.encoders.batching import EncoderThreads
    from mmmem.encoders.device import Device
    from mmmem.media.ocr import TextReader
    from mmmem.pictures import PictureEncoder
    from mmmem.settings import Settings
    from mmmem.store import Dimensions

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Models:
    """What encodes. `ending` ends it."""

    settings: Settings
    device: Device
    text: TextEncoder
    image: ImageEncoder
    reader: TextReader
    threads: EncoderThreads
    ending: ExitStack

    @property
    def names(self) -> dict[str, str]:
        """What a store's vectors are of, by role."""
        return {"text": self.text.name, "image": self.image.name}

    @property
    def dimensions(self) -> Dimensions:
        """The widths of the vectors."""
        from mmmem.media.colours import NAMES
        from mmmem.media.fingerprints import LENGTH
        from mmmem.store import Dimensions

        text, image = self.text, self.image
        widths = (text.dimensions, text.token_dimensions, image.dimensions, image.appearance_dimensions)
        return Dimensions(*widths, LENGTH, len(NAMES))

    def pictures(self) -> PictureEncoder:
        """A new encoder of pictures."""
        from mmmem.pictures import PictureEncoder

        return PictureEncoder(self.settings, self.image, self.reader)


def load(settings: Settings, meter: Meter = NO_METER) -> Models:
    """Load the models; `meter` is told what they do. Raises StartupError with what to do about it."""
    from threadpoolctl import threadpool_limits

    from mmmem.encoders.batched import BatchedImageEncoder, BatchedTextEncoder
    from mmmem.encoders.batching import EncoderThreads
    from mmmem.encoders.device import choose_device
    from mmmem.encoders.remote import JoinedTextEncoder

    threadpool_limits(
        1, user_api="blas"
    )  # searches run side by side: their products fighting for cores took 10 times as long
    device = choose_device(settings)
    text, image = _encoders(settings, device)
    reader = ocr.load(settings, device, models=needs_models(settings))
    with ExitStack() as ending:
        threads = EncoderThreads(device, settings.encode_batch_size, meter)
        ending.callback(threads.close)
        text, image = BatchedTextEncoder(text, threads), BatchedImageEncoder(image, threads)
        if provider := remote.load(settings, meter):
            ending.callback(provider.close)
            text = JoinedTextEncoder(provider, text)
        return Models(settings, device, text, image, reader, threads, ending.pop_all())


def needs_models(settings: Settings) -> bool:
    """Whether any channel that is switched on compares vectors: the lexical ones need no model."""
    weights = (settings.weight_maxsim, settings.weight_dense, settings.weight_image, settings.weight_labels)
    return any(weights) or settings.reranker == "maxsim"


def _encoders(settings: Settings, device: Device) -> tuple[TextEncoder, ImageEncoder]:
    if not needs_models(settings):
        from mmmem.encoders.absent import NoImageEncoder, NoTextEncoder

        return NoTextEncoder(), NoImageEncoder()
    return light.load(settings, device) if settings.profile == "light" else clip.load(settings, device)
