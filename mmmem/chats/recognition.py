"""Which kind of export a file, a folder or an archive is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from mmmem.chats import chatgpt, claude, telegram, whatsapp
from mmmem.chats.fields import a_dict, a_list
from mmmem.chats.formats import Format
from mmmem.errors import InvalidInput

if TYPE_CHECKING:
    from mmmem.chats.conversations import Conversation
    from mmmem.chats.export import Export

    Reader = Callable[[Export, str, Any], Iterator[Conversation]]


_READERS: dict[Format, Reader] = {
    Format.chatgpt: chatgpt.conversations,
    Format.claude: claude.conversations,
    Format.telegram: telegram.conversations,
}
_CHATS = re.compile(r"conversations[-_0-9]*\.json|result\.json|_chat\.txt|WhatsApp Chat with .*\.txt")


def conversations(export: Export, wanted: Format) -> tuple[Format, list[Conversation]]:
    """What kind an export is, and all its conversations. Raises InvalidInput, OSError."""
    names = export.chats()
    if len(names) > 1:
        names = [name for name in names if _CHATS.fullmatch(PurePosixPath(name).name)]
    if not names:
        raise InvalidInput(export.title, "holds no chats of ChatGPT, Claude, Telegram or WhatsApp")
    kinds, found = set(), []
    for name in names:
        kind, read = _read(export, name, wanted)
        kinds.add(kind)
        found += read
    if len(kinds) > 1:
        raise InvalidInput(export.title, "holds exports of several kinds: give one of them")
    return kinds.pop(), found


def _read(export: Export, name: str, wanted: Format) -> tuple[Format, list[Conversation]]:
    is_text = wanted is Format.whatsapp or (wanted is Format.auto and name.lower().endswith(".txt"))
    if is_text:
        return Format.whatsapp, list(whatsapp.conversations(export, name))
    said = export.json(name)
    kind = _kind(said)
    if kind is None:
        raise InvalidInput(name, "is no export of ChatGPT, Claude or Telegram")
    if wanted not in {Format.auto, kind}:
        raise InvalidInput(name, f"is an export of {kind}, not of {wanted}")
    return kind, list(_READERS[kind](export, name, said))


def _kind(said: Any) -> Format | None:
    """By the fields that only one of them has."""
    for each in map(a_dict, a_list(said)):
        if "mapping" in each:
            return Format.chatgpt
        if "chat_messages" in each:
            return Format.claude
    return Format.telegram if "messages" in a_dict(said) or "chats" in a_dict(said) else None
