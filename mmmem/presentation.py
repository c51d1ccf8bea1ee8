"""How a returned memory reads: its time and role in front, and, marked as such, the turns around it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING

from mmmem.types import ImagePart, Memory, TextPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EPOCH = datetime(1970, 1, 1)  # UTC: one that says so takes three times as long to write
NOTE = TextPart("(a picture that this answer has no room for)")
BEFORE, AFTER = "(before this)", "(after this)"  # mark the lines of the turns around a memory


def present(memory: Memory, before: Sequence[Memory], after: Sequence[Memory], context_chars: int) -> Memory:
    """The memory with ``[2024-01-01 00:00] user: `` before its first text, and its neighbours after that text.

    Images keep their place among the text. A memory of images alone gets one text part, in front.
    """
    context = [
        *(f"{BEFORE} {heading(turn)} {_end(_one_line(turn), context_chars)}" for turn in before),
        *(f"{AFTER} {heading(turn)} {_beginning(_one_line(turn), context_chars)}" for turn in after),
    ]
    for place, part in enumerate(memory.parts):
        if isinstance(part, TextPart):
            text = TextPart("\n".join([f"{heading(memory)} {part.text}", *context]))
            return replace(memory, parts=(*memory.parts[:place], text, *memory.parts[place + 1 :]))
    return replace(memory, parts=(TextPart("\n".join([heading(memory), *context])), *memory.parts))


def with_images_that_fit(memory: Memory, fits: Iterable[bool]) -> Memory:
    """The memory with a note in place of each image that an answer has no room for. `fits` has an entry for each, in order."""
    if not memory.has_images:  # most are so
        return memory
    each = iter(fits)
    return replace(
        memory, parts=tuple(NOTE if isinstance(part, ImagePart) and not next(each) else part for part in memory.parts)
    )


def without_images(memory: Memory) -> Memory:
    """The memory with a note in place of each image."""
    return with_images_that_fit(memory, repeat(False))


def heading(memory: Memory) -> str:
    """``[2024-01-01 00:00] user:``, in UTC; without the time when the message had none."""
    if memory.timestamp is None:
        return f"{memory.role}:"
    return f"[{_minute(memory.timestamp // 60_000)}] {memory.role}:"


@lru_cache(maxsize=8_192)
def _minute(minutes: int) -> str:
    """Minutes since 1970 as ``2024-01-01 00:00``: an answer of 100 memories and their turns writes the same ones again and again."""
    return (EPOCH + timedelta(minutes=minutes)).isoformat(" ", "minutes")


def _one_line(memory: Memory) -> str:
    if line := " ".join(memory.text.split()):
        return line
    pictures = sum(isinstance(part, ImagePart) for part in memory.parts)
    return "(a picture)" if pictures == 1 else f"({pictures} pictures)"


def _beginning(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def _end(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"…{text[-limit:]}"
