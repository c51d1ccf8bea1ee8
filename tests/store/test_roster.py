"""Whose memories a store holds."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from mmmem.errors import StoreUnavailable
from mmmem.store import Holding
from mmmem.store.users import LanceStore, table_name
from tests.store.content import ANYWHERE, OpenStore, request

ODD = ["ada", "Ada", "../ada", "\udc80", "\0'\"", "é" * 1_000]


def everyone(store: LanceStore, limit: int = 100) -> list[Holding]:
    found: list[Holding] = []
    after = ""
    while True:
        users, total, following = store.roster(after, limit)
        found += users
        if following is None:
            assert len(found) == total
            return found
        after = following


@ANYWHERE
def test_every_user_is_listed_once_with_what_counts_of_theirs(open_store: OpenStore) -> None:
    store = open_store()
    assert everyone(store) == []
    for number, user in enumerate(ODD):
        store.add(request(user, "a", *(f"memory {n}" for n in range(number + 1))))
        store.add(request(user, "a", *(f"memory {n}" for n in range(number + 1))))  # once more: the same
    expected = {Holding(user, number + 1) for number, user in enumerate(ODD)}
    for each in (store, open_store()):
        assert set(everyone(each)) == set(everyone(each, 1)) == set(everyone(each, 4)) == expected
        assert len(everyone(each, 4)) == len(ODD)


@ANYWHERE
def test_who_is_removed_is_not_listed_and_a_list_under_way_goes_on(store: LanceStore) -> None:
    for user in ODD:
        store.add(request(user, "a", "one", "two"))
    first, _, after = store.roster("", 2)
    gone = first[1].user_id
    assert after == table_name(gone)
    store.delete_user(gone)
    rest, total, _ = store.roster(after, 100)
    assert {each.user_id for each in (first[0], *rest)} == set(ODD) - {gone}
    assert total in {len(ODD) - 1, len(ODD)}  # in a bucket a table that was removed leaves its mark


def test_one_that_cannot_be_read_hides_nobody_else(
    store: LanceStore, open_store: OpenStore, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for user in ("ada", "bob"):
        store.add(request(user, "a", "one"))
    for file in (data_dir / f"{table_name('bob')}.lance" / "data").iterdir():
        content = file.read_bytes()  # its end is whole: no power cut leaves it so, and none is blamed
        file.write_bytes(bytes(byte ^ 255 for byte in content[:-64]) + content[-64:])
    with caplog.at_level(logging.WARNING):
        users, total, _ = open_store().roster("", 10)
    assert users == (Holding("ada", 1),)
    assert total == 2
    assert any("left out" in record.message for record in caplog.records)
    assert "bob" not in caplog.text


def test_a_store_of_which_nothing_can_be_read_is_not_an_empty_one(
    store: LanceStore, open_store: OpenStore, data_dir: Path
) -> None:
    store.add(request("bob", "a", "one"))
    for file in (data_dir / f"{table_name('bob')}.lance" / "data").iterdir():
        content = file.read_bytes()
        file.write_bytes(bytes(byte ^ 255 for byte in content[:-64]) + content[-64:])
    with pytest.raises(StoreUnavailable):
        open_store().roster("", 10)
