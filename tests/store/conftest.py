"""A real LanceDB store in a folder of the test's own, and requests whose vectors follow from their content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mmmem.settings import Settings
from mmmem.store.lance import LanceStore
from tests.store.content import DIMENSIONS, MODELS, OpenStore


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def open_store(data_dir: Path) -> Iterator[OpenStore]:
    """Opens a store on the test's folder, as often as asked: each is what another process would have."""
    stores = []

    def opened(**settings: Any) -> LanceStore:
        models = settings.pop("models", MODELS)
        configured = Settings(data_dir=str(data_dir)).model_copy(update=settings)
        store = LanceStore(configured, models=models, dimensions=DIMENSIONS)
        store.open()
        stores.append(store)
        return store

    yield opened
    for store in stores:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> LanceStore:
    return open_store()
