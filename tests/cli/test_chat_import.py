"""`mmmem import` brings exports of chats with their pictures, once, and says what it leaves out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.chats.exports import ANDROID, CLAUDE, IOS, TELEGRAM, chatgpt, node, shown, written, zipped
from tests.cli.conftest import Command, answer, refused
from tests.running import RunningService

FIELDS = {
    *("format", "user_id", "conversations", "messages", "pictures", "known"),
    *("pictures_left_out", "messages_left_out"),
}


def test_the_document_names_every_field() -> None:
    document = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = document.partition("### `mmmem import`")[2].partition("\n#")[0]
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == FIELDS


def imported(mmmem: Command, path: Path, *options: str) -> dict[str, Any]:
    said: dict[str, Any] = answer(mmmem("import", str(path), "--user", "ann", "--json", *options))
    assert set(said) == FIELDS
    return said


def kept(mmmem: Command) -> list[dict[str, Any]]:
    memories: list[dict[str, Any]] = answer(mmmem("list", "--user", "ann", "--json"))["memories"]
    return memories


def test_a_chat_with_pictures_is_told_once(mmmem: Command, red: Path, tmp_path: Path) -> None:
    written(tmp_path / "export" / "result.json", TELEGRAM)
    (tmp_path / "export" / "photos").mkdir()
    (tmp_path / "export" / "photos" / "red.png").write_bytes(red.read_bytes())
    for _ in range(2):
        said = imported(mmmem, tmp_path / "export")
        assert said == {
            **{"format": "telegram", "user_id": "ann", "conversations": 1, "messages": 3, "pictures": 1},
            **{"known": 0, "pictures_left_out": 1, "messages_left_out": 0},
        }
        assert [(each["text"], each["pictures"], each["session_id"]) for each in kept(mmmem)][:2] == [
            ("Bob: Look at this", 1, "telegram:77"),
            ("Somebody: I am gone", 0, "telegram:77"),
        ]
        assert len(kept(mmmem)) == 3


def test_every_format_is_known_by_what_it_holds(mmmem: Command, red: Path, tmp_path: Path) -> None:
    nodes = (node("a", None, content=shown("file-service://file-AB1")), node("b", "a", "assistant"))
    files = {"conversations.json": json.dumps([chatgpt(*nodes, current="b")]), "file-AB1-x.png": red.read_bytes()}
    (tmp_path / "WhatsApp Chat with Bob.txt").write_text(ANDROID, encoding="utf-8")
    for path, kind, messages, pictures in [
        (zipped(tmp_path / "chatgpt.zip", files), "chatgpt", 2, 1),
        (written(tmp_path / "conversations.json", CLAUDE), "claude", 2, 0),
        (zipped(tmp_path / "WhatsApp Chat - Cats.zip", {"_chat.txt": IOS, "0001-PHOTO.png": red.read_bytes()}), "whatsapp", 5, 1),
        (tmp_path / "WhatsApp Chat with Bob.txt", "whatsapp", 4, 0),
    ]:  # fmt: skip
        said = imported(mmmem, path)
        assert (said["format"], said["messages"], said["pictures"]) == (kind, messages, pictures)
    assert len(kept(mmmem)) == 13
    assert "user: Ann: I adopted a cat" in mmmem("search", "Who adopted a cat?", "--user", "ann").stdout


def test_damaged_pictures_are_left_out_and_said(mmmem: Command, red: Path, tmp_path: Path) -> None:
    messages = [
        {"id": 1, "type": "message", "from": "Bob", "text": "Look", "photo": "damaged.png"},
        {"id": 2, "type": "message", "from": "Bob", "text": "Look again", "photo": "red.png"},
    ]
    path = written(tmp_path / "export" / "result.json", {"id": 1, "messages": messages})
    (path.parent / "damaged.png").write_bytes(red.read_bytes()[:100])
    (path.parent / "red.png").write_bytes(red.read_bytes())
    done = mmmem("import", str(path), "--user", "ann")
    assert done.exit_code == 0
    assert done.stderr.splitlines() == [
        "imported 1 conversation, 2 messages, 1 picture of telegram",
        "mmmem: warning: 1 picture is left out: missing, damaged or too large",
    ]
    assert imported(mmmem, path)["known"] == 1
    assert sorted((each["text"], each["pictures"]) for each in kept(mmmem)) == [
        ("Bob: Look", 0),
        ("Bob: Look again", 1),
    ]


def test_a_service_is_told_chats_too(mmmem: Command, service: RunningService, tmp_path: Path, data: Path) -> None:
    path = written(tmp_path / "conversations.json", CLAUDE)
    at = ("--user", "chats by command", "--url", service.url)
    assert answer(mmmem("import", str(path), "--json", *at))["messages"] == 2
    assert answer(mmmem("stats", "--json", *at))["memories"] == 2
    assert not data.exists()


def test_nothing_is_told_of_an_export_that_cannot_be_read(mmmem: Command, tmp_path: Path, data: Path) -> None:
    path = written(tmp_path / "conversations.json", [*CLAUDE, {"chat_messages": []}])
    said = refused(mmmem("import", str(path), "--user", "ann"))
    assert said == f"{path}: conversations.json: conversation 2 has no id, or none that can be one"
    missing = tmp_path / "missing.json"
    assert refused(mmmem("import", str(missing), "--user", "ann")) == f"{missing}: No such file or directory"
    done = mmmem("import", str(path))
    assert done.exit_code == 2
    assert "chats are imported for one --user" in done.stderr
    assert not data.exists()


def test_a_backup_is_still_a_backup(mmmem: Command, tmp_path: Path) -> None:
    assert mmmem("add", "I adopted a cat", "--user", "ann").exit_code == 0
    backup = tmp_path / "backup.json"
    assert mmmem("export", str(backup)).exit_code == 0
    done = mmmem("import", str(backup), "--data-dir", str(tmp_path / "other"))
    assert "imported 1 user, 1 request, 1 memory" in done.stderr
    assert mmmem("import", str(backup), "--json").exit_code == 2
