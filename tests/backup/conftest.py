"""Stores, and what brings a backup into them. Without a model where vectors are not what a test is about."""

from __future__ import annotations

import io

from PIL import Image

from mmmem.backup.counts import Counts
from mmmem.backup.exporting import export
from mmmem.backup.importing import Importer
from mmmem.backup.lines import Reader
from mmmem.encoders.absent import NoImageEncoder, NoTextEncoder
from mmmem.ingest import Ingest
from mmmem.media.ocr import NoTextReader
from mmmem.pictures import PictureEncoder
from mmmem.settings import Settings
from mmmem.store.users import LanceStore
from mmmem.types import ImagePart
from tests.store.conftest import data_dir, open_store, s3_server, where
from tests.store.content import DIMENSIONS

__all__ = ["data_dir", "open_store", "s3_server", "where"]

WORDS = {"weight_maxsim": 0, "weight_dense": 0, "weight_image": 0, "weight_labels": 0, "reranker": "none", "ocr": "off"}
"""Settings under which nothing is compared but words, and no model is loaded."""


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
