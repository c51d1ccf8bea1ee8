"""Replicas on one bucket: nobody can be kept out, and still nothing is lost, doubled, torn, or shown after its deletion."""

from __future__ import annotations

import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import pytest

from mmmem.errors import MmmemError, RequestConflict, StoreUnavailable
from mmmem.settings import Settings
from mmmem.store.users import LanceStore
from mmmem.types import ImagePart, TextPart
from tests.store.content import DIMENSIONS, IN_A_BUCKET, MODELS, OpenStore, outcome, request, texts

pytestmark = IN_A_BUCKET

MANIFEST = re.compile(r"/u_.*/_versions/")
DATA = re.compile(r"/u_.*/data/")
CLAIM = re.compile(r"/claims/")


def unavailable(data_dir: str) -> str:
    """What is said at the start with such a data_dir."""
    with pytest.raises(StoreUnavailable) as refused:
        LanceStore(Settings(data_dir=data_dir), models=MODELS, dimensions=DIMENSIONS).open()
    return str(refused.value)


@pytest.fixture
def meanwhile(s3_server: Any) -> Iterator[Callable[[re.Pattern[str], Callable[[], object]], None]]:
    """Has something happen once, right before the server writes an object whose path matches."""

    def arranged(path: re.Pattern[str], action: Callable[[], object]) -> None:
        waiting = [action]

        def before(method: str, asked: str) -> None:
            if method == "PUT" and path.search(asked) and waiting:
                waiting.pop()()

        s3_server.before = before

    yield arranged
    s3_server.before = lambda *_: None


@pytest.mark.parametrize("earlier", [0, 2])
@pytest.mark.parametrize("path", [MANIFEST, CLAIM])
def test_a_request_that_another_replica_keeps_meanwhile_is_kept_once(
    open_store: OpenStore, meanwhile: Any, path: re.Pattern[str], earlier: int
) -> None:
    store, other = open_store(), open_store()
    kept = [f"text {number}" for number in range(earlier)]
    for text in kept:
        store.add(request("ada", text, text))
    meanwhile(path, lambda: other.add(request("ada", "r", "one", "two")))
    store.add(request("ada", "r", "one", "two"))
    for each in (store, other, open_store()):
        assert texts(each) == [*kept, "one", "two"]


@pytest.mark.parametrize("earlier", [0, 2])
def test_another_body_that_came_first_through_another_replica_is_kept_and_this_one_refused(
    open_store: OpenStore, meanwhile: Any, earlier: int
) -> None:
    store, other = open_store(compact_fragments=2), open_store()
    kept = [f"text {number}" for number in range(earlier)]
    for text in kept:
        store.add(request("ada", text, text))
    meanwhile(MANIFEST, lambda: other.add(request("ada", "r", "first")))
    assert outcome(store, request("ada", "r", "second")) is RequestConflict
    for number in range(3):  # and compaction changes nothing in that
        store.add(request("ada", f"later {number}", f"later {number}"))
    for each in (store, other, open_store()):
        assert texts(each) == [*kept, "first", "later 0", "later 1", "later 2"]
        assert outcome(each, request("ada", "r", "second")) is RequestConflict
        assert outcome(each, request("ada", "r", "first")) is None


def test_a_request_is_retried_through_another_replica(open_store: OpenStore) -> None:
    store, other = open_store(), open_store()
    store.add(request("ada", "r", "one"))
    assert outcome(other, request("ada", "r", "one")) is None
    assert outcome(other, request("ada", "r", "two")) is RequestConflict
    assert texts(store) == texts(other) == ["one"]


def test_replicas_that_add_the_first_memories_of_users_at_once_lose_and_double_nothing(open_store: OpenStore) -> None:
    stores = [open_store(), open_store(), open_store()]
    users = [f"user {number}" for number in range(8)]
    work = [
        (store, request(user, name, f"{user} {name}"))
        for user in users
        for number, store in enumerate(stores)
        for name in ("shared", f"own {number}")
    ]
    with ThreadPoolExecutor(len(work)) as pool:
        assert list(pool.map(lambda each: outcome(*each), work)) == [None] * len(work)
    for user in users:
        expected = [f"{user} {name}" for name in ("own 0", "own 1", "own 2", "shared")]
        assert sorted(texts(open_store(), user)) == expected
        assert len({tuple(texts(store, user)) for store in stores}) == 1


