"""What a returned memory says: own words without the turns around it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from demo_checks import parts


def parts_of(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Its content as parts, those that are objects."""
    content = item.get("content")
    if not isinstance(content, (str, list)):
        return []
    return [part for part in parts(content) if isinstance(part, dict)]


def text_of(item: dict[str, Any]) -> str:
    """All its text."""
    return "\n".join(str(part.get("text")) for part in parts_of(item) if part.get("type") == "text")


def first_line(item: dict[str, Any]) -> str:
    """The line that begins a memory: what follows may be of the turns around it."""
    return text_of(item).split("\n", 1)[0]


def urls_of(item: dict[str, Any]) -> list[str]:
    """Its images in order."""
    shown = [part.get("image_url") for part in parts_of(item) if part.get("type") == "image_url"]
    return [str(image.get("url")) for image in shown if isinstance(image, dict)]


def place_of(mark: str, items: Iterable[dict[str, Any]]) -> int:
    """The place, from 1, of the memory whose own first line holds the mark; 0 where there is none."""
    return next((place for place, item in enumerate(items, start=1) if mark in first_line(item)), 0)


def copies_of(mark: str, items: Iterable[dict[str, Any]]) -> int:
    """How many memories hold the mark in their own first line."""
    return sum(mark in first_line(item) for item in items)
