"""The text in pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image


class TextReader(Protocol):
    """Reads what is written in a picture."""

    @property
    def name(self) -> str:
        """Model and version."""

    def read(self, image: Image) -> str:
        """The text of a decoded RGB image of any size in reading order, a line a line; "" where there is none."""


class NoTextReader:
    """Reads nothing."""

    name = "none"

    def read(self, image: Image) -> str:
        """See TextReader."""
        return ""
