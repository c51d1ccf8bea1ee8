"""The lines of a backup: a header, one line a request, and an end. Each is JSON, and ends with a checksum.

A checksum is the SHA-256 of the one before (nothing, for the first line) and of the line up to its own, both as they stand
in the file: a line that was altered, is missing or is there twice is noticed where it is.

Text is a JSON string, or its bytes in Base64 where it is not well-formed Unicode: what was stored comes back to the byte.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from mmmem.backup.fields import (
    Count,
    Hash,
    Image,
    MemoryId,
    Moment,
    Name,
    Octets,
    Place,
    Text,
    TokenIds,
    Tokens,
    Vector,
)

VERSION = 1
HEADER, REQUEST, END = b'{"mmmem_backup":', b'{"request":', b'{"end":'
SEAL = b',"sha256":"'
CLOSE = b'"}\n'


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class AnyHeader(BaseModel):
    """The first line of any version."""

    model_config = ConfigDict(extra="ignore", strict=True, hide_input_in_errors=True)

    version: int


class Header(_Line):
    """The first line. models: what the vectors are of, by role."""

    version: int
    models: dict[str, str]


class TextLine(_Line):
    """A text part, as the API takes it."""

    type: Literal["text"] = "text"
    text: Text


class Url(_Line):
    """An image, in its own URL."""

    url: Image


class ImageLine(_Line):
    """An image part, as the API takes it."""

    type: Literal["image_url"] = "image_url"
    image_url: Url


def _kind(value: object) -> str:
    is_image = value.get("type") == "image_url" if isinstance(value, dict) else isinstance(value, ImageLine)
    return "<image>" if is_image else "<text>"


# Pydantic's errors name the tags too; no field is spelt like them.
PartLine = Annotated[Annotated[TextLine, Tag("<text>")] | Annotated[ImageLine, Tag("<image>")], Discriminator(_kind)]


class PictureVectors(_Line):
    """What is searched of one image."""

    vector: Vector
    appearance: Vector
    fingerprint: Octets
    colours: Octets
    labels: list[str]
    text: str


class Vectors(_Line):
    """What is searched of one memory."""

    dense: Vector
    tokens: Tokens
    token_ids: TokenIds
    images: list[PictureVectors]

    @model_validator(mode="after")
    def _has_a_row_for_each_token(self) -> Self:
        count = len(self.token_ids)
        if len(self.tokens) % count if count else len(self.tokens):
            raise ValueError("must have as many token vectors as token ids")
        return self


class MemoryLine(_Line):
    """One memory."""

    id: MemoryId
    session_id: Name
    role: Name
    timestamp: Moment | None = None
    created_at: Moment
    position: Place
    piece: Place
    content: list[PartLine]
    vectors: Vectors | None = None

    @property
    def images(self) -> int:
        """How many there are."""
        return sum(isinstance(part, ImageLine) for part in self.content)

    @model_validator(mode="after")
    def _says_or_shows_something(self) -> Self:
        if not self.images and not any(part.text for part in self.content if isinstance(part, TextLine)):
            raise ValueError("must hold text or an image")
        if self.vectors and len(self.vectors.images) != self.images:
            raise ValueError("must have the vectors of as many images as it has")
        return self


class RequestLine(_Line):
    """All that is kept of one Add. body_hash: what a retry is told from another body by."""

    user_id: Name
    request_id: Name
    body_hash: Hash
    memories: list[MemoryLine] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_of_one_add(self) -> Self:
        if len({memory.session_id for memory in self.memories}) > 1:
            raise ValueError("memories: must be of one session")
        if len({memory.id for memory in self.memories}) < len(self.memories):
            raise ValueError("memories: must not have an id of another one")
        return self


class End(_Line):
    """The last line: how much there is before it. left_out: users that could not be read, or not to their end; None for none."""

    users: Count
    requests: Count
    memories: Count
    images: Count
    left_out: Count | None = None


def checksum(before: bytes, body: bytes | bytearray) -> bytes:
    """Hexadecimal: of a line up to its own checksum, after the line with the checksum `before`."""
    digest = hashlib.sha256(before)
    digest.update(body)
    return digest.hexdigest().encode()
