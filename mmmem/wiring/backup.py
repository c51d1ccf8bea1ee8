"""What brings a backup into a store, and what encodes a store anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from mmmem.settings.requests import Requests
from mmmem.wiring.loading import load

if TYPE_CHECKING:
    from mmmem.backup.importing import Importer
    from mmmem.backup.reindexing import Reindexer
    from mmmem.settings import Settings

_CACHE_BYTES = 64 * 1024 * 1024
_OF_A_PICTURE = ("max_image_pixels", "max_images_pixels", "max_image_aspect")


@contextmanager
def importer(settings: Settings) -> Iterator[Importer]:
    """For the store in `data_dir`, made when missing. Raises StartupError, StoreUnavailable."""
    from mmmem.backup.importing import Importer
    from mmmem.ingest import Ingest
    from mmmem.store.users import LanceStore

    settings = _once(settings)
    models = load(settings)
    with (
        models.ending,
        closing(LanceStore(settings, models=models.names, dimensions=models.dimensions)) as store,
    ):
        store.open()
        ingest = Ingest(settings, models.text, models.pictures())
        yield Importer(store, ingest, models.dimensions, 2 * models.device.threads)


@contextmanager
def reindexer(settings: Settings) -> Iterator[Reindexer]:
    """For the store in `data_dir`, which nobody else may have open. Raises StartupError, StoreUnavailable."""
    from mmmem.backup.reindexing import Reindexer
    from mmmem.ingest import Ingest
    from mmmem.store.reindexing import Reindexing

    settings = _once(settings)
    models = load(settings)
    with (
        models.ending,
        closing(Reindexing(settings, models=models.names, dimensions=models.dimensions)) as store,
    ):
        store.open()
        ingest = Ingest(settings, models.text, models.pictures())
        yield Reindexer(store, ingest, 2 * models.device.threads)


def _once(settings: Settings) -> Settings:
    """Nobody is removed by the way, no user is needed twice, and a picture that was once taken is not too large now."""
    default = Requests()
    allowed = {name: max(getattr(settings, name), getattr(default, name)) for name in _OF_A_PICTURE}
    cache = {"retention_days": 0, "cache_bytes": min(settings.cache_bytes, _CACHE_BYTES)}
    return settings.model_copy(update=allowed | cache)
