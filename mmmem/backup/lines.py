"""The lines of a backup: a header, one line a request, and an end. Each is JSON, and ends with a checksum.

A checksum is the SHA-256 of the one before (nothing, for the first line) and of the line up to its own, both as they stand
in the file: a line that was altered, is missing or is there twice is noticed where it is.

Text is a JSON string, or its bytes in Base64 where it is not well-formed Unicode: what was stored comes back to the byte.
"""

from __future__ import annotations

import binascii
import hashlib
import zlib
from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, ValidationError

from mmmem.errors import InvalidBackup
from mmmem.store.rows import to_bytes, to_text

VERSION = 1
HEADER, REQUEST, END = b'{"mmmem_backup":', b'{"request":', b'{"end":'
_SEAL = b',"sha256":"'
_CLOSE = b'"}\n'
_SEAL_LENGTH = len(_SEAL) + 64 + len(_CLOSE)
_LONGEST = 2**31  # bytes of a line; a file that is none of ours may have no ends of lines

Model = TypeVar("Model", bound=BaseModel)


def read_base64(value: object) -> bytes:
    """Raises ValueError for anything but standard Base64, or the bytes themselves."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return binascii.a2b_base64(value, strict_mode=True)
    raise ValueError("must be Base64")


def write_base64(value: bytes) -> str:
    """Standard Base64, on one line."""
    return binascii.b2a_base64(value, newline=False).decode("ascii")


def _read_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() == {"base64"}:
        return to_text(read_base64(value["base64"]))
    raise ValueError("must be text")


def _write_text(value: str) -> str | dict[str, str]:
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"base64": write_base64(to_bytes(value))}
    return value


Text = Annotated[str, PlainValidator(_read_text), PlainSerializer(_write_text)]
Bytes = Annotated[bytes, PlainValidator(read_base64), PlainSerializer(write_base64)]
Milliseconds = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Place = Annotated[int, Field(ge=0, lt=2**31)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class Header(_Line):
    """The first line. models: what the vectors are of, by role."""

    version: int
    models: dict[str, str]


class TextLine(_Line):
    """A text part, as the API takes it."""

    type: Literal["text"] = "text"
    text: Text


class Url(_Line):
    """Where an image is: in its own URL."""

    url: Text


class ImageLine(_Line):
    """An image part, as the API takes it."""

    type: Literal["image_url"] = "image_url"
    image_url: Url


class PictureVectors(_Line):
    """What is searched of one image; arrays little-endian."""

    vector: Bytes
    appearance: Bytes
    fingerprint: Bytes
    colours: Bytes
    labels: list[str]
    text: str


class Vectors(_Line):
    """What is searched of one memory; arrays little-endian."""

    dense: Bytes
    tokens: Bytes
    token_ids: Bytes
    images: list[PictureVectors]


class MemoryLine(_Line):
    """One memory."""

    id: Text
    session_id: Text
    role: Text
    timestamp: Milliseconds | None = None
    created_at: Milliseconds
    position: Place
    piece: Place
    content: list[Annotated[TextLine | ImageLine, Field(discriminator="type")]]
    vectors: Vectors | None = None


class RequestLine(_Line):
    """All that is kept of one Add. body_hash: what a retry is told from another body by."""

    user_id: Text
    request_id: Text
    body_hash: Bytes
    memories: list[MemoryLine] = Field(min_length=1)


class End(_Line):
    """The last line: how much there is before it."""

    users: int
    requests: int
    memories: int
    images: int


class Writer:
    """Writes a backup, a line at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._checksum = b""

    def write(self, kind: bytes, value: BaseModel) -> None:
        """Raises OSError."""
        body = kind + value.model_dump_json(exclude_none=True).encode()
        self._checksum = _checksum(self._checksum, body)
        self._file.writelines((body, _SEAL, self._checksum, _CLOSE))


class Reader:
    """Reads a backup. Raises InvalidBackup with the number of the first line that is not what it must be."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._number = 0
        self._checksum = b""
        body = self._next()
        if not body.startswith(HEADER):
            raise self._wrong("is not the first line of a backup of mmmem's")
        self.header = self._parsed(Header, body, HEADER)
        if self.header.version > VERSION:
            raise self._wrong(f"is of version {self.header.version}, this mmmem reads {VERSION}: update mmmem")

    def check(self) -> int:
        """Read to the end: the length of all requests in bytes. Every line must be whole, and none be missing."""
        return sum(map(len, self._bodies()))

    def requests(self) -> Iterator[tuple[int, int, RequestLine]]:
        """The number, the length in bytes and the content of every line of a request."""
        for body in self._bodies():
            yield self._number, len(body), self._parsed(RequestLine, body, REQUEST)

    def _bodies(self) -> Iterator[bytes]:
        requests = 0
        while not (body := self._next()).startswith(END):
            if not body.startswith(REQUEST):
                raise self._wrong("is neither a request nor the end")
            requests += 1
            yield body
        if self._parsed(End, body, END).requests != requests:
            raise self._wrong("counts other requests than there are before it")
        if self._read():
            raise self._wrong("comes after the end")

    def _next(self) -> bytes:
        """The next line, without its checksum."""
        raw = self._read()
        if not raw.endswith(b"\n"):
            raise self._wrong("is cut short, or missing: the file is not whole")
        body, seal = raw[:-_SEAL_LENGTH], raw[-_SEAL_LENGTH:]
        self._checksum = _checksum(self._checksum, body)
        if seal != _SEAL + self._checksum + _CLOSE:
            raise self._wrong("is not what was written there: its checksum is another one")
        return body

    def _read(self) -> bytes:
        self._number += 1
        try:
            return self._file.readline(_LONGEST)
        except (EOFError, OSError, zlib.error):
            raise self._wrong("cannot be read: the file is damaged, or not whole") from None

    def _parsed(self, model: type[Model], body: bytes, kind: bytes) -> Model:
        try:
            return model.model_validate_json(body.removeprefix(kind))
        except ValidationError as error:
            first: Any = error.errors(include_url=False, include_input=False, include_context=False)[0]
            field = ".".join(str(step) for step in first["loc"])
            raise self._wrong(f"is not of this format: {field} {first['msg']}") from None

    def _wrong(self, problem: str) -> InvalidBackup:
        return InvalidBackup(self._number, problem)


def _checksum(before: bytes, body: bytes) -> bytes:
    checksum = hashlib.sha256(before)
    checksum.update(body)
    return checksum.hexdigest().encode()
