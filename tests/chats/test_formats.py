"""Exports of chats are read into what was said and shown, by whom and when."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from mmmem.chats.conversations import Conversation, Picture, Turn
from mmmem.chats.export import opened
from mmmem.chats.formats import Format
from mmmem.chats.recognition import conversations
from tests.chats.exports import ANDROID, CLAUDE, IOS, NOON, TELEGRAM, chatgpt, node, shown, written, zipped


def read(path: Path, wanted: Format = Format.auto) -> tuple[Format, list[Conversation]]:
    return conversations(opened(path), wanted)


def local(*moment: int) -> int:
    return round(datetime(*moment).timestamp() * 1000)  # type: ignore[arg-type]


def test_chatgpt_is_what_is_shown_of_the_tree(tmp_path: Path) -> None:
    nodes = (
        {"id": "root", "parent": None, "message": None},
        node("system", "root", "system"),
        node("question", "system"),
        node("an answer that was asked for again", "question", "assistant"),
        node("answer", "question", "assistant"),
        node("search('cats')", "answer", "assistant", recipient="browser"),
        node("hidden", "search('cats')", metadata={"is_visually_hidden_from_conversation": True}),
        node("thanks", "hidden", create_time=None),
    )
    kind, (conversation,) = read(written(tmp_path / "conversations.json", [chatgpt(*nodes, current="thanks")]))
    assert (kind, conversation.id) == (Format.chatgpt, "c1")
    assert conversation.turns == (
        Turn("m-question", "user", ("question",), NOON * 1000 + 500),
        Turn("m-answer", "assistant", ("answer",), NOON * 1000 + 500),
        Turn("m-thanks", "user", ("thanks",), None),
    )


def test_chatgpt_finds_its_pictures_in_the_archive(tmp_path: Path) -> None:
    nodes = (
        node("a", None, content=shown("file-service://file-AB1")),
        node("b", "a", "tool", content=shown("sediment://file_00cd#x")),
        node("c", "b", content=shown("file-service://file-AB")),
    )
    files = {
        "conversations.json": json.dumps([chatgpt(*nodes, current="c")]),
        "file-AB1-my cat.png": b"1",
        "user-1/file_00cd-sanitized.png": b"2",
    }
    export = opened(zipped(tmp_path / "x.zip", files))
    _, (conversation,) = conversations(export, Format.auto)
    first, second, third = (turn.parts for turn in conversation.turns)
    assert first == (Picture("file-AB1-my cat.png"), "Here she is")
    assert second == (Picture("user-1/file_00cd-sanitized.png"),)  # what a tool writes is not for the person
    assert third == (Picture(None), "Here she is")
    assert export.picture("user-1/file_00cd-sanitized.png") == b"2"


def test_a_tree_that_bites_its_tail_ends(tmp_path: Path) -> None:
    nodes = (node("a", "b"), node("b", "a"))
    _, (conversation,) = read(written(tmp_path / "conversations.json", [chatgpt(*nodes, current="a")]))
    assert {turn.id for turn in conversation.turns} == {"m-a", "m-b"}


def test_claude(tmp_path: Path) -> None:
    kind, (conversation,) = read(written(tmp_path / "conversations.json", CLAUDE))
    assert kind is Format.claude
    assert conversation == Conversation(
        "c1",
        (
            Turn(
                *("m1", "user", ("I adopted a cat", "notes.txt:\nHer name is Miso", Picture(None)), NOON * 1000),
            ),
            Turn("m2", "assistant", ("How nice",), None),
        ),
    )


def test_telegram_of_one_chat_and_of_all(tmp_path: Path) -> None:
    expected = Conversation(
        "77",
        (
            Turn("2", "user", ("Bob: Look at this", Picture("photos/red.png")), NOON * 1000),
            Turn("3", "user", ("Somebody: I am gone",), NOON * 1000),
            Turn("4", "user", ("Ann:", Picture("(File not included.)")), None),
        ),
    )
    assert read(written(tmp_path / "one" / "result.json", TELEGRAM)) == (Format.telegram, [expected])
    every = {"chats": {"list": [TELEGRAM, {**TELEGRAM, "id": 78, "messages": []}]}}
    assert read(written(tmp_path / "result.json", every)) == (Format.telegram, [expected, Conversation("78", ())])


def test_whatsapp_of_ios(tmp_path: Path) -> None:
    path = zipped(tmp_path / "WhatsApp Chat - Cats.zip", {"_chat.txt": IOS, "0001-PHOTO.png": b"1"})
    kind, (conversation,) = read(path)
    first, second, *yes, omitted = conversation.turns
    assert (kind, conversation.id) == (Format.whatsapp, "Cats")
    assert first.parts == ("Ann: I adopted a cat\nShe is called Miso: a\n\ngood name",)
    assert first.time == local(2024, 1, 3, 9, 0, 5)
    assert second.parts == ("Bob: Here she is", Picture("0001-PHOTO.png"))
    assert second.time == local(2024, 1, 13, 21, 7)
    assert [turn.parts for turn in yes] == [("Bob: yes",)] * 2
    assert len({turn.id for turn in conversation.turns}) == 5
    assert omitted.parts == ("Bob:", Picture(None))


def test_whatsapp_of_android(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Bob.txt"
    path.write_text(ANDROID, encoding="utf-8")
    _, (conversation,) = read(path)
    assert conversation.id == "Bob"
    assert [turn.parts for turn in conversation.turns] == [
        ("Ann: I adopted a cat",),
        ("Bob: Here she is", Picture("IMG-1.png")),
        ("Bob: (deed.pdf)",),
        ("Bob:", Picture(None)),
    ]
    assert [turn.time for turn in conversation.turns][:2] == [local(2024, 1, 3, 9), local(2024, 1, 13, 21, 7)]


@pytest.mark.parametrize(
    ("dates", "first"),
    [
        (["13/01/24", "14/01/24"], (2024, 1, 13)),
        (["1/13/24", "1/14/24"], (2024, 1, 13)),
        (["1/2/24", "3/2/24", "1/3/24"], (2024, 2, 1)),  # in order as day and month
        (["1/2/24", "1/3/24", "2/1/24"], (2024, 1, 2)),  # in order as month and day
        (["01.02.2024", "01.02.2024"], (2024, 2, 1)),  # as most of the world writes
        (["2024-02-01", "2024-02-02"], (2024, 2, 1)),
    ],
)
def test_the_order_of_day_and_month_is_found_from_the_whole(
    dates: list[str], first: tuple[int, int, int], tmp_path: Path
) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("".join(f"{date}, 09:00 - Ann: hello {n}\n" for n, date in enumerate(dates)), encoding="utf-8")
    _, (conversation,) = read(path)
    assert conversation.turns[0].time == local(*first, 9)
