"""What is kept of a request as a line of a backup, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.backup.lines import (
    ImageLine,
    MemoryLine,
    PictureVectors,
    RequestLine,
    TextLine,
    Url,
    Vectors,
    read_base64,
    write_base64,
)
from mmmem.types import ImageEncoding, ImagePart, ImageVectors, Memory, TextEncoding, TextPart

if TYPE_CHECKING:
    from mmmem.store import Dimensions, StoredRequest
    from mmmem.types import EncodedMemory, Part


def to_line(request: StoredRequest, *, vectors: bool) -> RequestLine:
    """A request's line, with what is searched of its memories or without."""
    return RequestLine(
        user_id=request.user_id,
        request_id=request.request_id,
        body_hash=request.body_hash,
        memories=[_memory_line(encoded, vectors=vectors) for encoded in request.memories],
    )


def memory_of(line: MemoryLine) -> Memory:
    """The memory that a line describes. Raises ValueError for an image that is no data: URL in Base64."""
    return Memory(
        id=line.id,
        session_id=line.session_id,
        role=line.role,
        parts=tuple(_part(part) for part in line.content),
        timestamp=line.timestamp,
        created_at=line.created_at,
        position=line.position,
        piece=line.piece,
    )


def vectors_of(line: Vectors, widths: Dimensions) -> tuple[TextEncoding, tuple[ImageEncoding, ...]]:
    """A memory's vectors, and its images'. Raises ValueError when they do not have these widths."""
    text = TextEncoding(
        np.frombuffer(line.dense, "<f4"),
        np.frombuffer(line.tokens, np.int8).reshape(-1, widths.token),
        np.frombuffer(line.token_ids, "<i4"),
    )
    return text, tuple(_picture(picture) for picture in line.images)


def _memory_line(encoded: EncodedMemory, *, vectors: bool) -> MemoryLine:
    memory = encoded.memory
    return MemoryLine(
        id=memory.id,
        session_id=memory.session_id,
        role=memory.role,
        timestamp=memory.timestamp,
        created_at=memory.created_at,
        position=memory.position,
        piece=memory.piece,
        content=[_part_line(part) for part in memory.parts],
        vectors=_vectors_line(encoded) if vectors else None,
    )


def _part_line(part: Part) -> TextLine | ImageLine:
    if isinstance(part, ImagePart):
        return ImageLine(image_url=Url(url=f"{part.header},{write_base64(part.data)}"))
    return TextLine(text=part.text)


def _part(line: TextLine | ImageLine) -> Part:
    if isinstance(line, TextLine):
        return TextPart(line.text)
    header, comma, data = line.image_url.url.rpartition(",")  # Base64 has no comma
    if not comma:
        raise ValueError("an image is no data: URL")
    return ImagePart(header, read_base64(data))


def _vectors_line(encoded: EncodedMemory) -> Vectors:
    return Vectors(
        dense=encoded.text.dense.astype("<f4").tobytes(),
        tokens=encoded.text.tokens.tobytes(),
        token_ids=encoded.text.token_ids.astype("<i4").tobytes(),
        images=[
            PictureVectors(
                vector=image.vectors.vector.astype("<f4").tobytes(),
                appearance=image.vectors.appearance.astype("<f4").tobytes(),
                fingerprint=image.fingerprint.tobytes(),
                colours=image.colours.tobytes(),
                labels=list(image.vectors.labels),
                text=image.text,
            )
            for image in encoded.images
        ],
    )


def _picture(line: PictureVectors) -> ImageEncoding:
    return ImageEncoding(
        ImageVectors(np.frombuffer(line.vector, "<f4"), np.frombuffer(line.appearance, "<f4"), tuple(line.labels)),
        np.frombuffer(line.fingerprint, np.uint8),
        np.frombuffer(line.colours, np.uint8),
        line.text,
    )
