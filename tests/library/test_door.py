"""The engine in this process and a client of a service: one suite against both."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from mmmem import AsyncClient, AsyncMemory, Client, Memory
from mmmem.errors import (
    InvalidImage,
    InvalidInput,
    MmmemError,
    NotFound,
    RequestConflict,
    TooLarge,
    Unavailable,
)
from mmmem.library.door import Door
from tests.contract.pictures import data_url, draw, image_part, text_part, url_of
from tests.contract.test_stored import IDS
from tests.running import RunningService

FIRST = 1_704_067_200_000


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(tmp_path_factory.mktemp("library") / "data", ocr="off") as opened:
        yield opened


@pytest.fixture(scope="module", params=["Memory", "Client"])
def door(request: pytest.FixtureRequest) -> Iterator[Door]:
    if request.param == "Memory":
        yield request.getfixturevalue("memory")
    else:
        with Client(request.getfixturevalue("service").url) as client:
            yield client


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def test_what_is_told_is_found(door: Door) -> None:
    added = door.add("I adopted a cat called Miso.", user_id="door found", session_id="s1", timestamp=FIRST)
    assert (added.user_id, added.session_id) == ("door found", "s1")
    door.add("The train leaves at nine.", user_id="door found", role="assistant")
    best, other = door.search("What is my cat called?", user_id="door found")
    assert best.text.startswith("[2024-01-01 00:00] user: I adopted a cat called Miso.")
    assert best.created_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert best.score > other.score
    assert best.images == []
    assert len(door.search("cat", user_id="door found", top_k=1)) == 1
    assert door.search("cat", user_id="door nobody") == []


def test_what_is_stored_is_read_a_page_at_a_time(door: Door) -> None:
    for day in range(3):
        door.add(f"day {day}", user_id="door turned", timestamp=FIRST + day * 86_400_000)
    first = door.page(user_id="door turned", limit=2, newest_first=True)
    assert ([each.text for each in first.memories], first.total) == (["day 2", "day 1"], 3)
    rest = door.page(user_id="door turned", limit=2, newest_first=True, after=first.next)
    assert ([each.text for each in rest.memories], rest.next) == (["day 0"], None)
    with pytest.raises(InvalidInput):
        door.page(user_id="door turned", after="nowhere")


def test_messages_of_several_kinds_are_told_at_once(door: Door) -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    door.add(
        [
            {"role": "user", "content": "hello", "timestamp": moment},
            {"role": "assistant", "content": ["look:", draw("red")]},
            {"role": "user", "content": [text_part("and this"), image_part(data_url(draw("blue")))]},
        ],
        user_id="door messages",
    )
    first, second, third = door.get_all(user_id="door messages")
    assert (first.role, first.text, first.timestamp, first.image_count) == ("user", "hello", FIRST, 0)
    assert (second.role, second.parts[0], second.timestamp) == ("assistant", "look:", None)
    assert [each.position for each in (first, second, third)] == [0, 1, 2]
    assert png(third.images[0]) == png(draw("blue"))


@pytest.mark.parametrize("form", ["image", "bytes", "path", "data URL", "part", "list"])
def test_an_image_is_told_and_asked_in_any_form(door: Door, tmp_path: Path, form: str) -> None:
    picture = draw("green", "rectangle")
    (tmp_path / "picture.png").write_bytes(png(picture))
    given: dict[str, Any] = {
        "image": picture,
        "bytes": png(picture),
        "path": tmp_path / "picture.png",
        "data URL": data_url(picture),
        "part": image_part(data_url(picture)),
        "list": [picture],
    }
    user = f"door images {form}"
    door.add(given[form], user_id=user)
    door.add("something else", user_id=user)
    [file] = door.search(given[form], user_id=user)[0].image_files
    assert (file.data, file.media_type) == (png(picture), "image/png")
    assert file.open().size == picture.size


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGBA", "CMYK", "F", "I;16", "LAB", "YCbCr"])
def test_a_picture_of_any_mode_is_kept_without_loss(door: Door, mode: str) -> None:
    picture = Image.new(mode, (20, 10)) if mode in {"F", "I;16", "LAB"} else draw().convert(mode)
    door.add(picture, user_id=f"door mode {mode}")
    [stored] = door.get_all(user_id=f"door mode {mode}")
    [returned] = stored.images
    assert returned.size == picture.size
    if mode not in {"P", "YCbCr", "LAB"}:
        assert returned.convert(mode).tobytes() == picture.tobytes()


def test_a_text_that_only_speaks_of_data_is_text(door: Door) -> None:
    door.add("data: the plural of datum; base64, whatever that is", user_id="door data")
    assert door.get_all(user_id="door data")[0].text.startswith("data: the plural")


def test_options_are_asked_with_a_question(door: Door) -> None:
    for text in ("We painted the kitchen yellow.", "The hall is still grey."):
        door.add(text, user_id="door options")
    found = door.search("Which is true?", user_id="door options", options=["a yellow kitchen", "a blue kitchen"])
    assert "yellow" in found[0].text
    explained = door.explain("kitchen", user_id="door options", top_k=1)
    assert explained["data"][0]["channels"]


def test_all_memories_are_read_page_by_page(door: Door) -> None:
    messages = [{"role": "user", "content": f"number {n}", "timestamp": FIRST + n} for n in range(230)]
    door.add(messages, user_id="door pages", session_id="a")
    door.add("another session", user_id="door pages", session_id="b", timestamp=FIRST)
    texts = [each.text for each in door.memories(user_id="door pages", session_id="a")]
    assert texts == [f"number {n}" for n in range(230)]
    newest = door.get_all(user_id="door pages", newest_first=True, images=False)
    assert len(newest) == 231
    assert newest[0].text == "number 229"


def test_a_memory_is_read_and_removed_by_its_id(door: Door) -> None:
    door.add(["a picture", draw()], user_id="door removed")
    door.add("another", user_id="door removed")
    listed = door.get_all(user_id="door removed", images=False)[0]
    assert (listed.images, listed.image_count) == ([], 1)
    assert len(door.get(listed.id, user_id="door removed").images) == 1
    used = door.usage("door removed")
    assert (used.user_id, used.memories, used.images) == ("door removed", 2, 1)
    assert used.first is not None
    assert [door.delete(listed.id, user_id="door removed") for _ in range(2)] == [True, False]
    with pytest.raises(NotFound):
        door.get(listed.id, user_id="door removed")
    assert [door.delete_all(user_id="door removed") for _ in range(2)] == [True, False]
    assert door.get_all(user_id="door removed") == []
    assert door.usage("door removed").first is None
    assert door.delete_user("door removed") is False


@pytest.mark.parametrize("user", IDS, ids=range(len(IDS)))
def test_any_id_is_that_user_alone(door: Door, user: str) -> None:
    mine, near = f"door {user}", f"door {user} "
    for each in (mine, near):
        door.add(f"of {len(each)}", user_id=each, session_id=user, request_id=user)
    [stored] = door.get_all(user_id=mine, session_id=user)
    assert stored.session_id == user
    assert door.get(stored.id, user_id=mine) == stored
    with pytest.raises(NotFound):
        door.get(stored.id, user_id=near)
    assert door.usage(mine).user_id == mine
    assert door.delete_all(user_id=mine) is True
    assert len(door.search("of", user_id=near)) == 1
    door.delete_all(user_id=near)


def test_a_request_is_kept_once(door: Door) -> None:
    for _ in range(2):
        door.add("once", user_id="door once", request_id="r")
    assert len(door.get_all(user_id="door once")) == 1
    with pytest.raises(RequestConflict) as raised:
        door.add("another", user_id="door once", request_id="r")
    assert raised.value.field == "request_id"
    for _ in range(2):
        door.add("every call is its own", user_id="door twice")
    assert len(door.get_all(user_id="door twice")) == 2


WRONG: list[tuple[Any, type[MmmemError], str]] = [
    (lambda door: door.add("", user_id="u"), InvalidInput, "messages.0.content"),
    (lambda door: door.add([], user_id="u"), InvalidInput, "messages.0.content"),
    (lambda door: door.add("x", user_id=""), InvalidInput, "user_id"),
    (lambda door: door.add("x", user_id=5), InvalidInput, "user_id"),
    (lambda door: door.add(5, user_id="u"), InvalidInput, "messages.0.content.0"),
    (lambda door: door.add([{"role": "user"}], user_id="u"), InvalidInput, "messages.0"),
    (lambda door: door.add([{"role": "user", "content": None}], user_id="u"), InvalidInput, "messages.0.content.0"),
    (lambda door: door.add([{"role": 1, "content": "x"}], user_id="u"), InvalidInput, "messages.0.role"),
    (lambda door: door.add([{"role": "user", "content": "x"}, "y"], user_id="u"), InvalidInput, "messages.1"),
    (lambda door: door.add("x", user_id="u", timestamp="now"), InvalidInput, "messages.0.timestamp"),
    (lambda door: door.add(b"no image", user_id="u"), InvalidImage, "messages.0.content.0.image_url.url"),
    (lambda door: door.add(Path("nowhere.png"), user_id="u"), InvalidImage, "messages.0.content.0"),
    (lambda door: door.add(url_of(b"x" * 11_000_000), user_id="u"), TooLarge, "messages.0.content.0.image_url.url"),
    (lambda door: door.search("x", user_id="u", top_k=0), InvalidInput, "top_k"),
    (lambda door: door.search("x", user_id="u", options=[1]), InvalidInput, "options.0"),
    (lambda door: door.search("", user_id="u"), InvalidInput, "query"),
    (lambda door: door.get("", user_id="u"), InvalidInput, "id"),
    (lambda door: door.get_all(user_id=""), InvalidInput, "user_id"),
    (lambda door: door.get_all(user_id="u", session_id=""), InvalidInput, "session_id"),
    (lambda door: door.delete_all(user_id=""), InvalidInput, "user_id"),
    (lambda door: door.usage("x" * 16_385), InvalidInput, "user_id"),
]


@pytest.mark.parametrize(("call", "kind", "field"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named(door: Door, call: Any, kind: type[MmmemError], field: str) -> None:
    with pytest.raises(kind) as raised:
        call(door)
    assert type(raised.value) is kind
    assert raised.value.field == field  # type: ignore[attr-defined]
    assert str(raised.value).startswith(f"{field}: ")
    assert door.usage("u").memories == 0


def test_both_find_the_same_with_the_same_scores(memory: Memory, service: RunningService) -> None:
    texts = ["My cat is called Miso.", "The train leaves at nine.", "Ann plays the piano on Fridays."]
    answers = []
    with Client(service.url) as client:
        for door in (memory, client):
            for place, text in enumerate(texts):
                door.add(text, user_id="both", request_id=f"r{place}", timestamp=FIRST + place)
            answers.append(door.search("Who plays an instrument?", user_id="both"))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("kind", ["AsyncMemory", "AsyncClient"])
def test_the_same_awaited(kind: str, service: RunningService, tmp_path: Path) -> None:
    async def converse() -> None:
        words = {f"weight_{name}": 0 for name in ("maxsim", "dense", "image", "labels")}
        opened = (
            await AsyncMemory.open(tmp_path / "d", **words, reranker="none", ocr="off")
            if kind == "AsyncMemory"
            else None
        )
        async with opened or AsyncClient(service.url) as door:
            await asyncio.gather(*(door.add(f"note {n}", user_id="awaited", timestamp=FIRST + n) for n in range(20)))
            assert [each.text async for each in door.memories(user_id="awaited")] == [f"note {n}" for n in range(20)]
            found = await door.search("note 7", user_id="awaited", top_k=1)
            assert found[0].text.startswith("[2024-01-01 00:00] user: note 7")
            assert (await door.explain("note", user_id="awaited"))["data"]
            listed = await door.get_all(user_id="awaited")
            assert await door.get(listed[0].id, user_id="awaited") == listed[0]
            assert await door.delete(listed[0].id, user_id="awaited")
            assert (await door.usage("awaited")).memories == 19
            assert await door.delete_all(user_id="awaited")
            assert not await door.delete_user("awaited")
        with pytest.raises(Unavailable):
            await door.usage("awaited")

    asyncio.run(converse())


def test_nothing_can_be_asked_of_a_closed_one(service: RunningService, tmp_path: Path) -> None:
    words = {f"weight_{name}": 0 for name in ("maxsim", "dense", "image", "labels")}
    for door in (Client(service.url), Memory(tmp_path / "data", **words, reranker="none", ocr="off")):
        door.close()
        door.close()
        with pytest.raises(Unavailable, match="it is closed"):
            door.search("x", user_id="u")


def test_base64_of_a_picture_goes_as_it_came(door: Door) -> None:
    """Without padding, as some write it: what comes back is the same file."""
    data = png(draw("yellow"))
    url = "data:image/png;base64," + base64.b64encode(data).decode().rstrip("=")
    door.add(url, user_id="door padding")
    assert door.get_all(user_id="door padding")[0].image_files[0].data == data
