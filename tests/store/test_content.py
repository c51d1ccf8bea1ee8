"""What was stored is read back as it was, in the order it came."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from mmmem.store import UserArrays
from mmmem.store.users import LanceStore
from mmmem.types import ImagePart, Memory, TextPart
from tests.store.content import ANYWHERE, DIMENSIONS, OpenStore, request

JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 20 + b"\xff\xd9"
ODD_TEXTS = (
    "nul \x00 within",
    "lone \ud83d surrogate",
    "pair \ud83d\ude00 of them",
    "😀 中文 ' \" \\ %",
    " \n ",
    "x" * 50_000,
)
ODD_IDS = ("', ); DROP TABLE u; --", "a/../../b", "line\nbreak\x00", "😀 中文", "\udc80", "i" * 10_000)


def contents(arrays: UserArrays) -> list[str]:
    return [memory.text for memory in arrays.memories]


@ANYWHERE
@pytest.mark.parametrize("reopened", [False, True])
def test_everything_of_a_memory_is_read_back(open_store: OpenStore, reopened: bool) -> None:
    parts = (
        TextPart("before"),
        ImagePart("data:image/jpeg;base64", JPEG),
        TextPart("after"),
        ImagePart("data:,", b"\0"),
    )
    stored = request(
        "ada", "r1", *ODD_TEXTS, parts, session_id="s\ud800", role="tool 工具", timestamp=-5, created_at=-5
    )
    store = open_store()
    store.add(stored)
    if reopened:
        store = open_store()

    arrays = store.arrays("ada")
    memories = store.load_images("ada", arrays.memories)

    assert memories == [encoded.memory for encoded in stored.memories]
    for row, encoded in enumerate(stored.memories):
        tokens = slice(arrays.token_offsets[row], arrays.token_offsets[row + 1])
        np.testing.assert_allclose(arrays.dense[row] * arrays.dense_scales[row], encoded.text.dense, atol=0.01)
        np.testing.assert_array_equal(arrays.tokens[tokens], encoded.text.tokens)
        np.testing.assert_array_equal(arrays.token_ids[tokens], encoded.text.token_ids)
        assert arrays.lengths[row] == len(encoded.terms)
        assert all(row in rows for rows, _ in arrays.postings.of(encoded.terms))
        assert arrays.keys[row] == encoded.key
        np.testing.assert_array_equal(arrays.events[arrays.event_owners == row], encoded.events)
    images = [image for encoded in stored.memories for image in encoded.images]
    np.testing.assert_array_equal(arrays.images.vectors, [image.vectors.vector for image in images])
    np.testing.assert_array_equal(arrays.images.appearances, [image.vectors.appearance for image in images])
    np.testing.assert_array_equal(arrays.images.fingerprints, [image.fingerprint for image in images])
    np.testing.assert_array_equal(arrays.images.colours, [image.colours for image in images])
    assert list(arrays.images.texts) == [image.text for image in images]
    assert arrays.images.owners.tolist() == [len(ODD_TEXTS)] * 2
    assert list(arrays.images.labels) == [image.vectors.labels for image in images]


@ANYWHERE
def test_arrays_have_the_types_that_search_relies_on(store: LanceStore) -> None:
    store.add(request("ada", "r1", "one two", "", (ImagePart("data:image/png;base64", b"png"),)))
    arrays = store.arrays("ada")
    shapes = {
        name: (value.dtype.str, value.shape)
        for part in (arrays, arrays.images)
        for name in dir(part)
        if isinstance(value := getattr(part, name), np.ndarray)
    }
    assert shapes == {
        "dense": ("|i1", (3, DIMENSIONS.dense)),
        "dense_scales": ("<f4", (3,)),
        "tokens": ("|i1", (2, DIMENSIONS.token)),
        "token_scales": ("<f4", (2,)),
        "token_ids": ("<i4", (2,)),
        "token_offsets": ("<i8", (4,)),
        "lengths": ("<i8", (3,)),
        "vectors": ("<f4", (1, DIMENSIONS.image)),
        "appearances": ("<f4", (1, DIMENSIONS.appearance)),
        "fingerprints": ("|u1", (1, DIMENSIONS.fingerprint)),
        "colours": ("|u1", (1, DIMENSIONS.colours)),
        "owners": ("<i8", (1,)),
        "sizes": ("<i8", (1,)),
        "sessions": ("<i4", (3,)),
        "previous": ("<i8", (3,)),
        "said_before": ("<i8", (3,)),
        "times": ("<i8", (3,)),
        "timed": ("|b1", (3,)),
        "says": ("|b1", (3,)),
        "asks": ("|b1", (3,)),
        "speakers": ("<i4", (3,)),
        "keys": ("<i8", (3,)),
        "events": ("<i8", (0, 2)),
        "event_owners": ("<i8", (0,)),
    }
    lengths = np.linalg.norm(arrays.tokens.astype(np.float32) * arrays.token_scales[:, None], axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        arrays.dense[0] = 0


@ANYWHERE
def test_a_token_of_zeros_has_the_scale_zero(store: LanceStore) -> None:
    stored = request("ada", "r1", "one two")
    stored.memories[0].text.tokens[0] = 0
    store.add(stored)
    scales = store.arrays("ada").token_scales
    assert scales[0] == 0
    assert scales[1] > 0


@ANYWHERE
def test_image_bytes_stay_on_disk_until_they_are_asked_for(store: LanceStore) -> None:
    store.add(request("ada", "r1", "text", (ImagePart("data:image/jpeg;base64", JPEG),), "more"))
    text, picture, more = store.arrays("ada").memories
    assert picture.parts == (ImagePart("data:image/jpeg;base64", b""),)
    loaded = store.load_images("ada", [more, picture, text, picture])
    assert [memory.id for memory in loaded] == [more.id, picture.id, text.id, picture.id]
    assert loaded[1].parts == (ImagePart("data:image/jpeg;base64", JPEG),)


@ANYWHERE
def test_memories_keep_the_order_of_the_adds_and_their_times(open_store: OpenStore) -> None:
    store = open_store()
    store.add(request("ada", "later", "c", "a", timestamp=2_000, created_at=2_000))
    store.add(request("ada", "earlier", "b", timestamp=1_000, created_at=1_000))
    store.add(request("ada", "without", "d", created_at=3_000))
    for each in (store, open_store()):
        memories = each.arrays("ada").memories
        assert [memory.text for memory in memories] == ["c", "a", "b", "d"]
        assert [memory.timestamp for memory in memories] == [2_000, 2_000, 1_000, None]
        assert [memory.created_at for memory in memories] == [2_000, 2_000, 1_000, 3_000]
        assert [memory.position for memory in memories] == [0, 1, 0, 0]


@ANYWHERE
@pytest.mark.parametrize("odd", ODD_IDS, ids=range(len(ODD_IDS)))
def test_ids_may_hold_anything(open_store: OpenStore, odd: str) -> None:
    store = open_store()
    store.add(request(odd, odd, "kept", session_id=odd))
    for each in (store, open_store()):
        arrays = each.arrays(odd)
        assert [memory.session_id for memory in arrays.memories] == [odd]
        assert arrays.request_hash(odd) is not None
        assert arrays.last_said(odd) is not None


def test_an_unknown_user_has_nothing_and_costs_no_disk_space(store: LanceStore, data_dir: Path) -> None:
    before = sorted(data_dir.rglob("*"))
    arrays = store.arrays("nobody")
    assert len(arrays) == 0
    assert arrays.dense.shape == (0, DIMENSIONS.dense)
    assert arrays.token_offsets.tolist() == [0]
    assert arrays.request_hash("r") is None
    assert arrays.last_said("s") is None
    assert store.load_images("nobody", []) == []
    assert sorted(data_dir.rglob("*")) == before


@ANYWHERE
def test_sessions_are_numbered_in_order_of_appearance(store: LanceStore) -> None:
    for number, session in enumerate(["b", "a", "b"]):
        store.add(request("ada", f"r{number}", f"text {number}", session_id=session))
    arrays = store.arrays("ada")
    assert arrays.sessions.tolist() == [0, 1, 0]
    last = arrays.last_said("b")
    assert last is not None
    assert last.text == "text 2"


@ANYWHERE
def test_pictures_between_two_turns_do_not_part_what_was_said(store: LanceStore) -> None:
    picture = (ImagePart("data:image/png;base64", b"png"),)
    store.add(request("ada", "r1", picture, "where was that?", picture, session_id="s"))
    store.add(request("ada", "r2", "elsewhere", session_id="t"))
    store.add(request("ada", "r3", picture, "at the lake", (TextPart("  "), *picture), session_id="s"))
    arrays = store.arrays("ada")
    assert arrays.previous.tolist() == [-1, 0, 1, -1, 2, 4, 5]
    assert arrays.said_before.tolist() == [-1, -1, 1, -1, 1, 1, 5]
    last = arrays.last_said("s")
    assert last is not None
    assert last.text == "at the lake"


def test_a_snapshot_is_not_changed_by_later_writes(store: LanceStore) -> None:
    store.add(request("ada", "r0", "first words", session_id="s"))
    snapshot = store.arrays("ada")
    vectors, tokens = snapshot.dense.copy(), snapshot.tokens.copy()
    for number in range(1, 30):
        store.add(request("ada", f"r{number}", f"text {number}", session_id="s" if number % 2 else "t"))
    assert len(store.arrays("ada")) == 30
    assert contents(snapshot) == ["first words"]
    np.testing.assert_array_equal(snapshot.dense, vectors)
    np.testing.assert_array_equal(snapshot.tokens, tokens)
    assert snapshot.request_hash("r1") is None
    assert snapshot.last_said("t") is None
    assert snapshot.last_said("s") == snapshot.memories[0]


@ANYWHERE
def test_reading_while_others_write_shows_a_prefix_of_whole_requests(store: LanceStore) -> None:
    done = threading.Event()
    faults: list[str] = []

    def read() -> None:
        while not done.is_set():
            arrays = store.arrays("ada")
            texts = contents(arrays)
            if texts != [f"{n // 3} {n % 3}" for n in range(len(texts))] or len(texts) % 3:
                faults.append(repr(texts))
            if not len(arrays.dense) == len(arrays.sessions) == len(arrays.token_offsets) - 1 == len(texts):
                faults.append("lengths differ")

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(40):
        store.add(request("ada", f"r{number}", *(f"{number} {n}" for n in range(3))))
    done.set()
    reader.join()
    assert faults == []
    assert len(store.arrays("ada")) == 120


@ANYWHERE
def test_memory_use_counts_vectors_and_text(store: LanceStore) -> None:
    store.add(request("ada", "r0", "short"))
    small = store.arrays("ada").nbytes
    store.add(request("ada", "r1", "long " * 20_000))
    assert store.arrays("ada").nbytes >= small + 100_000


@ANYWHERE
def test_vectors_of_another_width_are_refused_before_anything_is_written(store: LanceStore) -> None:
    stored = request("ada", "r0", "text")
    wide = stored.memories[0].text.tokens.reshape(1, -1)[:, :3]
    object.__setattr__(stored.memories[0].text, "tokens", wide)
    with pytest.raises(ValueError, match="token vectors"):
        store.add(stored)
    assert len(store.arrays("ada")) == 0


@ANYWHERE
def test_memories_that_are_gone_are_left_out_when_images_are_loaded(store: LanceStore) -> None:
    store.add(request("ada", "r0", "text", (ImagePart("data:image/jpeg;base64", JPEG),)))
    memories: list[Memory] = list(store.arrays("ada").memories)
    store.delete_user("ada")
    assert store.load_images("ada", memories) == memories[:1]
