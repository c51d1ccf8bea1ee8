"""Text as it comes: made well-formed for the encoders, and cut into memories with nothing lost between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mmmem.types import TextPart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.types import Part

# Where a text may be cut, best first: after an empty line, a line, a sentence, a word. Code and logs end at lines.
_BOUNDARIES = tuple(re.compile(p) for p in (r"\n\s*\n", r"\n", r"[.!?…]['\")\]]*\s+|[。！？；]['”』」）]*", r"\s+"))

_ENDS_ASKING = re.compile(r"[?？؟][\s'\")\]”’」』]*\Z")
_SPEAKER = re.compile(r"(?P<name>[^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*){0,2})[:：](?!//)")


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD: what an encoder reads. What is stored and returned keeps them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def beginning_and_end(text: str, limit: int) -> str:
    """The text, or of one longer than `limit` characters its first and last halves of that: where a question says what it wants."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}\n{text[-half:]}"


def asks(text: str) -> bool:
    """Whether a turn ends with a question: in a conversation, the next one is likely to answer it."""
    return bool(_ENDS_ASKING.search(text))


def named_speaker(text: str) -> str:
    """Who says it, where a turn says so itself, as transcripts do: ``Ann Lee: I am late`` gives Ann Lee; else ""."""
    found = _SPEAKER.match(text)
    return found["name"] if found else ""


def split_text(text: str, limit: int) -> list[str]:
    """Pieces of at most `limit` characters that put together are the text again.

    Each cut takes the best kind of boundary in the second half of the window, the last one there; where a window has no
    boundary at all it is cut at the limit.
    """
    pieces = []
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, start + limit)
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces


def split_parts(parts: tuple[Part, ...], limit: int) -> list[tuple[Part, ...]]:
    """A message's parts as the parts of its memories, in order; an image stays with the text before it."""
    memories: list[list[Part]] = [[]]
    room = limit
    for part in _short_parts(parts, limit):
        length = len(part.text) if isinstance(part, TextPart) else 0
        if length > room and memories[-1]:
            memories.append([])
            room = limit
        memories[-1].append(part)
        room -= length
    return [tuple(memory) for memory in memories]


def _short_parts(parts: tuple[Part, ...], limit: int) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, TextPart):
            yield from (TextPart(piece) for piece in split_text(part.text, limit))
        else:
            yield part


def _cut(text: str, start: int, end: int) -> int:
    for boundary in _BOUNDARIES:
        ends = [match.end() for match in boundary.finditer(text, start + (end - start) // 2, end)]
        if ends:
            return ends[-1]
    return end
