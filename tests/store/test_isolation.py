"""No user ever sees another's memories."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from mmmem.store.users import LanceStore
from mmmem.types import ImagePart
from tests.store.content import ANYWHERE, OpenStore, request

LOOK_ALIKES = (
    "a", "A", "a ", " a", "a\n", "a\0", "a\ud800", "a\udc00", "а", "ａ", "a/", "a'", "a%", "*", "", "u_a", "ä",
    unicodedata.normalize("NFD", "ä"), "ß", "ss", "1", "01", "1.0",
)  # fmt: skip


@ANYWHERE
def test_users_with_look_alike_ids_are_kept_apart(open_store: OpenStore) -> None:
    store = open_store()
    for number, user in enumerate(LOOK_ALIKES):
        store.add(request(user, "r", f"text {number}"))
    for each in (store, open_store()):
        kept = [[memory.text for memory in each.arrays(user).memories] for user in LOOK_ALIKES]
        assert kept == [[f"text {number}"] for number in range(len(LOOK_ALIKES))]


@ANYWHERE
def test_images_are_loaded_for_their_own_user_only(store: LanceStore) -> None:
    store.add(request("ada", "r", (ImagePart("data:image/png;base64", b"of ada"),)))
    store.add(request("bob", "r", (ImagePart("data:image/png;base64", b"of bob"),)))
    assert store.load_images("bob", store.arrays("ada").memories) == []


def test_deleting_one_user_leaves_the_others(open_store: OpenStore, data_dir: Path) -> None:
    store, other = open_store(), open_store()
    for user in ("ada", "bob"):
        store.add(request(user, "r", f"secret of {user}"))
        assert len(other.arrays(user)) == 1
    assert store.delete_user("ada") is True
    assert store.delete_user("ada") is False
    for each in (store, other, open_store()):
        assert len(each.arrays("ada")) == 0
        assert [memory.text for memory in each.arrays("bob").memories] == ["secret of bob"]
    everything = b"".join(path.read_bytes() for path in data_dir.rglob("*") if path.is_file())
    assert b"secret of ada" not in everything
    assert b"secret of bob" in everything


@ANYWHERE
def test_a_deleted_user_starts_anew_also_for_those_who_knew_the_old_data(open_store: OpenStore) -> None:
    store, other = open_store(), open_store()
    for number in range(3):
        store.add(request("ada", f"r{number}", f"old {number}"))
    assert len(other.arrays("ada")) == 3
    store.delete_user("ada")
    for number in range(3):  # as many commits as before
        store.add(request("ada", f"r{number}", f"new {number}"))
    for each in (store, other):
        assert [memory.text for memory in each.arrays("ada").memories] == ["new 0", "new 1", "new 2"]


def test_a_deletion_that_died_half_way_is_finished_at_the_next_start(open_store: OpenStore, data_dir: Path) -> None:
    open_store().add(request("ada", "r", "secret of ada"))
    (table,) = data_dir.glob("u_*.lance")
    table.rename(table.with_suffix(".deleted"))
    assert len(open_store().arrays("ada")) == 0
    assert not any(b"secret of ada" in path.read_bytes() for path in data_dir.rglob("*") if path.is_file())
