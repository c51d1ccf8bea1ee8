"""An Add on its way in: messages become memories, memories become encoded rows."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from mmmem.dates import event_windows
from mmmem.meter import NO_METER, Meter
from mmmem.store import StoredRequest
from mmmem.terms import hashed, terms
from mmmem.texts import says, split_parts, well_formed
from mmmem.types import AddRequest, EncodedMemory, ImagePart, Memory, Message, TextPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mmmem.encoders import TextEncoder
    from mmmem.pictures import PictureEncoder
    from mmmem.settings import Settings
    from mmmem.types import ImageEncoding, Part, TextEncoding


class Ingest:
    """Turns a request into what the store keeps. Nothing of it is stored before all of it is encoded."""

    def __init__(
        self, settings: Settings, text: TextEncoder, pictures: PictureEncoder, meter: Meter = NO_METER
    ) -> None:
        self._settings = settings
        self._text = text
        self._pictures = pictures
        self._meter = meter

    def encode(self, request: AddRequest, previous: Memory | None, received_at: int) -> StoredRequest:
        """Encode a request. `previous` is the session's newest memory so far that says something; `received_at` is in Unix ms.

        Raises InvalidImage or TooLarge for the first image that cannot be read, and ModelUnavailable.
        """
        memories = list(self._memories(request, received_at))
        images = _images("messages", (message.parts for message in request.messages))
        encoded = self._encode(memories, images, previous.text if previous else "")
        return StoredRequest(request.user_id, request.request_id, body_hash(request), encoded)

    def encode_again(self, memories: Sequence[Memory], before: str) -> tuple[EncodedMemory, ...]:
        """Encode one request's memories that were kept before, by whatever models. `before`: what was last said in the session.

        Raises as `encode` does.
        """
        return self._encode(memories, _images("memories", (memory.parts for memory in memories)), before)

    def _encode(
        self, memories: Sequence[Memory], images: Iterator[tuple[str, ImagePart]], before: str
    ) -> tuple[EncodedMemory, ...]:
        """`images` are (field, part), in the order of the memories."""
        with self._meter.stage("add", "images"):
            shown = iter(self._pictures.encode(self._pictures.prepare(images)))
        encodings = [tuple(next(shown) for part in memory.parts if isinstance(part, ImagePart)) for memory in memories]
        texts = [searchable_text(memory, shown) for memory, shown in zip(memories, encodings, strict=True)]
        said = list(accumulate((memory.text for memory in memories), last_said, initial=before))[:-1]
        limit = self._settings.previous_chars
        ends = [well_formed(text[-limit:]) if limit else "" for text in said]  # a turn that asks, asks at its end
        with self._meter.stage("add", "text"):
            encoded = self._text.encode_memories(texts, ends)
        return tuple(map(remembered, memories, encoded, encodings))

    def _memories(self, request: AddRequest, received_at: int) -> Iterator[Memory]:
        for position, message in merged(request.messages, self._settings.min_memory_chars):
            for piece, parts in enumerate(split_parts(message.parts, self._settings.memory_chars)):
                yield Memory(
                    id=memory_id(request, position, piece),
                    session_id=request.session_id,
                    role=message.role,
                    parts=parts,
                    timestamp=message.timestamp,
                    created_at=received_at if message.timestamp is None else message.timestamp,
                    position=position,
                    piece=piece,
                )


def merged(messages: Sequence[Message], least: int) -> Iterator[tuple[int, Message]]:
    """Messages with their positions; one with fewer than `least` characters is joined with the next one of the same role.

    Joined ones have the position and the time of the first, and the parts of all in order.
    """
    waiting: tuple[int, Message] | None = None
    for position, message in enumerate(messages):
        if waiting and waiting[1].role != message.role:
            yield waiting
            waiting = None
        first, start = waiting or (position, message)
        joined = replace(start, parts=start.parts + message.parts) if waiting else message
        waiting = (first, joined)
        if sum(len(part.text) for part in joined.parts if isinstance(part, TextPart)) >= least:
            yield waiting
            waiting = None
    if waiting:
        yield waiting


def _images(name: str, contents: Iterable[Sequence[Part]]) -> Iterator[tuple[str, ImagePart]]:
    """Every image, in order, with the name of its field."""
    for place, parts in enumerate(contents):
        for number, part in enumerate(parts):
            if isinstance(part, ImagePart):
                yield f"{name}.{place}.content.{number}.image_url.url", part


def last_said(last: str, text: str) -> str:
    """What was last said once a memory of this text came: pictures alone say nothing."""
    return text if says(text) else last


def remembered(memory: Memory, encoding: TextEncoding, images: tuple[ImageEncoding, ...]) -> EncodedMemory:
    """A memory with its vectors, and all that follows from its text and theirs."""
    words = hashed(terms(searchable_text(memory, images)))
    events = np.array(event_windows(memory.text, memory.created_at), dtype=np.int64).reshape(-1, 2)
    return EncodedMemory(memory, encoding, words, content_key(memory), events, images)


def content_key(memory: Memory) -> int:
    """64 bits of what a memory says and shows, and whose role it is: not of capitals, blanks and how a statement ends."""
    said = " ".join(memory.text.casefold().split()).rstrip(" .!…。！")
    digest = hashlib.blake2b(_utf8(said), digest_size=8, key=hashlib.sha256(_utf8(memory.role)).digest())
    for part in memory.parts:
        if isinstance(part, ImagePart):
            digest.update(hashlib.sha256(part.data).digest())
    return int.from_bytes(digest.digest(), "little", signed=True)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def searchable_text(memory: Memory, images: tuple[ImageEncoding, ...]) -> str:
    """What the text channels see of a memory: its text, what its pictures seem to show, and what is written in them."""
    labels = ", ".join(label for image in images for label in image.vectors.labels)
    return well_formed("\n".join(line for line in (memory.text, labels, *(image.text for image in images)) if line))


def memory_id(request: AddRequest, position: int, piece: int) -> str:
    """The same for a retry of the same request, different for everything else."""
    name = json.dumps([request.user_id, request.request_id, position, piece]).encode()
    return "mem_" + hashlib.blake2b(name, digest_size=16).hexdigest()


def body_hash(request: AddRequest) -> bytes:
    """SHA-256 of what the request says: session, roles, times and parts; how its JSON was written does not matter."""
    digest = hashlib.sha256()
    for field in _fields(request):
        digest.update(len(field).to_bytes(8, "little"))  # so that no field can run into the next
        digest.update(field)
    return digest.digest()


def _fields(request: AddRequest) -> Iterator[bytes]:
    yield _utf8(request.session_id)
    for message in request.messages:
        yield from _message_fields(message)


def _message_fields(message: Message) -> Iterator[bytes]:
    yield b"message"
    yield _utf8(message.role)
    yield repr(message.timestamp).encode()
    for part in message.parts:
        if isinstance(part, TextPart):
            yield b"text"
            yield _utf8(part.text)
        else:
            yield b"image"
            yield _utf8(part.header)
            yield part.data
