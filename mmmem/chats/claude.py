"""Claude: `conversations.json`. The export has the text of attachments, and no pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mmmem.chats.conversations import Conversation, Picture, Turn
from mmmem.chats.export import PICTURES, Export
from mmmem.chats.fields import a_dict, a_list, a_text, an_id, moment

_ROLES = {"human": "user", "assistant": "assistant"}


def conversations(_export: Export, name: str, said: Any) -> Iterator[Conversation]:
    """Those of a file, which holds this JSON."""
    for place, each in enumerate(a_list(said), start=1):
        conversation = a_dict(each)
        where = f"conversation {place:,}"
        id_ = an_id(conversation.get("uuid"), name, where)
        turns = (_turn(a_dict(message), name, where) for message in a_list(conversation.get("chat_messages")))
        yield Conversation(id_, tuple(turn for turn in turns if turn))


def _turn(message: dict[str, Any], name: str, where: str) -> Turn | None:
    role = _ROLES.get(a_text(message.get("sender")))
    if role is None:
        return None
    texts = [a_text(part.get("text")) for part in map(a_dict, a_list(message.get("content"))) if _is_text(part)]
    texts = texts if any(text.strip() for text in texts) else [a_text(message.get("text"))]
    for attachment in map(a_dict, a_list(message.get("attachments"))):
        content = a_text(attachment.get("extracted_content"))
        if content.strip():
            texts.append(f"{a_text(attachment.get('file_name')) or 'attachment'}:\n{content}")
    files = (a_text(a_dict(file).get("file_name")) for file in a_list(message.get("files")))
    parts: list[str | Picture] = [text for text in texts if text.strip()]
    parts += [Picture(None) for file in files if file.lower().endswith(PICTURES)]
    if not parts:
        return None
    id_ = an_id(message.get("uuid"), name, f"a message of {where}")
    return Turn(id_, role, tuple(parts), moment(message.get("created_at")))


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type") == "text"
