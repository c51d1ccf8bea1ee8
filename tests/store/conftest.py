"""A real LanceDB store in a folder or a bucket of the test's own, and requests whose vectors follow from their content."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mmmem.settings import Settings
from mmmem.store.users import LanceStore
from tests.store.content import DIMENSIONS, MODELS, OpenStore


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Any]:
    """An S3 API on this machine, and the environment that points at it, also for processes that a test starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "scripts")
        with import_module("s3_server").S3Server() as server:
            for name, value in server.environment.items():
                patch.setenv(name, value)
            yield server


@pytest.fixture
def where(request: pytest.FixtureRequest, data_dir: Path) -> str:
    """MMMEM_DATA_DIR: a folder; a bucket where the test is marked with content.ANYWHERE or content.IN_A_BUCKET."""
    if getattr(request, "param", "folder") == "folder":
        return str(data_dir)
    request.getfixturevalue("s3_server")
    return f"s3://mmmem/{uuid.uuid4().hex}"


@pytest.fixture
def open_store(where: str) -> Iterator[OpenStore]:
    """Opens a store there, as often as asked: each is what another process would have."""
    stores = []

    def opened(**settings: Any) -> LanceStore:
        models = settings.pop("models", MODELS)
        configured = Settings(data_dir=where).model_copy(update=settings)
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
