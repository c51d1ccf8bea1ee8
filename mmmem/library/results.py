"""What the library gives back."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from PIL import Image


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image as it was told: the file's own bytes, and the type that was declared with it."""

    data: bytes = field(repr=False)
    media_type: str

    def open(self) -> Image.Image:
        """It decoded. Raises PIL.UnidentifiedImageError for a format that Pillow cannot read by itself."""
        return Image.open(io.BytesIO(self.data))


@dataclass(frozen=True, slots=True)
class _Remembered:
    id: str
    parts: tuple[str | ImageFile, ...]
    created_at: datetime

    @property
    def text(self) -> str:
        """Its texts, one a line."""
        return "\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def image_files(self) -> tuple[ImageFile, ...]:
        """Its images as files, in order."""
        return tuple(part for part in self.parts if isinstance(part, ImageFile))

    @property
    def images(self) -> list[Image.Image]:
        """Its images decoded, in order. Raises as ImageFile.open does."""
        return [file.open() for file in self.image_files]


@dataclass(frozen=True, slots=True)
class FoundMemory(_Remembered):
    """A memory that answers a question. `text` begins with its time and role; larger scores are better."""

    score: float


@dataclass(frozen=True, slots=True)
class StoredMemory(_Remembered):
    """A memory as it was told. `timestamp` is in Unix milliseconds, None where the message had none; `image_count` counts images
    that are not here too, because there was no room for them or they were not wanted."""

    session_id: str
    role: str
    timestamp: int | None
    position: int
    piece: int
    image_count: int


@dataclass(frozen=True, slots=True)
class Page:
    """Some of what is stored, in order. `next`: where the following page begins, None on the last; `total` counts all pages' memories."""

    memories: tuple[StoredMemory, ...]
    next: str | None
    total: int


@dataclass(frozen=True, slots=True)
class Added:
    """What was told is durable and can be found."""

    request_id: str
    user_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Usage:
    """How much is held of a user; `first` and `last` are None without memories."""

    user_id: str
    memories: int
    images: int
    sessions: int
    bytes: int
    first: datetime | None
    last: datetime | None


def found_memory(value: dict[str, Any]) -> FoundMemory:
    """From the answer of POST /search."""
    return FoundMemory(*_remembered(value), score=value["score"])


def stored_memory(value: dict[str, Any]) -> StoredMemory:
    """From the answers of GET /memories and GET /memories/{id}."""
    kept = ("session_id", "role", "timestamp", "position", "piece")
    return StoredMemory(*_remembered(value), **{name: value[name] for name in kept}, image_count=value["images"])


def page(value: dict[str, Any]) -> Page:
    """From the answer of GET /memories."""
    return Page(tuple(map(stored_memory, value["data"])), value["next"], value["total"])


def usage(value: dict[str, Any]) -> Usage:
    """From the answer of GET /users/{user_id}."""
    moments = {name: value[name] and datetime.fromisoformat(value[name]) for name in ("first", "last")}
    return Usage(**{**value, **moments})


def _remembered(value: dict[str, Any]) -> tuple[str, tuple[str | ImageFile, ...], datetime]:
    content = value["content"]
    parts = (content,) if isinstance(content, str) else tuple(_part(part) for part in content)
    return value["id"], parts if parts != ("",) else (), datetime.fromisoformat(value["created_at"])


def _part(part: dict[str, Any]) -> str | ImageFile:
    if part["type"] == "text":
        return str(part["text"])
    header, _, data = part["image_url"]["url"].partition(",")
    return ImageFile(base64.b64decode(data), header[len("data:") :].partition(";")[0])
