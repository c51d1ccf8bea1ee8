"""An embeddings provider in place of the local model's pooled vectors."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from mmmem.errors import StartupError
from mmmem.meter import NO_METER, Meter

if TYPE_CHECKING:
    from mmmem.encoders.remote import RemoteEncoder
    from mmmem.settings import Settings

log = logging.getLogger(__name__)

CACHE_FOLDER = "embeddings"  # beside the store's, which are called NAME.lance, NAME.deleted and locks


def check(settings: Settings) -> None:
    """Raises StartupError when a setting is missing. The provider is not asked: it may be down, and come back."""
    if settings.text_encoder == "local":
        return
    for name in ("remote_url", "remote_model"):
        if not getattr(settings, name):
            raise StartupError(f"MMMEM_TEXT_ENCODER=openai needs MMMEM_{name.upper()}")
    if not settings.weight_dense:
        raise StartupError(
            "MMMEM_TEXT_ENCODER=openai: only the dense channel compares the provider's vectors, and it is switched off; give it a "
            "weight, such as MMMEM_WEIGHT_DENSE=0.3"
        )


def load(settings: Settings, meter: Meter = NO_METER) -> RemoteEncoder | None:
    """The encoder that asks the provider, None where there is none. Raises StartupError."""
    check(settings)
    if settings.text_encoder == "local":
        return None
    from mmmem.encoders.provider import EmbeddingsProvider
    from mmmem.encoders.remote import RemoteEncoder
    from mmmem.encoders.vector_cache import VectorCache

    folder = cache_folder(settings)
    cache = VectorCache(folder, settings.remote_cache_bytes) if folder else None
    return RemoteEncoder(settings, EmbeddingsProvider(settings), cache, meter)


def cache_folder(settings: Settings) -> Path | None:
    """Where the provider's vectors are kept, None where they are not."""
    if not settings.remote_cache_bytes:
        return None
    if settings.remote_cache_dir:
        return Path(settings.remote_cache_dir).expanduser()
    if "://" in settings.data_dir:
        log.info("the provider's vectors are not kept: the data is in a bucket, and MMMEM_REMOTE_CACHE_DIR is not set")
        return None
    return Path(settings.data_dir) / CACHE_FOLDER
