"""A deleted user is gone from the disk: no file of the data folder holds a byte of theirs, whatever happened before or meanwhile."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mmmem.errors import StoreUnavailable
from mmmem.store.users import LanceStore, table_name
from mmmem.types import ImagePart, Part, TextPart
from tests.store.content import OpenStore, request
from tests.store.test_processes import adding, pairs

USER = "user-marker-Ω'/\\"
PICTURE = b"picture-marker" + Random(0).randbytes(5_000)


def content(number: int) -> tuple[Part, ...]:
    if number % 3:
        return (TextPart(f"text-marker {number}"),)
    return (TextPart(f"text-marker {number}"), ImagePart("data:image/header-marker;base64", PICTURE))


def tell(store: LanceStore, count: int, user: str = USER) -> None:
    for number in range(count):
        ids = {"session_id": "session-marker", "role": "role-marker"}
        store.add(request(user, f"request-marker {number}", content(number), **ids))


MARKERS = {
    "user_id": USER.encode(),
    "request_id": b"request-marker",
    "session_id": b"session-marker",
    "role": b"role-marker",
    "text": b"text-marker",
    "header": b"header-marker",
    "picture": PICTURE[:200],
    "vector": request(USER, "r", content(1)).memories[0].text.dense.tobytes(),
    "token vectors": request(USER, "r", content(1)).memories[0].text.tokens.tobytes(),
    "appearance": request(USER, "r", content(0)).memories[0].images[0].vectors.appearance.tobytes(),
}


def held(data_dir: Path) -> set[str]:
    """Which markers there are in any file, or in its name."""
    everything = b"\n".join(
        str(path).encode() + (path.read_bytes() if path.is_file() else b"") for path in data_dir.rglob("*")
    )
    return {name for name, marker in MARKERS.items() if marker in everything}


def left(data_dir: Path) -> set[str]:
    """The files beside the store's own record and its locks, which are empty."""
    locks = list((data_dir / "locks").iterdir())
    assert not any(lock.stat().st_size for lock in locks)
    files = (path for path in data_dir.rglob("*") if path.is_file())
    return {str(path) for path in files if "_store.lance" not in path.parts and path not in locks}


def tables(data_dir: Path) -> list[Path]:
    return list(data_dir.glob("u_*"))


def test_text_ids_pictures_vectors_and_old_versions_are_gone(open_store: OpenStore, data_dir: Path) -> None:
    store, other = open_store(compact_fragments=2), open_store()
    tell(store, 12)
    memories = other.arrays(USER).memories
    (table,) = tables(data_dir)
    assert len(list((table / "_versions").glob("*.manifest"))) > 12  # merges among them
    assert held(data_dir) == set(MARKERS)
    assert store.delete_user(USER)
    assert held(data_dir) == set()
    assert left(data_dir) == set()
    for each in (store, other):
        assert len(each.arrays(USER)) == 0
        assert [memory for memory in each.load_images(USER, memories) if any(isinstance(part, ImagePart) for part in memory.parts)] == []  # fmt: skip


def test_what_a_power_cut_tore_and_what_was_never_acknowledged_go_too(
    open_store: OpenStore, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    tell(store, 4)
    (table,) = tables(data_dir)
    min((table / "_versions").glob("*.manifest")).write_bytes(b"")
    reopened = open_store()
    assert len(reopened.arrays(USER)) == 3
    with monkeypatch.context() as broken:
        broken.setattr("mmmem.store.folder_place.sync_table", lambda *_: 1 / 0)
        with pytest.raises(StoreUnavailable):
            reopened.add(request(USER, "request-marker new", content(0)))
    assert list((table / "_versions").glob("*.unreadable"))
    assert reopened.delete_user(USER)
    assert held(data_dir) == set()
    assert left(data_dir) == set()


def test_a_deleted_user_s_requests_are_new_ones(open_store: OpenStore) -> None:
    """The same request_ids, with the same bodies and with others: nothing is remembered that could refuse them."""
    store, other = open_store(), open_store()
    tell(store, 3)
    assert len(other.arrays(USER)) == 3
    other.delete_user(USER)
    store.add(request(USER, "request-marker 1", "another body"))
    other.add(request(USER, "request-marker 0", content(0)))
    for each in (store, other, open_store()):
        assert [memory.text for memory in each.arrays(USER).memories] == ["another body", "text-marker 0"]


def test_a_deletion_that_the_disk_stops_half_way_is_said_and_finished_by_the_next(
    open_store: OpenStore, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    tell(store, 3)

    def stop(*_: Any, **__: Any) -> None:
        raise OSError("secret path")

    with monkeypatch.context() as broken:
        broken.setattr(shutil, "rmtree", stop)
        with pytest.raises(StoreUnavailable) as caught:
            store.delete_user(USER)
    assert "secret" not in str(caught.value)
    assert len(store.arrays(USER)) == 0
    assert store.delete_user(USER)  # there was something
    assert held(data_dir) == set()
    assert not store.delete_user(USER)


def test_deletions_among_adds_of_threads_and_another_process_leave_nothing(
    open_store: OpenStore, data_dir: Path
) -> None:
    """`ada` is told things by two threads and a process, and deleted meanwhile by who has nothing to do with them."""
    store, deleting = open_store(compact_fragments=4), open_store()
    store.add(request("bob", "r", "of bob"))

    def tell_on(name: str) -> int:
        number = 0
        while adder.poll() is None:
            request_id = f"{name} {number}"
            store.add(request("ada", request_id, f"{request_id} first", f"{request_id} second"))
            number += 1
        return number

    with adding(data_dir, "process", 6) as adder, ThreadPoolExecutor(2) as threads:
        telling = [threads.submit(tell_on, name) for name in ("shared", "thread")]
        deleted = 0
        while adder.poll() is None:
            deleted += deleting.delete_user("ada")
            time.sleep(0.05)
        assert all(each.result() for each in telling)
        assert adder.stdout is not None
        assert len(adder.stdout.read().splitlines()) == 13  # every Add was acknowledged
    assert deleted
    kept = pairs([memory.text for memory in open_store().arrays("ada").memories])
    assert len(kept) == len(set(kept))
    store.add(request("ada", "last", "last first", "last second"))
    assert store.delete_user("ada")
    everything = b"".join(path.read_bytes() for path in data_dir.rglob("*") if path.is_file())
    assert not any(marker in everything for marker in (b"shared ", b"thread ", b"process ", b"last "))
    assert tables(data_dir) == [data_dir / f"{table_name('bob')}.lance"]
    assert [memory.text for memory in store.arrays("bob").memories] == ["of bob"]
    store.add(request("ada", "last", "told anew"))
    for each in (store, deleting, open_store()):
        assert [memory.text for memory in each.arrays("ada").memories] == ["told anew"]
