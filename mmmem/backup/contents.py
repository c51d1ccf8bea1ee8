"""What is kept of a request as a line of a backup, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmmem.backup.lines import (
    ImageLine,
    MemoryLine,
    PictureVectors,
    RequestLine,
    TextLine,
    Url,
    Vectors,
)
from mmmem.types import ImageEncoding, ImagePart, ImageVectors, Memory, TextEncoding, TextPart

if TYPE_CHECKING:
    from mmmem.store import Dimensions, StoredRequest
    from mmmem.types import EncodedMemory, Part

MOST_VECTORS = 192 * 1024 * 1024  # bytes in one line; an import encodes the texts and images of a longer one anew


def to_line(request: StoredRequest, *, vectors: bool) -> RequestLine:
    """A request's line, with what is searched of its memories or without. Raises ValidationError for what cannot be imported."""
    vectors = vectors and sum(map(_token_bytes, request.memories)) <= MOST_VECTORS
    return RequestLine(
        user_id=request.user_id,
        request_id=request.request_id,
        body_hash=request.body_hash,
        memories=[_memory_line(encoded, vectors=vectors) for encoded in request.memories],
    )


def memory_of(line: MemoryLine) -> Memory:
    """The memory that a line describes."""
    return Memory(
        id=line.id,
        session_id=line.session_id,
        role=line.role,
        parts=tuple(TextPart(part.text) if isinstance(part, TextLine) else part.image_url.url for part in line.content),
        timestamp=line.timestamp,
        created_at=line.created_at,
        position=line.position,
        piece=line.piece,
    )


def vectors_of(line: Vectors, widths: Dimensions) -> tuple[TextEncoding, tuple[ImageEncoding, ...]]:
    """A memory's vectors, and its images'; those of tokens have the width of the store's where there are none."""
    count = len(line.token_ids)
    tokens = line.tokens.reshape(count, -1 if count else widths.token)
    return TextEncoding(line.dense, tokens, line.token_ids), tuple(map(_picture, line.images))


def _token_bytes(encoded: EncodedMemory) -> int:
    return encoded.text.tokens.nbytes + encoded.text.token_ids.nbytes


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
    return ImageLine(image_url=Url(url=part)) if isinstance(part, ImagePart) else TextLine(text=part.text)


def _vectors_line(encoded: EncodedMemory) -> Vectors:
    return Vectors(
        dense=encoded.text.dense,
        tokens=encoded.text.tokens,
        token_ids=encoded.text.token_ids,
        images=[
            PictureVectors(
                vector=image.vectors.vector,
                appearance=image.vectors.appearance,
                fingerprint=image.fingerprint,
                colours=image.colours,
                labels=list(image.vectors.labels),
                text=image.text,
            )
            for image in encoded.images
        ],
    )


def _picture(line: PictureVectors) -> ImageEncoding:
    seen = ImageVectors(line.vector, line.appearance, tuple(line.labels))
    return ImageEncoding(seen, line.fingerprint, line.colours, line.text)
