"""Stores, and what brings a backup into them. Without a model where vectors are not what a test is about."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from mmmem.backup.counts import Counts
from mmmem.backup.exporting import export
from mmmem.backup.importing import Importer
from mmmem.backup.reading import Reader
from mmmem.encoders.absent import WIDTH, NoImageEncoder, NoTextEncoder
from mmmem.ingest import Ingest
from mmmem.media.colours import NAMES
from mmmem.media.fingerprints import LENGTH
from mmmem.media.ocr import NoTextReader
from mmmem.pictures import PictureEncoder
from mmmem.settings import Settings
from mmmem.store import Dimensions
from mmmem.store.users import LanceStore
from mmmem.types import AddRequest, ImagePart, Message, TextPart
from tests.store.conftest import data_dir, open_store, s3_server, where
from tests.store.content import DIMENSIONS, MODELS

__all__ = ["data_dir", "open_store", "s3_server", "where"]

WORDS = {"weight_maxsim": 0, "weight_dense": 0, "weight_image": 0, "weight_labels": 0, "reranker": "none", "ocr": "off"}
"""Settings under which nothing is compared but words, and no model is loaded."""
WORDS_ENVIRONMENT = {f"MMMEM_{name.upper()}": str(value) for name, value in WORDS.items()}
NO_MODELS = {"text": "none", "image": "none"}
NO_WIDTHS = Dimensions(WIDTH, WIDTH, WIDTH, WIDTH, LENGTH, len(NAMES))
"""What a store is of under these settings."""


@contextmanager
def opened(folder: str, models: dict[str, str] = MODELS, dimensions: Dimensions = DIMENSIONS) -> Iterator[LanceStore]:
    store = LanceStore(Settings(data_dir=folder), models=models, dimensions=dimensions)
    store.open()
    try:
        yield store
    finally:
        store.close()


def words_ingest() -> Ingest:
    settings = Settings(**WORDS)
    return Ingest(settings, NoTextEncoder(), PictureEncoder(settings, NoImageEncoder(), NoTextReader()))


def exported(store: LanceStore, *users: str, vectors: bool = True) -> bytes:
    """What `mmmem export` would write."""
    file = io.BytesIO()
    export(store, file, [store.name(user) for user in users] or store.names(), vectors=vectors)
    return file.getvalue()


def imported(store: LanceStore, data: bytes, **options: object) -> Counts:
    """Put it into a store whose vectors have the widths of tests.store.content."""
    counts = Counts()
    Importer(store, words_ingest(), DIMENSIONS, threads=2).run(Reader(io.BytesIO(data)), counts, **options)
    return counts


def picture(colour: tuple[int, int, int], size: tuple[int, int] = (24, 16)) -> ImagePart:
    data = io.BytesIO()
    Image.new("RGB", size, colour).save(data, "PNG")
    return ImagePart("data:image/png;base64", data.getvalue())


def told_without_models(folder: Path, users: Iterable[str], requests: int, models: dict[str, str] = NO_MODELS) -> bytes:
    """A store there of users with so many Adds of two messages, every tenth with a picture; its backup. As of `models`."""
    with opened(str(folder), models, NO_WIDTHS) as store:
        _tell(store, users, requests)
        return exported(store)


def _tell(store: LanceStore, users: Iterable[str], requests: int) -> None:
    ingest = words_ingest()
    for user in users:
        adds = []
        for number in range(requests):
            shown = (picture((number, 1, 2)),) if number % 10 == 0 else ()
            messages = (
                Message("user", (TextPart(f"{number} of {user}"), *shown)),
                Message("user", (TextPart("And?"),)),
            )
            adds.append(ingest.encode(AddRequest(f"r{number}", user, f"s{number % 3}", messages), None, number))
        assert store.add_all(adds) == [None] * requests
