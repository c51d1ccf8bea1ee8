"""One memory removed, users whose time is over, and what is said to be there."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from mmmem.errors import StoreUnavailable
from mmmem.store import Usage
from mmmem.store.retention import DAY
from mmmem.store.users import LanceStore, table_name
from mmmem.types import ImagePart, Part, TextPart
from tests.store.content import ANYWHERE, OpenStore, request, texts

PICTURE = b"picture-marker" + Random(0).randbytes(5_000)
PICTURED: tuple[Part, ...] = (TextPart("the marker"), ImagePart("data:image/png;base64", PICTURE))


def ids(store: LanceStore, user_id: str = "ada") -> list[str]:
    return [memory.id for memory in store.arrays(user_id).memories]


def held(data_dir: Path, marker: bytes) -> bool:
    return any(marker in path.read_bytes() for path in data_dir.rglob("*") if path.is_file())


@ANYWHERE
def test_one_memory_goes_and_the_others_stay_as_they_were(open_store: OpenStore) -> None:
    store, other = open_store(), open_store()
    store.add(request("ada", "a", "first", PICTURED, "third"))
    store.add(request("ada", "b", "fourth"))
    store.add(request("bob", "a", "first", PICTURED))
    kept = [memory for memory in store.load_images("ada", store.arrays("ada").memories) if memory.text != "first"]
    assert texts(other) == ["first", "the marker", "third", "fourth"]
    assert store.delete_memory("ada", ids(store)[0])
    for each in (store, other, open_store()):
        assert each.load_images("ada", each.arrays("ada").memories) == kept
        assert texts(each, "bob") == ["first", "the marker"]


@ANYWHERE
def test_a_memory_that_is_not_there_or_another_s_is_not_removed(store: LanceStore) -> None:
    store.add(request("ada", "a", "one", "two"))
    store.add(request("bob", "a", "one", "two"))
    for user_id, memory_id in [("ada", ids(store, "bob")[0]), ("ada", "' OR 1=1 --"), ("eve", ids(store)[0])]:
        assert not store.delete_memory(user_id, memory_id)
    first = ids(store)[0]
    assert [store.delete_memory("ada", first) for _ in range(3)] == [True, False, False]
    assert texts(store) == ["two"]
    assert texts(store, "bob") == ["one", "two"]


@ANYWHERE
def test_adds_go_on_after_a_removal_and_a_request_with_memories_left_is_still_known(open_store: OpenStore) -> None:
    store, other = open_store(compact_fragments=3), open_store()
    store.add(request("ada", "a", "one", "two"))
    store.delete_memory("ada", ids(store)[1])
    for number in range(8):
        (store, other)[number % 2].add(request("ada", f"r{number}", f"more {number}"))
    other.add(request("ada", "a", "one", "two"))
    other.delete_memory("ada", ids(other)[3])
    expected = ["one", *(f"more {number}" for number in range(8) if number != 2)]
    assert texts(store) == texts(other) == texts(open_store()) == expected


@ANYWHERE
def test_with_its_last_memory_a_request_is_forgotten_and_a_user_too(open_store: OpenStore) -> None:
    store = open_store()
    store.add(request("ada", "a", "one"))
    store.delete_memory("ada", ids(store)[0])
    assert store.usage("ada") == Usage(0, 0, 0, 0, None, None)
    store.add(request("ada", "a", "another body"))
    assert texts(store) == texts(open_store()) == ["another body"]


def test_a_removed_memory_leaves_no_byte_in_any_file_however_few_it_is_of(
    open_store: OpenStore, data_dir: Path
) -> None:
    """A compaction alone writes a file anew only when a tenth of it is to go."""
    store = open_store(compact_fragments=4)
    for number in range(12):
        store.add(request("ada", f"r{number}", *(f"text {number} {line}" for line in range(3))))
    store.add(request("ada", "marked", PICTURED))
    marked = ids(store)[-1]
    markers = [PICTURE[:100], b"the marker", marked.encode()]
    assert all(held(data_dir, marker) for marker in markers)
    assert store.delete_memory("ada", marked)
    assert not any(held(data_dir, marker) for marker in markers)
    assert len(texts(store)) == 36


def test_a_removal_that_the_disk_stops_is_said_and_done_by_the_next(
    open_store: OpenStore, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    store.add(request("ada", "a", "one", PICTURED))
    marked = ids(store)[1]
    for broken in ("mmmem.store.folder_place.sync_table", "mmmem.store.lance.Version.compact"):
        with monkeypatch.context() as patch:
            patch.setattr(broken, lambda *_: 1 / 0)
            with pytest.raises(StoreUnavailable):
                store.delete_memory("ada", marked)
        assert "one" in texts(store)
    store.delete_memory("ada", marked)
    assert texts(store) == texts(open_store()) == ["one"]
    assert not held(data_dir, PICTURE[:100])


@ANYWHERE
def test_removals_among_adds_lose_nothing_else(open_store: OpenStore) -> None:
    store, other = open_store(compact_fragments=4), open_store(compact_fragments=4)
    store.add(request("ada", "first", *(f"goes {number}" for number in range(6))))
    going = ids(store)
    with ThreadPoolExecutor(4) as pool:
        adds = [pool.submit((store, other)[n % 2].add, request("ada", f"r{n}", f"stays {n}")) for n in range(12)]
        removals = [pool.submit((store, other)[n % 2].delete_memory, "ada", id_) for n, id_ in enumerate(going)]
        assert all(removal.result() for removal in removals)
        assert [add.result() for add in adds] == [None] * 12
    for each in (store, other, open_store()):
        assert sorted(texts(each)) == sorted(f"stays {number}" for number in range(12))


@ANYWHERE
def test_a_user_s_memories_pictures_sessions_bytes_and_times_are_counted(store: LanceStore) -> None:
    store.add(request("ada", "a", "one", PICTURED, session_id="s1", created_at=5_000))
    store.add(request("ada", "b", (*PICTURED, *PICTURED), session_id="s2", created_at=2_000))
    usage = store.usage("ada")
    assert (usage.memories, usage.images, usage.sessions, usage.first, usage.last) == (3, 3, 2, 2_000, 5_000)
    assert usage.nbytes > 3 * len(PICTURE)
    assert store.usage("eve") == Usage(0, 0, 0, 0, None, None)


@ANYWHERE
def test_users_whose_time_is_over_are_removed_and_no_others(open_store: OpenStore) -> None:
    store = open_store()
    store.add(request("old", "a", "one"))
    store.add(request("kept alive", "a", "one"))
    time.sleep(0.1)
    moment = time.time()
    time.sleep(0.1)
    store.add(request("kept alive", "b", "two"))
    store.add(request("new", "a", "one"))
    assert store.delete_expired(days=1) == 0
    assert store.delete_expired(days=(time.time() - moment) / DAY) == 1
    for each in (store, open_store()):
        assert [texts(each, user) for user in ("old", "kept alive", "new")] == [[], ["one", "two"], ["one"]]
    store.add(request("old", "a", "another body"))
    assert texts(store, "old") == ["another body"]


def test_what_a_writer_that_died_left_of_an_expired_user_goes_too(store: LanceStore, data_dir: Path) -> None:
    left = data_dir / f"{table_name('ada')}.lance" / "data"
    left.mkdir(parents=True)
    (left / "part.lance").write_bytes(b"the marker")
    os.utime(left.parent, (1, 1))
    assert store.delete_expired(days=1) == 1
    assert not held(data_dir, b"the marker")


def test_a_store_with_a_retention_removes_them_by_itself_and_stops_when_it_is_closed(
    open_store: OpenStore, data_dir: Path
) -> None:
    store = open_store()
    store.add(request("old", "a", "the marker"))
    store.add(request("new", "a", "one"))
    (manifest,) = (data_dir / f"{table_name('old')}.lance" / "_versions").glob("*.manifest")
    os.utime(manifest, (1, 1))
    watching = open_store(retention_days=30)
    deadline = time.monotonic() + 30
    while list(data_dir.glob(f"{table_name('old')}.*")):  # its folder, and that under the name it is removed by
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not held(data_dir, b"the marker")
    assert texts(store, "old") == []
    assert texts(store, "new") == ["one"]
    watching.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "mmmem-retention"]
