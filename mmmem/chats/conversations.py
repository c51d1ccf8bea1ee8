"""What an export of a chat is read into."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture by its file in the export, as Export.picture reads it; None where the export has none."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: its texts and pictures in order, at least one.

    id: its own in the conversation, the same in every export. time: Unix milliseconds.
    """

    id: str
    role: str
    parts: tuple[str | Picture, ...]
    time: int | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Its messages in their order. id: the same in every export."""

    id: str
    turns: tuple[Turn, ...]
