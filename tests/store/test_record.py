"""A store is bound to the models that wrote it."""

from __future__ import annotations

import tarfile
from pathlib import Path

import lancedb
import pytest

from mmmem.errors import RequestConflict, StoreMismatch, StoreUnavailable, TableMismatch
from mmmem.settings import Settings
from mmmem.store.record import FORMAT
from mmmem.store.users import LanceStore, table_name
from mmmem.types import ImagePart
from tests.store.content import DIMENSIONS, MODELS, OpenStore, outcome, request, texts


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


def written_as(data_dir: Path, user_id: str, **metadata: str | None) -> None:
    """Have a user's table say something else of itself; None: nothing."""
    name = table_name(user_id)
    rows = lancedb.connect(data_dir).open_table(name).to_arrow()
    said = {
        key: value for key, value in rows.schema.metadata.items() if key.decode().removeprefix("mmmem.") not in metadata
    }
    said |= {f"mmmem.{key}".encode(): value.encode() for key, value in metadata.items() if value is not None}
    lancedb.connect(data_dir).create_table(name, rows.replace_schema_metadata(said), mode="overwrite")


@pytest.mark.parametrize(
    ("said", "remedy"),
    [({"format": str(FORMAT + 1)}, "update mmmem"), ({"models": '{"text": "words-2"}'}, "run `mmmem reindex`")],
)
def test_a_user_s_table_of_a_newer_format_or_other_models_is_refused_alone_and_left_as_it_is(
    open_store: OpenStore, data_dir: Path, said: dict[str, str], remedy: str
) -> None:
    running = open_store()
    for user in ("ada", "bob"):
        running.add(request(user, "r", "text"))
    written_as(data_dir, "ada", **said)
    for store in (running, open_store()):
        for refused in (
            lambda store=store: store.arrays("ada"),
            lambda store=store: store.add(request("ada", "r2", "more")),
            lambda store=store: store.delete_memory("ada", store.arrays("bob").memories[0].id),
        ):
            with pytest.raises(TableMismatch, match=remedy):
                refused()
        store.add(request("bob", "r2", "more"))
        assert len(store.arrays("bob")) == 2
    assert lancedb.connect(data_dir).open_table(table_name("ada")).count_rows() == 1
    assert running.delete_user("ada")
    running.add(request("ada", "r", "text"))


def test_a_table_that_says_nothing_of_itself_is_read_as_the_oldest_format(
    open_store: OpenStore, data_dir: Path
) -> None:
    open_store().add(request("ada", "r", "text"))
    written_as(data_dir, "ada", format=None, models=None)
    store = open_store()
    store.add(request("ada", "r2", "more"))
    assert texts(store) == ["text", "more"]


def test_a_store_of_earlier_code_goes_on_being_one(open_store: OpenStore, data_dir: Path) -> None:
    """Made before tables said which models they are of."""
    with tarfile.open(Path(__file__).with_name("format-4.tar.gz")) as archive:
        archive.extractall(data_dir, filter="data")
    store = open_store()
    assert texts(store) == ["first", "look", "third"]
    assert store.load_images("ada", store.arrays("ada").memories)[1].parts[1] == ImagePart(
        "data:image/png;base64", b"the picture"
    )
    assert outcome(store, request("ada", "b", "third", session_id="later")) is None
    assert outcome(store, request("ada", "b", "another")) is RequestConflict
    store.add(request("ada", "c", "fourth"))
    assert texts(open_store()) == ["first", "look", "third", "fourth"]
    assert texts(store, "bob \ud800") == ["of bob"]