def test_replicas_that_add_and_compact_at_once_lose_and_double_nothing_and_agree_on_the_order(
    open_store: OpenStore,
) -> None:
    stores = [open_store(compact_fragments=2, commit_requests=2) for _ in range(2)]
    image = ImagePart("data:image/png;base64", b"the image")

    def add(who: int) -> list[type[MmmemError] | None]:
        names = [name for number in range(6) for name in (f"{who} {number}", f"shared {number}")]
        return [
            outcome(stores[who % 2], request("ada", name, f"{name} first", (TextPart(name), image))) for name in names
        ]

    with ThreadPoolExecutor(4) as pool:
        assert {each for outcomes in pool.map(add, range(4)) for each in outcomes} == {None}
    requests = [f"{who} {number}" for who in (0, 1, 2, 3, "shared") for number in range(6)]
    shown = texts(stores[0])
    assert [text + " first" for text in shown[1::2]] == shown[::2]  # each whole
    assert sorted(shown[1::2]) == sorted(requests)
    for each in (stores[1], open_store()):
        assert texts(each) == shown
        memories = each.load_images("ada", each.arrays("ada").memories)
        assert [memory.parts[1:] for memory in memories] == [(), (image,)] * len(requests)


def test_a_deletion_leaves_nothing_that_anyone_said_or_showed(
    open_store: OpenStore, s3_server: Any, where: str, meanwhile: Any
) -> None:
    def objects() -> dict[str, bytes]:
        found: dict[str, bytes] = s3_server.objects(where.removeprefix("s3://mmmem/"))
        return found

    store, other = open_store(compact_fragments=2), open_store()
    for number in range(4):
        store.add(request("ada", f"r{number}", (TextPart("secret"), ImagePart("data:image/png;base64", b"secret"))))
    other.add(request("bob", "r", "of bob"))
    # What an Add left that lost: it wrote its rows when the deletion had looked for them already, and its commit fails.
    meanwhile(DATA, lambda: store.delete_user("ada"))
    other.add(request("ada", "r9", "secret"))
    assert texts(store) == texts(other) == ["secret"]
    tables = {name.split("/")[1] for name, content in objects().items() if b"secret" in content}
    assert len(tables) == 1
    assert other.delete_user("ada") is True
    assert other.delete_user("ada") is store.delete_user("ada") is False
    for each in (store, other, open_store()):
        assert texts(each) == []
        assert texts(each, "bob") == ["of bob"]
    assert not [name for name, content in objects().items() if b"secret" in content]
    assert [name for name, content in objects().items() if b"of bob" in content]


def test_a_removal_is_seen_where_as_many_rows_were_moved_in_front(open_store: OpenStore, meanwhile: Any) -> None:
    """Compaction puts what it merged behind what was added meanwhile, so the last row that a replica holds may stay in its place."""
    store, other = open_store(compact_fragments=3), open_store()
    added = threading.Event()

    def late() -> None:
        other.add(request("ada", "late", "late"))
        added.set()

    for number in range(3):
        store.add(request("ada", f"r{number}", f"text {number}"))
    meanwhile(MANIFEST, lambda: meanwhile(DATA, late))  # when the last one is committed, and the rows are being merged
    store.add(request("ada", "r3", "text 3"))
    assert added.wait(20)
    removed = next(memory.id for memory in other.arrays("ada").memories if memory.text == "text 1")
    with store._table("ada") as table:
        table.size()  # waits for the merge, and reads nothing
    assert other.delete_memory("ada", removed)
    for each in (store, other, open_store()):
        assert texts(each) == ["text 0", "text 2", "text 3", "late"]


def test_pictures_told_after_the_last_memory_was_removed_are_found(open_store: OpenStore) -> None:
    def picture(name: str) -> tuple[TextPart, ImagePart]:
        return TextPart(name), ImagePart("data:image/png;base64", f"bytes of {name}".encode())

    store, other = open_store(), open_store()
    store.add(request("ada", "a", "one", picture("two")))
    assert store.delete_memory("ada", store.arrays("ada").memories[1].id)
    assert texts(store) == ["one"]
    for name in ("three", "four"):
        store.add(request("ada", name, picture(name)))
        for each in (store, other):
            [*_, newest] = each.load_images("ada", each.arrays("ada").memories)
            assert newest.parts == picture(name)


