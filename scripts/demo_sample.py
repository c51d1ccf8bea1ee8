"""The demo's sample memory: a conversation with photos from scikit-image and scikit-learn, and what is asked of it."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

from PIL import Image

MINUTES_BETWEEN_TURNS = 2

Content = str | list[dict[str, Any]]


@dataclass(frozen=True)
class SampleMessage:
    """One turn. `sent` is what Add is told; its time is unlike any other turn's, so answers are recognised by it."""

    key: str
    sent: dict[str, Any]
    photos: tuple[str, ...]

    @property
    def timestamp(self) -> int:
        """Unix milliseconds."""
        timestamp: int = self.sent["timestamp"]
        return timestamp


@dataclass(frozen=True)
class Question:
    """A query, in words for the reader, and the key of the message that answers it."""

    query: Content
    shown: str
    kind: str
    expect: str


class Sample:
    """The conversation by sessions, and the questions."""

    def __init__(self) -> None:
        self._data = json.loads(Path(__file__).with_name("demo_memory.json").read_text(encoding="utf-8"))
        self.user_id: str = self._data["user_id"]
        self.sessions = {session["session_id"]: list(_messages(session)) for session in self._data["sessions"]}
        self.by_time = {message.timestamp: message for session in self.sessions.values() for message in session}

    def add_requests(self) -> Iterator[dict[str, Any]]:
        """The bodies of the Adds, one a session."""
        for session_id, messages in self.sessions.items():
            yield {
                "request_id": f"demo:{session_id}",
                "user_id": self.user_id,
                "session_id": session_id,
                "messages": [message.sent for message in messages],
            }

    def questions(self) -> list[Question]:
        """What is asked, in the file's order."""
        return [_question(entry) for entry in self._data["questions"]]


def data_url(data: bytes, image_type: str) -> str:
    """An image file as a `data:` URL."""
    return f"data:image/{image_type};base64,{base64.b64encode(data).decode('ascii')}"


def image_part(url: str) -> dict[str, Any]:
    """A content part that holds an image."""
    return {"type": "image_url", "image_url": {"url": url}}


def _messages(session: dict[str, Any]) -> Iterator[SampleMessage]:
    time = datetime.fromisoformat(session["start"])
    for message in session["messages"]:
        entries = message["content"]
        sent = {
            "role": message["role"],
            "timestamp": int(time.timestamp() * 1000),
            "content": entries if isinstance(entries, str) else [_part(entry) for entry in entries],
        }
        photos = tuple(_name(entry) for entry in entries if isinstance(entry, dict))
        yield SampleMessage(message.get("key", ""), sent, photos)
        time += timedelta(minutes=MINUTES_BETWEEN_TURNS)


def _question(entry: dict[str, Any]) -> Question:
    asked = entry["ask"]
    texts = [part for part in asked if isinstance(part, str)]
    photos = [part for part in asked if isinstance(part, dict)]
    shown = " ".join([*texts, *(f"[{_name(photo)}: {entry['note']}]" for photo in photos)])
    kind = "text and image" if texts and photos else "image" if photos else "text"
    return Question([_part(part) for part in asked] if photos else texts[0], shown, kind, entry["expect"])


def _part(entry: str | dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": entry} if isinstance(entry, str) else image_part(_photo_url(entry))


def _name(entry: dict[str, Any]) -> str:
    return Path(entry["photo"]).name


def _photo_url(entry: dict[str, Any]) -> str:
    """The photo's own file, or with `crop` (left, top, right, bottom; 0 to 1) an altered copy of it as JPEG."""
    package, _, path = entry["photo"].partition("/")
    data = files(package).joinpath(*path.split("/")).read_bytes()
    if "crop" not in entry:
        return data_url(data, "jpeg" if path.endswith(".jpg") else "png")
    image = Image.open(io.BytesIO(data)).convert("RGB")
    left, top, right, bottom = entry["crop"]
    image = image.crop(
        (int(left * image.width), int(top * image.height), int(right * image.width), int(bottom * image.height))
    )
    image = image.resize((entry["width"], round(entry["width"] * image.height / image.width)))
    copy = io.BytesIO()
    image.save(copy, "JPEG", quality=entry["quality"])
    return data_url(copy.getvalue(), "jpeg")
