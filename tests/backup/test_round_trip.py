"""What was stored comes back from a backup as it was: every byte, every id, the order, and what is known of requests."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import lancedb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmmem.errors import InvalidBackup, RequestConflict
from mmmem.store import StoredRequest
from mmmem.store.users import LanceStore
from mmmem.types import FIRST_MOMENT, LAST_MOMENT, ImagePart, TextPart
from tests.backup.conftest import NO_MODELS, NO_WIDTHS, exported, imported, opened, picture
from tests.store.content import ANYWHERE, OpenStore, outcome, request, texts

PICTURE = picture((200, 20, 20))

# Any code points, also halves of surrogate pairs next to each other, which are not the character they would be together.
ODD = st.characters(codec=None) | st.sampled_from('\ud83d\ude00\x00\n\r\u2028\x85"\\,')
ANY = st.text(ODD, max_size=12)
NAMES = st.text(ODD, min_size=1, max_size=12)
HEADERS = st.text(st.characters(codec="ascii", exclude_characters=","), max_size=12).map("data:{};BASE64;".format)
PARTS = st.lists(
    st.builds(TextPart, ANY) | st.builds(ImagePart, HEADERS, st.binary(min_size=1, max_size=40)), min_size=1, max_size=4
).map(lambda parts: (*parts, TextPart(".")))
TIMES = st.integers(FIRST_MOMENT, LAST_MOMENT)
REQUESTS = st.lists(
    st.builds(
        lambda user, number, contents, session, role, time, created: request(
            user, number, *contents, session_id=session, role=role, timestamp=time, created_at=created
        ),
        st.sampled_from(["ada", "\ud83d\ude00", "\U0001f600", "ada\x00"]),
        NAMES,
        st.lists(PARTS, min_size=1, max_size=3),
        NAMES,
        NAMES,
        st.none() | TIMES,
        TIMES,
    ),
    max_size=6,
)


def all_of(store: LanceStore, user: str) -> list[object]:
    return store.load_images(user, store.arrays(user).memories)


@settings(max_examples=10)
@given(REQUESTS)
def test_any_content_comes_back_as_it_was(requests: list[StoredRequest]) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(f"{folder}/a") as store, opened(f"{folder}/b") as other:
        for each in requests:
            outcome(store, each)
        data = exported(store)
        assert b"left_out" not in data
        counts = imported(other, data)
        assert counts.requests == data.count(b"\n") - 2
        assert exported(other) == data
        for user in {each.user_id for each in requests}:
            assert all_of(other, user) == all_of(store, user)
        for each in requests:
            assert outcome(other, each) is outcome(store, each)
        assert exported(other) == data


@ANYWHERE
def test_in_a_folder_and_in_a_bucket_what_is_imported_is_what_was_exported(
    open_store: OpenStore, tmp_path: Path
) -> None:
    store = open_store(compact_fragments=3)
    for number in range(8):
        store.add(
            request("ada", f"r{number}", f"one {number}", (TextPart("two"), PICTURE), session_id=f"s{number % 2}")
        )
        store.add(request("bob", f"r{number}", f"of bob {number}"))
    store.delete_memory("ada", store.arrays("ada").memories[4].id)
    data = exported(store)
    with opened(str(tmp_path / "folder")) as other:
        assert imported(other, data).requests == 16
        assert exported(other) == data
        assert texts(other) == texts(store)
        back = exported(other)
    for user in ("ada", "bob"):
        store.delete_user(user)
    assert store.names() == [] or exported(store).count(b"\n") == 2
    imported(store, back)
    assert exported(store) == data


def test_a_backup_is_imported_once_however_often(open_store: OpenStore, tmp_path: Path) -> None:
    store = open_store()
    for number in range(5):
        store.add(request("ada", f"r{number}", f"text {number}"))
    data = exported(store)
    with opened(str(tmp_path / "other")) as other:
        assert [imported(other, data).known for _ in range(3)] == [0, 5, 5]
        assert texts(other) == texts(store)
        assert outcome(other, request("ada", "r3", "text 3")) is None
        assert outcome(other, request("ada", "r3", "another")) is RequestConflict
        assert texts(other) == texts(store)
        # What came since is left where it is, and what is there in part too.
        other.add(request("ada", "new", "later"))
        other.delete_memory("ada", other.arrays("ada").memories[0].id)
        imported(other, data)
        assert texts(other) == ["text 1", "text 2", "text 3", "text 4", "later", "text 0"]


def test_only_the_users_that_are_named_go_out_and_come_in(open_store: OpenStore, tmp_path: Path) -> None:
    store = open_store()
    for user in ("ada", "bob", "eve"):
        store.add(request(user, "r", f"of {user}"))
    assert b"bob" not in exported(store, "ada", "eve")
    with opened(str(tmp_path / "other")) as other:
        imported(other, exported(store), users={"bob", "eve"})
        assert [texts(other, user) for user in ("ada", "bob", "eve")] == [[], ["of bob"], ["of eve"]]


def test_a_request_that_is_there_with_another_body_stops_the_import_by_line_and_nothing_of_it_is_kept(
    open_store: OpenStore, tmp_path: Path
) -> None:
    store = open_store()
    for number in range(4):
        store.add(request("ada", f"r{number}", f"text {number}"))
    with opened(str(tmp_path / "other")) as other:
        other.add(request("ada", "r2", "another body"))
        with pytest.raises(InvalidBackup, match=r"line 4: request_id: was already used with another body"):
            imported(other, exported(store))
        assert texts(other) == ["another body", "text 0", "text 1"]


def test_of_an_add_with_very_many_vectors_texts_and_pictures_are_kept_and_encoded_anew(
    open_store: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its line would be longer than any that is read."""
    monkeypatch.setattr("mmmem.backup.contents.MOST_VECTORS", 40)
    store = open_store()
    store.add(request("ada", "long", "one two three four five six", (PICTURE,)))
    store.add(request("ada", "short", "one"))
    lines = exported(store).splitlines()
    assert [b'"vectors"' in line for line in lines] == [False, False, True, False]
    with opened(str(tmp_path / "other"), NO_MODELS, NO_WIDTHS) as other:
        assert imported(other, exported(store)).memories == 3
        assert all_of(other, "ada") == all_of(store, "ada")


