"""A store is bound to the models that wrote it."""

from __future__ import annotations

from pathlib import Path

import lancedb
import pytest

from mmmem.errors import StoreMismatch, StoreUnavailable
from mmmem.settings import Settings
from mmmem.store.record import FORMAT
from mmmem.store.users import LanceStore
from tests.store.content import DIMENSIONS, MODELS, OpenStore, request


def test_the_same_models_open_it_again(open_store: OpenStore) -> None:
    open_store().add(request("ada", "r", "text"))
    assert len(open_store().arrays("ada")) == 1


def test_other_models_are_refused_and_both_are_named(open_store: OpenStore) -> None:
    open_store()
    with pytest.raises(StoreMismatch) as refused:
        open_store(models={**MODELS, "text": "words-2"})
    assert "written with image pixels-1, text words-1, configured image pixels-1, text words-2" in str(refused.value)


def test_a_newer_format_is_refused(open_store: OpenStore, data_dir: Path) -> None:
    open_store()
    lancedb.connect(data_dir).open_table("_store").update(values={"format": FORMAT + 1})
    with pytest.raises(
        StoreMismatch, match=f"written with format {FORMAT + 1}, this version of mmmem reads format {FORMAT};"
    ):
        open_store()


@pytest.mark.parametrize("folder", ["file", "file/below"])
def test_a_folder_that_cannot_be_used_is_said_without_its_name(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    store = LanceStore(Settings(data_dir=str(tmp_path / folder)), models=MODELS, dimensions=DIMENSIONS)
    with pytest.raises(StoreUnavailable, match="data_dir") as refused:
        store.open()
    assert folder not in str(refused.value)


def test_a_store_that_is_not_open_is_unavailable(data_dir: Path) -> None:
    store = LanceStore(Settings(data_dir=str(data_dir)), models=MODELS, dimensions=DIMENSIONS)
    with pytest.raises(StoreUnavailable, match="not open"):
        store.arrays("ada")
