"""Telegram Desktop: `result.json`, of one chat or of all, with the pictures in folders beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from mmmem.chats.conversations import Conversation, Picture, Turn
from mmmem.chats.fields import a_dict, a_list, a_text, an_id, milliseconds

if TYPE_CHECKING:
    from mmmem.chats.export import Export

_NOBODY = "Somebody"  # of an account that is gone


def conversations(_export: Export, name: str, said: Any) -> Iterator[Conversation]:
    """Those of a file, which holds this JSON."""
    every = a_dict(a_dict(said).get("chats")).get("list")
    for place, each in enumerate([said] if every is None else a_list(every), start=1):
        chat = a_dict(each)
        where = f"chat {place:,}"
        id_ = an_id(chat.get("id"), name, where)
        turns = (_turn(a_dict(message), name, where) for message in a_list(chat.get("messages")))
        yield Conversation(id_, tuple(turn for turn in turns if turn))


def _turn(message: dict[str, Any], name: str, where: str) -> Turn | None:
    if message.get("type") != "message":  # somebody joined, a title was changed
        return None
    text = _text(message)
    named = _picture(message)
    if not text.strip() and not named:
        return None
    who = a_text(message.get("from")) or _NOBODY
    parts: list[str | Picture] = [f"{who}: {text}".rstrip()]
    # Paths are as from the file itself.
    parts += [Picture((PurePosixPath(name).parent / named).as_posix())] if named else []
    id_ = an_id(message.get("id"), name, f"a message of {where}")
    return Turn(id_, "user", tuple(parts), milliseconds(message.get("date_unixtime")))


def _text(message: dict[str, Any]) -> str:
    """A string, or a list of strings and of objects with a `text`: links, bold text."""
    text = message.get("text")
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else a_text(a_dict(part).get("text")) for part in a_list(text))


def _picture(message: dict[str, Any]) -> str:
    """The path of a photo, or of a picture that was sent as a file."""
    photo = a_text(message.get("photo"))
    is_picture = a_text(message.get("mime_type")).startswith("image/") and message.get("media_type") is None
    return photo or (a_text(message.get("file")) if is_picture else "")
