"""WhatsApp: a text file, `_chat.txt` or `WhatsApp Chat with NAME.txt`, with the pictures beside it. Times are the phone's own.

``[31/01/24, 09:00:00] Ann: text`` on iOS, ``31/01/24, 09:00 - Ann: text`` on Android; the order of day and month is the phone's, and
the file as a whole says which it is.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from mmmem.chats.conversations import Conversation, Picture, Turn
from mmmem.chats.export import PICTURES, Export
from mmmem.errors import InvalidInput

_MARKS = "\u200e\u200f\u202a\u202c\ufeff"  # of direction
_DATE = r"(\d{1,4})[./-](\d{1,2})[./-](\d{1,4}),?"
_TIME = r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?(?:[ \u202f\xa0]?([AaPp])\.?[ \xa0]?[Mm]\.?)?"
_START = re.compile(rf"[{_MARKS}]*(?:\[{_DATE}[ \u202f]{_TIME}\] |{_DATE}[ \u202f]{_TIME} - )(.*)", re.DOTALL)
_ATTACHED = re.compile(r"<attached: ([^<>\n]{1,255})>|^([^\n]{1,255}) \(file attached\)", re.MULTILINE)
_OMITTED = re.compile(r"<Media omitted>|(?:image|GIF|sticker|video|audio|document) omitted")
_TITLE = re.compile(r"WhatsApp Chat (?:with|-) (.*)")
_YEARS = range(2000, 2100)
_ORDERS = ((2, 1, 0), (2, 0, 1), (0, 1, 2))  # places of year, month and day: the first is taken where several fit alike


class _Line(NamedTuple):
    """A message as it stands there. date: its three numbers; time: hour, minute, second; half: a, p or nothing."""

    date: tuple[int, int, int]
    time: tuple[int, int, int]
    half: str
    body: str


def conversations(export: Export, name: str) -> Iterator[Conversation]:
    """The one of a file."""
    text = export.text(name).decode("utf-8", "replace")
    lines = list(_lines(text))
    if not lines:
        raise InvalidInput(name, "has no line as WhatsApp writes them, from the first to the last")
    title = PurePosixPath(name).stem if PurePosixPath(name).stem != "_chat" else export.title
    known = _TITLE.fullmatch(title)
    yield Conversation(known[1] if known else title, tuple(_turns(name, lines)))


def is_one(start: bytes) -> bool:
    """Whether a file that begins so is an export of WhatsApp's."""
    return _START.match(start.decode("utf-8", "replace")) is not None


def _lines(text: str) -> Iterator[_Line]:
    """Messages; a line that does not begin one belongs to the one before."""
    begun: _Line | None = None
    more: list[str] = []
    for line in re.split(r"\r?\n", text):
        match = _START.fullmatch(line)
        if match is None:
            more.append(line)
            continue
        if begun:
            yield begun._replace(body="\n".join([begun.body, *more]))
        *numbers, body = [*(match.groups()[:7] if match[1] else match.groups()[7:14]), match.groups()[-1]]
        year, month, day, hour, minute, second = (int(number or 0) for number in numbers[:6])
        begun = _Line((year, month, day), (hour, minute, second), (numbers[6] or "").lower(), body)
        more = []
    if begun:
        yield begun._replace(body="\n".join([begun.body, *more]).rstrip("\n"))


def _turns(name: str, lines: Sequence[_Line]) -> Iterator[Turn]:
    order = _order(lines)
    seen: Counter[str] = Counter()
    for line in lines:
        who, colon, text = line.body.partition(": ")
        notice = text.startswith("\u200e") and not _ATTACHED.search(text) and not _OMITTED.search(text)
        if not colon or notice:  # somebody joined, a number changed
            continue
        written = f"{line.date}{line.time}{line.half}{line.body}"
        seen[written] += 1
        id_ = hashlib.sha256(f"{written}{seen[written]}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        parts = _parts(name, _clean(who), text)
        if parts:
            yield Turn(id_, "user", parts, _moment(line, order))


def _parts(name: str, who: str, text: str) -> tuple[str | Picture, ...]:
    files = [_clean(match[1] or match[2]) for match in _ATTACHED.finditer(text)]
    folder = PurePosixPath(name).parent
    pictures = [Picture((folder / file).as_posix()) for file in files if file.lower().endswith(PICTURES)]
    pictures += [Picture(None) for _ in _OMITTED.findall(text)]
    said = _clean(_OMITTED.sub("", _ATTACHED.sub(_named, text))).strip()
    return (f"{who}: {said}".rstrip(), *pictures) if said or pictures else ()


def _named(match: re.Match[str]) -> str:
    """A picture is there itself; of another file its name stays."""
    file = _clean(match[1] or match[2])
    return "" if file.lower().endswith(PICTURES) else f"({file})"


def _order(lines: Sequence[_Line]) -> tuple[int, int, int]:
    """The order of day, month and year in which the dates are dates, and most of them follow each other."""

    def faults(order: tuple[int, int, int]) -> tuple[int, int]:
        moments = [_moment(line, order) for line in lines]
        there = [moment for moment in moments if moment is not None]
        back = sum(later < earlier for earlier, later in pairwise(there))
        return len(moments) - len(there), back

    return min(_ORDERS, key=faults)


def _moment(line: _Line, order: tuple[int, int, int]) -> int | None:
    """Unix milliseconds, in this machine's time, as an export does not name the phone's; None for what is no date."""
    year, month, day = (line.date[place] for place in order)
    hour, minute, second = line.time
    if line.half:
        hour = hour % 12 + 12 * (line.half == "p")
    year += 2000 * (year < 100)
    if year not in _YEARS:
        return None
    try:
        return round(datetime(year, month, day, hour, minute, second).timestamp() * 1000)
    except ValueError:
        return None


def _clean(text: str) -> str:
    return text.strip(_MARKS).replace("\u200e", "")
