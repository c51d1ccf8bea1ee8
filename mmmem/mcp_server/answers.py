"""Memories as MCP content: a text for each, and behind it its images, as many and as large as an answer may hold."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from mcp_types import ContentBlock, ImageContent, TextContent
from PIL import Image

from mmmem.errors import MmmemError
from mmmem.media.images import decode_image
from mmmem.types import ImagePart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.library.results import FoundMemory, Page
    from mmmem.settings import Settings

# Base64 of these is what clients hand on to a model; anything else many of them refuse, and the whole answer with it.
_TAKEN = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_SIDES = (
    1568,
    1024,
    512,
    256,
)  # pixels of the longer side of what is shown smaller; models look at no more than the first


class ImageRoom:
    """What is left for images in one answer."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._images = settings.mcp_images
        self._bytes = settings.mcp_image_bytes

    def show(self, data: bytes, *, last: bool) -> ImageContent | None:
        """An image as clients take it; None where there is no room, or it cannot be read. One leaves half of the room to those behind it."""
        most = self._bytes if last else self._bytes // 2
        if not self._images or most <= 0:
            return None
        shown = _as_it_is(data, most) or _smaller(data, most, self._settings)
        if shown is None:
            return None
        media_type, file = shown
        self._images -= 1
        self._bytes -= len(file)
        return ImageContent(type="image", data=base64.b64encode(file).decode("ascii"), mime_type=media_type)


def found(memories: Sequence[FoundMemory], settings: Settings) -> list[ContentBlock]:
    """The answer of recall."""
    if not memories:
        return [text("Nothing was found.")]
    room, answer = ImageRoom(settings), list[ContentBlock]()
    ahead = sum(len(memory.image_files) for memory in memories)
    for place, memory in enumerate(memories, start=1):
        shown = []
        for file in memory.image_files:
            ahead -= 1
            shown.append(room.show(file.data, last=not ahead))
        images = [image for image in shown if image]
        left_out = len(shown) - len(images)
        head = f"{place}. id {memory.id}, score {memory.score:.3f}" + (
            f", {_images(left_out)} not shown" if left_out else ""
        )
        answer += [text(f"{head}\n{memory.text}"), *images]
    return answer


def listed(page: Page) -> list[ContentBlock]:
    """The answer of list_memories."""
    if not page.memories:
        return [text("No memories." if not page.total else "No more memories.")]
    lines = []
    for memory in page.memories:
        said = (
            memory.text
            if memory.timestamp is None
            else f"[{memory.created_at:%Y-%m-%d %H:%M}] {memory.role}: {memory.text}"
        )
        kept = f", {_images(memory.image_count)}" if memory.image_count else ""
        lines.append(f"id {memory.id}, session {memory.session_id}{kept}\n{said}")
    following = f"More follow; cursor: {page.next}" if page.next else "These are the last."
    return [text("\n\n".join([*lines, f"{len(lines)} of {page.total} memories. {following}"]))]


def text(said: str) -> TextContent:
    """A text that any JSON carries: what is no Unicode, such as half of a surrogate pair, becomes a question mark."""
    return TextContent(type="text", text=said.encode("utf-8", "replace").decode("utf-8"))


def _images(count: int) -> str:
    return f"{count} image{'s' if count != 1 else ''}"


def _as_it_is(data: bytes, most: int) -> tuple[str, bytes] | None:
    """What the bytes are, whatever was declared with them."""
    if len(data) > most:
        return None
    try:
        with Image.open(io.BytesIO(data), formats=list(_TAKEN)) as image:
            return _TAKEN[image.format or ""], data
    except Exception:  # of another format
        return None


def _smaller(data: bytes, most: int, settings: Settings) -> tuple[str, bytes] | None:
    """As PNG where that fits, else as JPEG, at the largest size that does."""
    try:
        image = decode_image(ImagePart("", data), "image", settings)
    except MmmemError:
        return None
    for side in _SIDES:
        image.thumbnail((side, side))
        for kind in ("PNG", "JPEG"):
            file = io.BytesIO()
            image.save(file, kind)
            if file.tell() <= most:
                return _TAKEN[kind], file.getvalue()
    return None
