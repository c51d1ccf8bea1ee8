"""What a caller may tell or ask, as the contract's JSON: text, and images as paths, bytes, data URLs or PIL images."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from PIL import Image

from mmmem.errors import InvalidImage, InvalidInput

Part = str | bytes | Path | Image.Image | Mapping[str, Any]
"""Text; an image file's bytes, its path, a PIL image or a data URL; or a content part as the HTTP API has it."""

Content = Part | Sequence[Part]
"""One part or several, in order."""

Message = Mapping[str, Any]
"""A `role`, a `content` and perhaps a `timestamp`: Unix milliseconds or a datetime."""

_DATA_URL = re.compile(r"data:[^\s,]{0,1000};base64,", re.IGNORECASE)
_FALLBACK = "application/octet-stream"  # the bytes decide what it is, and whether it is an image


def to_messages(told: Content | Sequence[Message], role: str, timestamp: int | datetime | None) -> list[dict[str, Any]]:
    """The messages of an Add: those given, or a single one of this role and time. Raises InvalidInput, InvalidImage."""
    if isinstance(told, Mapping) and "role" in told:
        told = [told]
    if not isinstance(told, Sequence) or isinstance(told, str | bytes) or not _are_messages(told):
        return [_message({"role": role, "content": told, "timestamp": timestamp}, "messages.0")]
    return [_message(message, f"messages.{place}") for place, message in enumerate(told)]


def to_content(content: Content, field: str) -> str | list[dict[str, Any]]:
    """A string where it is text alone, else its parts. Raises InvalidInput, InvalidImage."""
    if isinstance(content, str) and not _DATA_URL.match(content):
        return content
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        return [_part(part, f"{field}.{place}") for place, part in enumerate(content)]
    return [_part(content, f"{field}.0")]


def to_milliseconds(moment: int | datetime | None) -> int | None:
    """Unix milliseconds. A datetime without a zone is local time, as Python has it."""
    return round(moment.timestamp() * 1000) if isinstance(moment, datetime) else moment


def _are_messages(told: Sequence[Any]) -> bool:
    """Content parts are mappings too, and have no role."""
    return any(isinstance(each, Mapping) and "role" in each for each in told)


def _message(message: Any, field: str) -> dict[str, Any]:
    if not isinstance(message, Mapping) or "content" not in message:
        raise InvalidInput(field, "must be a mapping with a role and a content")
    written = {"role": message.get("role"), "content": to_content(message["content"], f"{field}.content")}
    timestamp = to_milliseconds(message.get("timestamp"))
    return written if timestamp is None else {**written, "timestamp": timestamp}


def _part(part: Any, field: str) -> dict[str, Any]:
    match part:
        case str() if _DATA_URL.match(part):
            return _image(part)
        case str():
            return {"type": "text", "text": part}
        case bytes():
            return _image(_url(part))
        case Path():
            return _image(_url(_read(part, field)))
        case Image.Image():
            return _image(_url(_written(part)))
        case Mapping():
            return dict(part)
    raise InvalidInput(field, "must be text, an image (bytes, pathlib.Path, PIL image, data URL) or a content part")


def _image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _url(data: bytes) -> str:
    return f"data:{_media_type(data)};base64,{base64.b64encode(data).decode('ascii')}"


def _media_type(data: bytes) -> str:
    try:
        with Image.open(io.BytesIO(data)) as image:
            return Image.MIME.get(image.format or "", _FALLBACK)
    except Exception:  # whatever is wrong with it is said, with its place, when it is told
        return _FALLBACK


def _read(path: Path, field: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidImage(field, f"cannot be read: {error.strerror or type(error).__name__}") from error


def _written(image: Image.Image) -> bytes:
    """Without loss. What PNG has no mode for (CMYK, floating point, ...) is TIFF."""
    file = io.BytesIO()
    try:
        image.save(file, "PNG")
    except (OSError, ValueError):
        file = io.BytesIO()
        image.save(file, "TIFF")
    return file.getvalue()
