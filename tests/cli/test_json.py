"""What `--json` prints has these fields and no others, and docs/command-line.md names every one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, answer

DOCUMENT = Path(__file__).parents[2] / "docs" / "command-line.md"
FOUND = {"id", "score", "created_at", "text", "pictures", "files"}
STORED = {
    *("id", "session_id", "role", "timestamp", "created_at"),
    *("position", "piece", "text", "pictures", "files"),
}
FIELDS = {
    "add": {"request_id", "user_id", "session_id"},
    "search": {"memories"},
    "list": {"memories", "more"},
    "show": STORED,
    "stats": {"user_id", "memories", "images", "sessions", "bytes", "first", "last"},
    "delete": {"user_id", "deleted", "missing"},
}
TYPES = {
    **dict.fromkeys(("id", "session_id", "role", "created_at", "text", "user_id", "request_id"), str),
    **dict.fromkeys(("position", "piece", "pictures", "images", "sessions", "bytes", "deleted"), int),
    **dict.fromkeys(("files", "missing"), list),
    "timestamp": int | None,
    "first": str | None,
    "last": str | None,
    "score": float,
    "more": bool,
    "memories": list | int,
}


def check(value: dict[str, Any], fields: set[str]) -> None:
    assert set(value) == fields
    assert [name for name in fields if not isinstance(value[name], TYPES[name])] == []


def test_every_command_prints_its_fields(mmmem: Command, red: Path) -> None:
    def run(command: str, *arguments: str) -> dict[str, Any]:
        said: dict[str, Any] = answer(mmmem(command, *arguments, "--user", "ånn", "--json"))
        check(said, FIELDS[command])
        return said

    assert run("add", "Här är en båt", "--image", str(red), "--request-id", "1")["user_id"] == "ånn"
    run("add", "A cat", "--time", "2024-01-01T00:00:00.5Z")
    found = run("search", "båt")["memories"]
    stored = run("list")["memories"]
    for memory in found:
        check(memory, FOUND)
    for memory in stored:
        check(memory, STORED)
    assert [(memory["pictures"], memory["files"]) for memory in (found[0], stored[1])] == [(1, []), (1, [])]
    assert (stored[0]["created_at"], stored[0]["timestamp"]) == ("2024-01-01T00:00:00.500Z", 1_704_067_200_500)
    assert run("show", stored[1]["id"]) == stored[1]
    assert run("stats")["first"] == stored[0]["created_at"]
    assert run("delete", "--all", "--yes") == {"user_id": "ånn", "deleted": 2, "missing": []}
    assert run("stats")["first"] is None
    assert run("list") == {"memories": [], "more": False}


@pytest.mark.parametrize("command", FIELDS)
def test_the_document_names_every_field(command: str) -> None:
    sections = re.split(r"^### ", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (section,) = (each for each in sections if each.startswith(f"`mmmem {command}"))
    named = set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))
    assert named == FIELDS[command] | (FOUND if command == "search" else set())
