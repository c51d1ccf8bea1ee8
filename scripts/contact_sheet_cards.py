"""Memories and pictures as a contact sheet shows them.

All text that was stored, or read in a picture, passes `shown`: nothing invisible, and nothing that turns a line around, reaches a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from PIL import Image

from mmmem.api.contract import Content, ExplainedMemory, PictureAnswer, TextContent
from mmmem.cli.ending import printable
from mmmem.errors import MmmemError
from mmmem.media.data_urls import parse_data_url
from mmmem.media.images import decode_image
from mmmem.presentation import AFTER, BEFORE
from mmmem.settings import Settings

THUMBNAIL = 224  # px of a thumbnail's longer side
MOST_CHARS = 2_000  # of a text that are shown
NOT_SENT = "picture not in the answer"
UNREADABLE = "picture that cannot be read here"


@dataclass(frozen=True, slots=True)
class Picture:
    """A thumbnail (RGB), or in its place why there is none; and what the picture was taken for."""

    thumbnail: Image.Image | str
    labels: str = ""
    text: str = ""

    @property
    def instead(self) -> str:
        """What stands in place of a thumbnail."""
        return f"{self.thumbnail}: {self.taken_for}"

    @property
    def taken_for(self) -> str:
        """In a line."""
        return f"taken for {self.labels}" if self.labels else "no label" if self.text else "no label, no text"

    @classmethod
    def of(cls, image: Image.Image | str, reading: PictureAnswer | None) -> Picture:
        """A decoded picture, which is made small."""
        if not isinstance(image, str):
            image.thumbnail((THUMBNAIL, THUMBNAIL))
        if reading is None:
            return cls(image)
        return cls(image, shown(", ".join(reading.labels)), shown(reading.text))


@dataclass(frozen=True)
class Card:
    """A memory at its place in the answer, from 1."""

    place: int
    memory: ExplainedMemory
    settings: Settings

    @cached_property
    def id(self) -> str:
        """As it is shown."""
        return shown(self.memory.id)

    @cached_property
    def time(self) -> str:
        """When it was told, to the minute."""
        return shown(self.memory.created_at[:16].replace("T", " ")) + " UTC"

    @cached_property
    def text(self) -> str:
        """Its own text, without the turns around it."""
        content: Content = self.memory.content
        texts = [content] if isinstance(content, str) else [p.text for p in content if isinstance(p, TextContent)]
        own = (line for text in texts for line in text.splitlines() if not line.startswith((BEFORE, AFTER)))
        return shown("\n".join(own))

    @cached_property
    def pictures(self) -> tuple[Picture, ...]:
        """All of its pictures, also those that the answer had no room for."""
        content: Content = self.memory.content
        parts = [] if isinstance(content, str) else [part for part in content if not isinstance(part, TextContent)]
        images = [self._decoded(part.image_url.url) for part in parts]
        read: list[PictureAnswer | None] = [*self.memory.pictures]
        images += [NOT_SENT] * (len(read) - len(images))
        read += [None] * (len(images) - len(read))
        return tuple(Picture.of(image, reading) for image, reading in zip(images, read, strict=True))

    def _decoded(self, url: str) -> Image.Image | str:
        try:
            return decode_image(parse_data_url(url, "image", self.settings), "image", self.settings)
        except MmmemError:
            return UNREADABLE


def shown(text: str) -> str:
    """Text as a page shows it: its lines, without what is invisible, and no more of it than someone looks at."""
    lines = (printable(line) for line in text[: 2 * MOST_CHARS].splitlines())
    clean = "\n".join(line for line in lines if line)
    return clean if len(clean) <= MOST_CHARS else f"{clean[:MOST_CHARS]}…"
