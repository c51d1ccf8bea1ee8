"""Everything encoded anew under other models, from what was kept; interrupted wherever, it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import lancedb
import pytest

from mmmem.backup.counts import Counts
from mmmem.backup.reindexing import Reindexer
from mmmem.encoders.absent import WIDTH
from mmmem.errors import MmmemError, RequestConflict, StoreMismatch, StoreUnavailable, TableMismatch
from mmmem.settings import Settings
from mmmem.store.reindexing import Reindexing
from mmmem.store.users import LanceStore, table_name
from mmmem.types import ImagePart, TextPart
from tests.backup.conftest import NO_MODELS as NEW
from tests.backup.conftest import NO_WIDTHS as WIDTHS
from tests.backup.conftest import exported, picture, words_ingest
from tests.store.content import ANYWHERE, DIMENSIONS, IN_A_BUCKET, MODELS, OpenStore, outcome, request, texts

PICTURE = picture((20, 200, 20))
USERS = ["ada", "bob \ud800", "eve"]


def filled(store: LanceStore) -> None:
    for user in USERS:
        for number in range(3):
            store.add(request(user, f"r{number}", f"text {number}", (TextPart(f"look {number}"), PICTURE)))
    store.delete_memory("ada", store.arrays("ada").memories[2].id)


def reindexed(where: str, models: dict[str, str] = NEW, **settings: object) -> Counts:
    """What `mmmem reindex` would do with no models at all."""
    counts = Counts()
    store = Reindexing(Settings(data_dir=where, **settings), models=models, dimensions=WIDTHS)
    try:
        store.open()
        Reindexer(store, words_ingest(), threads=2).run(counts)
    finally:
        store.close()
    return counts


def as_new(where: str, models: dict[str, str] = NEW) -> LanceStore:
    store = LanceStore(Settings(data_dir=where), models=models, dimensions=WIDTHS)
    store.open()
    return store


def content(store: LanceStore) -> dict[str, list[object]]:
    return {user: store.load_images(user, store.arrays(user).memories) for user in USERS}


def said(backup: bytes) -> list[bytes]:
    """Its lines without their checksums, which the models in the header change."""
    return [line.partition(b',"sha256":"')[0] for line in backup.splitlines()[1:]]


@ANYWHERE
def test_all_memories_are_there_with_new_vectors_and_every_request_is_still_known(
    open_store: OpenStore, where: str
) -> None:
    old = open_store(compact_fragments=2)
    filled(old)
    before, backup = content(old), exported(old, vectors=False)
    old.close()
    counts = reindexed(where)
    assert (counts.users, counts.memories, counts.images) == (3, 17, 9)
    store = as_new(where)
    assert content(store) == before
    assert store.arrays("ada").dense.shape == (5, WIDTH)
    for user in USERS:
        known, other = request(user, "r1", "text 1", (TextPart("look 1"), PICTURE)), request(user, "r1", "another")
        assert outcome(store, replace(known, memories=())) is None
        assert outcome(store, replace(other, memories=())) is RequestConflict
    assert content(store) == before
    assert said(exported(store, vectors=False)) == said(backup)
    store.close()
    with pytest.raises(StoreMismatch, match="mmmem reindex"):
        open_store()
    assert reindexed(where).users == 0


def test_of_the_old_vectors_and_of_the_work_nothing_is_left_on_disk(open_store: OpenStore, data_dir: Path) -> None:
    old = open_store()
    filled(old)
    marks = dense_vectors(old)
    old.close()

    def held() -> list[bytes]:
        return [path.read_bytes() for path in data_dir.rglob("*") if path.is_file()]

    assert all(any(mark in content for content in held()) for mark in marks)
    reindexed(str(data_dir))
    assert not any(mark in content for content in held() for mark in marks)
    names = {path.name for path in data_dir.iterdir()}
    assert names == {"locks", "_store.lance", *(f"{table_name(user)}.lance" for user in USERS)}


@IN_A_BUCKET
def test_of_the_old_vectors_and_of_the_work_nothing_is_left_in_a_bucket(
    open_store: OpenStore, where: str, s3_server: Any
) -> None:
    old = open_store()
    filled(old)
    marks = dense_vectors(old)
    old.close()
    reindexed(where)
    objects: dict[str, bytes] = s3_server.objects(where.removeprefix("s3://mmmem/"))
    assert not any(mark in content for content in objects.values() for mark in marks)
    assert not any("reindexing" in name for name in objects)


def dense_vectors(store: LanceStore) -> list[bytes]:
    return [each.memories[0].text.dense.tobytes() for name in store.names() for each in store.requests(name)]


@pytest.mark.parametrize("at", ["replace", "drop_old_versions", "write_record"])
@pytest.mark.parametrize("after", [False, True])
def test_stopped_anywhere_it_is_refused_to_everyone_else_and_goes_on_with_what_is_left(
    open_store: OpenStore, data_dir: Path, monkeypatch: pytest.MonkeyPatch, at: str, *, after: bool
) -> None:
    old = open_store()
    filled(old)
    before = content(old)
    old.close()
    owner = "folder.Folder" if at == "write_record" else "folder_place.FolderPlace"
    stop_at(monkeypatch, f"mmmem.store.{owner}.{at}", after=after, time=2)
    with pytest.raises(KeyboardInterrupt):
        reindexed(str(data_dir))
    monkeypatch.undo()
    if not (at == "write_record" and after):  # then it had ended
        for opening in (open_store, lambda: as_new(str(data_dir)), lambda: open_store(models=None)):
            with pytest.raises(StoreMismatch, match="run `mmmem reindex` again"):
                opening()
    counts = reindexed(str(data_dir))
    assert counts.users == {"replace": 1 if after else 2, "drop_old_versions": 1, "write_record": 0}[at]
    assert counts.done == 3
    store = as_new(str(data_dir))
    assert content(store) == before
    store.close()
    assert not (data_dir / "reindexing").exists()


def taken(target: str) -> tuple[type, Callable[..., object]]:
    """A class and its method, by their name."""
    module, class_name, method = target.rsplit(".", 2)
    owner = getattr(import_module(module), class_name)
    return owner, getattr(owner, method)


def stop_at(monkeypatch: pytest.MonkeyPatch, target: str, *, after: bool, time: int) -> None:
    """End the process, as far as its own code can tell, right before or after this is done for the n-th time."""
    owner, original = taken(target)
    method, done = original.__name__, []

    def stopping(*arguments: object) -> object:
        done.append(None)
        if len(done) == time and not after:
            raise KeyboardInterrupt
        result = original(*arguments)
        if len(done) == time:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(owner, method, stopping)


def test_begun_with_some_models_and_ended_with_others_no_user_is_left_of_the_first(
    open_store: OpenStore, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = open_store()
    filled(old)
    before = content(old)
    old.close()
    stop_at(monkeypatch, "mmmem.store.folder_place.FolderPlace.replace", after=True, time=2)
    with pytest.raises(KeyboardInterrupt):
        reindexed(str(data_dir), models={"text": "first", "image": "first"})
    monkeypatch.undo()
    assert reindexed(str(data_dir)).users == 3
    store = as_new(str(data_dir))
    assert content(store) == before
    store.close()


def test_while_a_service_has_the_store_open_it_is_refused_and_the_other_way_round(
    open_store: OpenStore, data_dir: Path
) -> None:
    store = open_store()
    filled(store)
    with pytest.raises(StoreUnavailable, match="in use; stop the service"):
        reindexed(str(data_dir))
    assert len(store.arrays("ada")) == 5
    store.close()
    holding = Reindexing(Settings(data_dir=str(data_dir)), models=MODELS, dimensions=DIMENSIONS)
    holding.open()
    with pytest.raises(StoreUnavailable, match="`mmmem reindex` is at work"):
        open_store()
    holding.close()
    assert texts(open_store(), "eve") == [f"{what} {n}" for n in range(3) for what in ("text", "look")]


def test_a_picture_that_cannot_be_read_any_more_stops_it_and_costs_nothing(
    open_store: OpenStore, data_dir: Path
) -> None:
    old = open_store()
    old.add(request("ada", "r", (ImagePart("data:image/png;base64", b"no picture"),)))
    old.close()
    with pytest.raises(MmmemError, match=r"cannot be encoded: memories\.0\.content\.0\.image_url\.url"):
        reindexed(str(data_dir))
    back = Reindexing(Settings(data_dir=str(data_dir)), models=MODELS, dimensions=DIMENSIONS)
    back.open()  # to the models that it was of
    Reindexer(back, words_ingest(), threads=2).run(Counts())
    back.close()
    assert len(open_store().arrays("ada")) == 1


def test_a_table_of_a_newer_format_is_not_touched(open_store: OpenStore, data_dir: Path) -> None:
    old = open_store()
    filled(old)
    old.close()
    rows = lancedb.connect(data_dir).open_table(table_name("ada")).to_arrow()
    newer = rows.schema.metadata | {b"mmmem.format": b"99"}
    lancedb.connect(data_dir).create_table(table_name("ada"), rows.replace_schema_metadata(newer), mode="overwrite")
    with pytest.raises(StoreUnavailable, match="format 99"):
        reindexed(str(data_dir))
    assert lancedb.connect(data_dir).open_table(table_name("ada")).count_rows() == 5


@IN_A_BUCKET
@pytest.mark.parametrize(
    "during", ["mmmem.store.reindexing.Reindexing.replace", "mmmem.store.bucket_place.BucketPlace.replace"]
)
def test_in_a_bucket_what_a_replica_adds_meanwhile_is_not_lost(
    open_store: OpenStore, where: str, monkeypatch: pytest.MonkeyPatch, during: str
) -> None:
    """Nobody can be kept out there."""
    running = open_store()
    running.add(request("ada", "r", "one"))
    owner, original = taken(during)

    def meanwhile(*arguments: object) -> None:
        running.add(request("ada", "r2", "two"))
        original(*arguments)

    monkeypatch.setattr(owner, "replace", meanwhile)
    with pytest.raises(StoreUnavailable, match="stop"):
        reindexed(where)
    monkeypatch.undo()
    assert texts(running) == ["one", "two"]
    assert reindexed(where).memories == 2
    with pytest.raises(TableMismatch, match="mmmem reindex"):
        running.arrays("ada")
    assert outcome(running, request("ada", "r3", "three")) is TableMismatch
    store = as_new(where)
    assert texts(store) == ["one", "two"]
    store.close()
