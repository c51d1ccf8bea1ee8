"""The shapes of answers about what is stored; see contract.py."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mmmem.api.contract import Content, NonEmptyString, Shape


class StoredMemory(Shape):
    """A memory as it was stored."""

    id: NonEmptyString
    session_id: NonEmptyString
    role: NonEmptyString
    content: Content
    images: int = Field(description="How many it has, also where the content is without them.")
    timestamp: int | None = Field(description="The message's own time, Unix milliseconds; null where it had none.")
    created_at: str = Field(description="ISO 8601, UTC: that time, else when it was added.")
    position: int = Field(description="Of its message in its Add, from 0.")
    piece: int = Field(description="Which part of a long message it is, from 0.")


class PageAnswer(Shape):
    """Memories by time."""

    data: list[StoredMemory]
    next: str | None = Field(description="`after` of the following page; null on the last.")
    total: int = Field(description="Memories on all pages together.")


class UserAnswer(Shape):
    """What is held of a user."""

    user_id: NonEmptyString
    memories: int
    images: int
    sessions: int
    bytes: int = Field(description="On disk, what older versions of the user's table still hold included.")
    first: str | None = Field(description="ISO 8601, UTC: time of the earliest memory; null without memories.")
    last: str | None = Field(description="The same of the latest.")


class UserDeletion(Shape):
    """Nothing of the user is left."""

    success: Literal[True]
    user_id: NonEmptyString
    deleted: bool = Field(description="Whether there was anything.")


class MemoryDeletion(Shape):
    """The memory is not there."""

    success: Literal[True]
    user_id: NonEmptyString
    id: NonEmptyString
    deleted: bool = Field(description="Whether it was there before.")
