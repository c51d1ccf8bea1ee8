"""`mmmem import` of an export of chats: every message is told by itself, under a request_id of its own."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mmmem.cli.backup_files import is_stream
from mmmem.cli.doors import Needs, Where, opened
from mmmem.cli.ending import stop
from mmmem.cli.progress import progress, told
from mmmem.errors import InvalidImage, InvalidInput, RequestConflict, TooLarge

if TYPE_CHECKING:
    from mmmem.chats.conversations import Conversation, Turn
    from mmmem.chats.export import Export
    from mmmem.chats.formats import Format
    from mmmem.library.contents import Part
    from mmmem.library.door import Door

_ZIP = b"PK\x03\x04"
_ENDINGS = {".json", ".txt"}
_BACKUP = b'{"mmmem_backup":'
_PLACE = re.compile(r"messages\.0\.content\.(\d+)(?:\.|$)")


@dataclass(slots=True)
class Told:
    """What became of an export. known: messages that were there before, and of which something else comes now."""

    conversations: int = 0
    messages: int = 0
    pictures: int = 0
    known: int = 0
    pictures_left_out: int = 0
    messages_left_out: int = 0


def is_chats(file: Path) -> bool:
    """Whether it is to be read as an export of chats, not as a backup: a folder, a zip archive, a .json or .txt file."""
    if is_stream(file):
        return False
    if file.is_dir():
        return True
    with file.open("rb") as opened_file:
        start = opened_file.read(len(_BACKUP))
    return start.startswith(_ZIP) or (file.suffix.lower() in _ENDINGS and start != _BACKUP)


def bring(file: Path, wanted: Format, user: str, where: Where, *, as_json: bool) -> None:
    """Tell all that an export holds. Ends the command in one line where it cannot be read; nothing of it is told then."""
    from mmmem.chats.export import opened as opened_export
    from mmmem.chats.recognition import conversations

    try:
        export = opened_export(file)
        kind, found = conversations(export, wanted)
    except InvalidInput as error:
        stop(f"{file}: {error}")
    except OSError as error:
        stop(f"{file}: {error.strerror or 'cannot be read'}")
    with opened(where, Needs.TO_ADD, {}) as door:
        counts = _tell(door, export, kind, found, user)
    if as_json:
        typer.echo(json.dumps({"format": kind.value, "user_id": user, **asdict(counts)}, indent=2))
        return
    parts = ((counts.conversations, "conversation"), (counts.messages, "message"), (counts.pictures, "picture"))
    typer.echo(f"imported {', '.join(told(*part) for part in parts)} of {kind.value}", err=True)
    for number, noun in ((counts.pictures_left_out, "picture"), (counts.messages_left_out, "message")):
        if number:
            left = f"{told(number, noun)} {'is' if number == 1 else 'are'} left out: missing, damaged or too large"
            typer.echo(f"mmmem: warning: {left}", err=True)


def _tell(door: Door, export: Export, kind: Format, found: list[Conversation], user: str) -> Told:
    from mmmem.backup.counts import Counts

    counts, shown = Told(), Counts()
    with progress("Importing", sum(len(conversation.turns) for conversation in found)) as advance:
        for conversation in found:
            counts.conversations += 1
            for turn in conversation.turns:
                _tell_turn(door, export, turn, f"{kind}:{conversation.id}", user, counts)
                shown.done += 1
                shown.memories += 1
                advance(shown)
    return counts


def _tell_turn(door: Door, export: Export, turn: Turn, session: str, user: str, counts: Told) -> None:  # noqa: PLR0917
    """Without the pictures that are missing, damaged or too large."""
    read = [part if isinstance(part, str) else export.picture(part.name) if part.name else None for part in turn.parts]
    parts: list[Part] = [
        {"type": "text", "text": part} if isinstance(part, str) else part for part in read if part is not None
    ]
    counts.pictures_left_out += len(read) - len(parts)
    ids = {"user_id": user, "session_id": session, "request_id": f"{session}:{turn.id}"}
    while parts:
        try:
            door.add(parts, role=turn.role, timestamp=turn.time, **ids)
        except RequestConflict:  # with a damaged picture, which was left out when it was told first; or changed since
            counts.known += 1
        except (InvalidImage, TooLarge) as error:
            place = _PLACE.match(error.field)
            if not place or not isinstance(parts[int(place[1])], bytes):
                break
            del parts[int(place[1])]
            counts.pictures_left_out += 1
            continue
        counts.messages += 1
        counts.pictures += sum(isinstance(part, bytes) for part in parts)
        return
    counts.messages_left_out += 1
