"""Many small Adds do not make a store slow or large, and compaction changes nothing that can be seen."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import lancedb
import pytest

from mmmem.store.lance import Version
from mmmem.store.users import LanceStore, table_name
from mmmem.types import ImagePart, Part, TextPart
from tests.store.content import ANYWHERE, OpenStore, request

GRACE = 0.2  # seconds, longer than old versions stay that outgrow the table


def parts(number: int) -> tuple[Part, ...]:
    if number % 5:
        return (TextPart(f"text {number}"),)
    return (TextPart(f"text {number}"), ImagePart("data:image/png;base64", f"image {number}".encode()))


def files(data_dir: Path) -> int:
    return sum(path.is_file() for path in (data_dir / f"{table_name('ada')}.lance").rglob("*"))


def test_compaction_keeps_content_and_order_and_bounds_the_number_of_files(
    open_store: OpenStore, data_dir: Path
) -> None:
    store = open_store(compact_fragments=5, version_minutes=0.0001)
    reader = open_store()
    most = 0
    for number in range(60):
        store.add(request("ada", f"r{number}", parts(number)))
        most = max(most, files(data_dir))
        if number % 7 == 0:
            assert len(reader.arrays("ada")) == number + 1
    assert most < 60  # without compaction 60 adds leave more than 180
    for each in (store, reader, open_store()):
        memories = each.load_images("ada", each.arrays("ada").memories)
        assert [memory.parts for memory in memories] == [parts(number) for number in range(60)]


def test_old_versions_stay_for_those_who_still_read_them(open_store: OpenStore, data_dir: Path) -> None:
    store = open_store(compact_fragments=2)
    store.add(request("ada", "r0", "text 0"))
    version = store._location.open(table_name("ada"))
    assert version is not None
    for number in range(1, 10):
        store.add(request("ada", f"r{number}", f"text {number}"))
    assert version.read(["seq"])["seq"].to_pylist() == [0]


def test_adds_that_come_faster_than_versions_grow_old_leave_no_more_than_three_times_the_data(
    open_store: OpenStore, data_dir: Path
) -> None:
    store = open_store(compact_fragments=5)
    name = table_name("ada")
    random, image_bytes = Random(0), 150_000

    def add(number: int) -> int:
        image = ImagePart("data:image/png;base64", random.randbytes(image_bytes))
        store.add(request("ada", f"r{number}", (TextPart(f"text {number}"), image)))
        version = store._location.open(name)
        assert version is not None
        return version.fragments

    for number in range(50):
        fragments = add(number)
    time.sleep(GRACE)
    adds = 51
    while (now := add(adds - 1)) > fragments:  # until they are merged again
        fragments, adds = now, adds + 1
    store.close()
    size = sum(path.stat().st_size for path in (data_dir / f"{name}.lance").rglob("*") if path.is_file())
    assert size < 3 * adds * image_bytes
    assert [memory.text for memory in open_store().arrays("ada").memories] == [f"text {n}" for n in range(adds)]


def test_a_reader_whose_version_another_process_removes_reads_the_newest(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, reader = open_store(), open_store()
    for number in range(12):
        store.add(request("ada", f"r{number}", parts(number)))
    reads = {"read": Version.read, "images": Version.images}
    removed = []

    def removing(what: str) -> Callable[..., Any]:
        def first_remove(version: Version, *arguments: Any, **options: Any) -> Any:
            if what not in removed:
                removed.append(what)
                store.add(request("ada", what, parts(len(removed))))
                newest = store._location.open(table_name("ada"))
                assert newest is not None
                newest.compact(timedelta(0))
            return reads[what](version, *arguments, **options)

        return first_remove

    for what in reads:
        monkeypatch.setattr(Version, what, removing(what))
    memories = reader.arrays("ada").memories
    assert removed == ["read"]
    assert len(memories) == 13
    assert [memory.parts for memory in reader.load_images("ada", memories)][:12] == [parts(n) for n in range(12)]
    assert removed == ["read", "images"]


def test_a_large_table_is_not_written_again_for_every_few_commits(open_store: OpenStore) -> None:
    store = open_store(compact_fragments=2)
    image = b"".join(number.to_bytes(4, "little") for number in range(2**18))  # 1 MiB
    for number in range(6):
        store.add(request("ada", f"r{number}", (ImagePart("data:image/png;base64", image),)))
    version = store._location.open(table_name("ada"))
    assert version is not None
    assert version.number == 6  # appends only: a compaction is a commit too


@ANYWHERE
def test_an_add_succeeds_when_compaction_fails(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Version, "compact", fail)
    store = open_store(compact_fragments=2)
    with caplog.at_level(logging.WARNING):
        for number in range(6):
            store.add(request("ada", f"r{number}", f"text {number}"))
        store.close()
    assert "could not be compacted: RuntimeError" in caplog.text
    assert "secret" not in caplog.text
    assert len(open_store().arrays("ada")) == 6


@pytest.mark.parametrize("removed", [[0], [3], [5], [0, 1, 2], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("added", [0, 1, 3])
def test_rows_removed_in_place_are_gone_for_those_who_held_them(
    open_store: OpenStore, data_dir: Path, removed: list[int], added: int
) -> None:
    store = open_store()
    for number in range(6):
        store.add(request("ada", f"r{number}", parts(5 * number)))
    assert len(store.arrays("ada")) == 6
    for seq in removed:
        lancedb.connect(data_dir).open_table(table_name("ada")).delete(f"seq = {seq}")
    other: LanceStore = open_store()
    for number in range(6, 6 + added):
        other.add(request("ada", f"r{number}", parts(5 * number)))
    left = [parts(5 * number) for number in range(6 + added) if number not in removed]
    for each in (store, other):
        memories = each.load_images("ada", each.arrays("ada").memories)
        assert [memory.parts for memory in memories] == left
