"""Whatever an export holds, nothing outside it is read, nothing without a bound, and what is wrong is said without its content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmmem.chats import chatgpt, claude, export, telegram
from mmmem.chats.export import opened
from mmmem.chats.formats import Format
from mmmem.chats.recognition import conversations
from mmmem.errors import InvalidInput
from tests.chats.exports import CLAUDE, TELEGRAM, written, zipped


def wrong(path: Path, wanted: Format = Format.auto) -> str:
    with pytest.raises(InvalidInput) as raised:
        conversations(opened(path), wanted)
    return str(raised.value)


@pytest.mark.parametrize(
    "name", ["../secret.png", "/etc/hostname", "link.png", "folder", "no\0name", "x" * 5000, "\ud800"]
)
def test_no_picture_comes_from_outside_the_export(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    folder = tmp_path / "export"
    (folder / "folder").mkdir(parents=True)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "mine.png").write_bytes(b"mine")
    assert opened(folder).picture("folder/../mine.png") == b"mine"
    assert opened(folder).picture(name) is None
    archive = zipped(tmp_path / "x.zip", {"result.json": "{}", "../secret.png": b"in the archive"})
    assert opened(archive).picture(name) in {None, b"in the archive"}


def test_no_more_is_unpacked_than_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MOST_PICTURE", 1000)
    monkeypatch.setattr(export, "MOST_JSON", 1000)
    monkeypatch.setattr(export, "MOST_FILES", 2)
    bomb = {"result.json": b" " * 10_000_000, "a.png": b"\0" * 10_000_000}
    archive = opened(zipped(tmp_path / "x.zip", bomb))
    assert archive.picture("a.png") is None
    assert wrong(tmp_path / "x.zip") == "result.json: cannot be read, or is larger than 1,000 bytes"
    assert wrong(zipped(tmp_path / "y.zip", {**bomb, "b.png": b""})) == "y: holds more than 2 files"


def test_what_is_no_export_is_said_without_its_content(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 a secret")
    assert wrong(tmp_path / "bad.zip") == "bad.zip: is no zip archive, or damaged"
    (tmp_path / "bad.json").write_text('{"a secret": ')
    assert wrong(tmp_path / "bad.json") == "bad.json: is no JSON, or damaged"
    (tmp_path / "deep.json").write_text("[" * 1_000_000)
    assert wrong(tmp_path / "deep.json") == "deep.json: is no JSON, or damaged"
    (tmp_path / "bad.txt").write_text("a secret")
    assert wrong(tmp_path / "bad.txt").startswith("bad.txt: has no line as WhatsApp writes them")
    assert wrong(written(tmp_path / "other.json", ["a secret"])).startswith("other.json: is no export of")
    claude_said = written(tmp_path / "claude.json", CLAUDE)
    assert wrong(claude_said, Format.telegram) == "claude.json: is an export of claude, not of telegram"
    (tmp_path / "empty").mkdir()
    assert wrong(tmp_path / "empty").startswith("empty: holds no chats of")
    written(tmp_path / "two" / "conversations.json", CLAUDE)
    written(tmp_path / "two" / "result.json", TELEGRAM)
    assert wrong(tmp_path / "two") == "two: holds exports of several kinds: give one of them"


def test_a_message_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    said = [CLAUDE[0], {"uuid": "c2", "chat_messages": [{"sender": "human", "text": "a secret"}]}]
    expected = "conversations.json: a message of conversation 2 has no id, or none that can be one"
    assert wrong(written(tmp_path / "conversations.json", said)) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "message", "user", "human", "text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "id",
                        "uuid",
                        "mapping",
                        "current_node",
                        "message",
                        "author",
                        "role",
                        "content",
                        "parts",
                        "parent",
                    ),
                    *("content_type", "chat_messages", "sender", "text", "messages", "chats", "list", "type", "from"),
                    *("photo", "date_unixtime", "create_time", "created_at", "attachments", "files", "asset_pointer"),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(said=VALUES)
def test_json_of_any_shape_is_read_or_refused(said: Any) -> None:
    here = opened(Path(__file__).parent)
    for reader in (chatgpt, claude, telegram):
        for value in (said, [said], {"messages": said}, json.loads(json.dumps(said))):
            try:
                list(reader.conversations(here, "x.json", value))
            except InvalidInput as error:
                assert str(error).startswith("x.json: ")
