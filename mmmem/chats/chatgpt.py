"""ChatGPT: `conversations.json`. Each conversation is a tree of messages; what is shown of it is the way to `current_node`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from mmmem.chats.conversations import Conversation, Picture, Turn
from mmmem.chats.export import Export
from mmmem.chats.fields import a_dict, a_list, a_text, an_id, milliseconds

_FILE = re.compile(r"file[-_][A-Za-z0-9]+")
_SAID = {"text", "multimodal_text"}


def conversations(export: Export, name: str, said: Any) -> Iterator[Conversation]:
    """Those of a file, which holds this JSON."""
    pictures = _Pictures(export)
    for place, each in enumerate(a_list(said), start=1):
        conversation = a_dict(each)
        where = f"conversation {place:,}"
        id_ = an_id(conversation.get("conversation_id") or conversation.get("id"), name, where)
        turns = (_turn(node, pictures, name, where) for node in _way(conversation))
        yield Conversation(id_, tuple(turn for turn in turns if turn))


def _way(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes from the root to the one that is shown last."""
    mapping = a_dict(conversation.get("mapping"))
    node_id = conversation.get("current_node")
    if not isinstance(node_id, str) or node_id not in mapping:
        node_id = next(reversed(mapping), None)
    way: list[dict[str, Any]] = []
    seen = set()
    while isinstance(node_id, str) and node_id in mapping and node_id not in seen:
        seen.add(node_id)
        way.append(a_dict(mapping[node_id]))
        node_id = way[-1].get("parent")
    return way[::-1]


def _turn(node: dict[str, Any], pictures: _Pictures, name: str, where: str) -> Turn | None:
    """What a person or the assistant said or showed; None for what only the machine saw."""
    message = a_dict(node.get("message"))
    role = a_dict(message.get("author")).get("role")
    content = a_dict(message.get("content"))
    hidden = a_dict(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if role not in {"user", "assistant", "tool"} or hidden or content.get("content_type") not in _SAID:
        return None
    spoken = role != "tool" and message.get("recipient", "all") == "all"
    parts: list[str | Picture] = []
    for part in a_list(content.get("parts")):
        if isinstance(part, str):
            parts += [part] if spoken and part.strip() else []
        elif a_dict(part).get("content_type") == "image_asset_pointer":
            parts.append(pictures.find(a_text(part.get("asset_pointer"))))
    if not parts:
        return None
    id_ = an_id(message.get("id"), name, f"a message of {where}")
    shown_by = "user" if role == "user" else "assistant"
    return Turn(id_, shown_by, tuple(parts), milliseconds(message.get("create_time")))


class _Pictures:
    """Pictures by what a message points to: ``file-service://file-ABC`` is the file ``file-ABC-name.png``, in whatever folder."""

    def __init__(self, export: Export) -> None:
        self._export = export
        self._names: dict[str, str] | None = None

    def find(self, pointer: str) -> Picture:
        """The picture, which may not be there."""
        if self._names is None:
            ids = ((_FILE.match(PurePosixPath(name).name), name) for name in self._export.names())
            self._names = {match[0]: name for match, name in ids if match}
        wanted = _FILE.match(pointer.partition("://")[2])
        return Picture(self._names.get(wanted[0]) if wanted else None)