def test_an_id_that_the_store_has_of_another_request_stops_the_import_and_nothing_of_the_request_is_kept(
    open_store: OpenStore, tmp_path: Path
) -> None:
    store = open_store()
    for number in range(3):
        store.add(request("ada", f"r{number}", f"text {number}"))
    with opened(str(tmp_path / "other")) as other:
        made, taken = request("ada", "another", "one", "two"), store.arrays("ada").memories[1].id
        one, two = made.memories
        other.add(replace(made, memories=(one, replace(two, memory=replace(two.memory, id=taken)))))
        with pytest.raises(InvalidBackup, match=r"line 3: memories: one has the id of a memory that the store has"):
            imported(other, exported(store))
        assert texts(other) == ["one", "two", "text 0"]


def test_what_others_merge_and_remove_meanwhile_is_still_exported_once(open_store: OpenStore, data_dir: Path) -> None:
    store, other = open_store(), open_store(compact_fragments=2)
    big = ImagePart("data:image/png;base64", bytes(9 * 1024 * 1024))
    for number in range(6):  # two are read at a time
        store.add(request("ada", f"r{number}", (TextPart(f"text {number}"), big)))
    reading = store.requests(store.name("ada"))
    seen = [next(reading).request_id]
    other.delete_memory("ada", other.arrays("ada").memories[0].id)  # writes the table anew, and removes what was before
    other.add(request("ada", "r6", "text 6"))
    seen += [each.request_id for each in reading]
    assert seen == [f"r{number}" for number in range(7)]
    assert lancedb.connect(data_dir).open_table(store.name("ada")).count_rows() == 6


@ANYWHERE
def test_backups_go_out_and_in_while_a_service_uses_the_store(open_store: OpenStore, tmp_path: Path) -> None:
    service, exporting, importing = open_store(compact_fragments=3), open_store(), open_store(compact_fragments=3)
    for number in range(10):
        service.add(request("ada", f"old {number}", f"old {number} a", f"old {number} b"))
    backup = exported(exporting)
    service.delete_user("ada")
    with ThreadPoolExecutor(1) as pool:
        adding = [pool.submit(service.add, request("ada", f"new {n}", f"new {n} a", f"new {n} b")) for n in range(15)]
        imported(importing, backup)
        adding[0].result()
        meanwhile = exported(exporting)
        assert [each.result() for each in adding] == [None] * 15
    expected = {
        f"{kind} {n} {part}" for kind, count in (("old", 10), ("new", 15)) for n in range(count) for part in "ab"
    }
    for each in (service, importing, open_store()):
        assert len(texts(each)) == len(expected)
        assert set(texts(each)) == expected
    with opened(str(tmp_path / "other")) as other:
        imported(other, meanwhile)
        kept = texts(other)
    assert len(kept) == len(set(kept)) >= 22
    assert [text + "b" for text in sorted(each[:-1] for each in kept[::2])] == sorted(kept[1::2])  # each Add whole