def test_a_commit_that_comes_where_a_deletion_cleaned_up_is_not_taken_for_kept(
    open_store: OpenStore, meanwhile: Any
) -> None:
    """Its place among the versions is free again, so the object store takes it; but nobody ever reads it there."""
    store, other = open_store(), open_store()
    store.add(request("ada", "r0", "old"))

    def others() -> None:
        for number in range(3):
            other.add(request("ada", f"other {number}", "old"))
        other.delete_user("ada")

    meanwhile(MANIFEST, others)
    store.add(request("ada", "r1", "new"))
    for each in (store, other, open_store()):
        assert texts(each) == ["new"]


def test_what_is_added_while_it_is_deleted_is_gone_or_there_whole(open_store: OpenStore) -> None:
    adding, deleting = open_store(), open_store()
    acknowledged: list[tuple[float, float]] = []
    deletions: list[tuple[float, float]] = []
    done = threading.Event()

    def add() -> None:
        while not done.is_set() or len(acknowledged) < 10:
            name, start = f"r{len(acknowledged)}", time.monotonic()
            adding.add(request("ada", name, f"{name} first", f"{name} second"))
            acknowledged.append((start, time.monotonic()))

    with ThreadPoolExecutor() as pool:
        added = pool.submit(add)
        for _ in range(6):
            time.sleep(0.1)
            start = time.monotonic()
            deleting.delete_user("ada")
            deletions.append((start, time.monotonic()))
        done.set()
        added.result()
    adding.add(request("ada", "last", "last first", "last second"))
    shown = texts(adding)
    assert shown[::2] == [text.replace("second", "first") for text in shown[1::2]]
    kept = {text.split()[0] for text in shown}
    began, ended = deletions[-1]
    for number, (start, end) in enumerate(acknowledged):
        assert end > began or f"r{number}" not in kept
        assert start < ended or f"r{number}" in kept
    assert texts(deleting) == texts(open_store()) == shown


def test_a_search_may_be_spared_its_look_at_what_others_did(open_store: OpenStore, s3_server: Any) -> None:
    store, strict, spared = open_store(), open_store(), open_store(stale_seconds=3_600)
    store.add(request("ada", "r0", "text 0"))
    assert texts(strict) == texts(spared) == ["text 0"]
    store.add(request("ada", "r1", "text 1"))
    before = sum(s3_server.asked.values())
    assert texts(spared) == ["text 0"]
    assert sum(s3_server.asked.values()) == before
    assert texts(strict) == ["text 0", "text 1"]
    spared.add(request("ada", "r2", "text 2"))  # what it writes itself it sees at once
    assert texts(spared) == ["text 0", "text 1", "text 2"]
    assert texts(strict) == texts(spared)
    before = sum(s3_server.asked.values())
    assert texts(strict) == texts(spared)
    assert sum(s3_server.asked.values()) == before + 1  # the price of seeing everything


def test_a_server_that_does_not_write_conditionally_is_refused(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with import_module("s3_server").S3Server(conditional=False) as careless:
        monkeypatch.setenv("AWS_ENDPOINT", careless.url)
        assert "conditional writes" in unavailable(where)


def test_a_bucket_that_cannot_be_used_is_said_by_the_name_of_the_setting(
    where: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret key")
    with caplog.at_level(logging.DEBUG):
        said = [unavailable("s3://another-bucket/prefix")]
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            monkeypatch.setenv("AWS_ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")
        said.append(unavailable(where))
    for each in said:
        assert each.startswith("data_dir: the bucket cannot be used")
        assert "another-bucket" not in each
    assert "secret" not in caplog.text
    assert "another-bucket" not in caplog.text


def test_a_running_store_that_is_let_into_its_bucket_no_more_is_unavailable_not_empty(
    open_store: OpenStore, s3_server: Any
) -> None:
    store = open_store()
    store.add(request("ada", "r", "text"))

    def fail(*_: str) -> None:
        raise PermissionError

    s3_server.before = fail
    try:
        with pytest.raises(StoreUnavailable):
            store.arrays("ada")
        assert outcome(store, request("ada", "r1", "more")) is StoreUnavailable
    finally:
        s3_server.before = lambda *_: None
    store.add(request("ada", "r1", "more"))
    assert texts(store) == ["text", "more"]


@pytest.mark.parametrize("data_dir", ["ftp://host/folder", "http://bucket/prefix", "file:///folder"])
def test_uris_of_other_kinds_are_refused(where: str, data_dir: str) -> None:
    assert unavailable(data_dir) == "data_dir: must be a folder, or a bucket as s3://, gs:// or az://"
