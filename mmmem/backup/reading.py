"""A backup as it is read: line by line, each whole, of this format, and in a place where it can be."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from mmmem.backup.lines import CLOSE, END, HEADER, REQUEST, SEAL, VERSION, AnyHeader, End, Header, RequestLine, checksum
from mmmem.backup.order import Before
from mmmem.backup.problems import problem
from mmmem.errors import InvalidBackup
from mmmem.settings.requests import Requests

if TYPE_CHECKING:
    from mmmem.backup.counts import Counts
    from mmmem.settings import Settings

_SEAL_LENGTH = len(SEAL) + 64 + len(CLOSE)
_CHUNK = 1024 * 1024
_SHORT_LINE = 1024 * 1024  # bytes of a header or an end, at most

Model = TypeVar("Model", bound=BaseModel)


class Bounds(NamedTuple):
    """What a line may have at most: bytes, and commas and brackets, which bound what it is parsed into."""

    nbytes: int
    marks: int


def bounds(settings: Settings | None = None) -> Bounds:
    """For the largest request that these settings allow, or the default ones where those allow more.

    A line has what the request's body had, ids again for every memory, and vectors of at most contents.MOST_VECTORS.
    """
    default = Requests()
    given = settings or default
    return Bounds(
        8 * max(given.max_request_bytes, default.max_request_bytes),
        2 * max(given.max_json_values, default.max_json_values),
    )


class Reader:
    """Reads a backup. Raises InvalidBackup with the number of the first line that is not what it must be.

    left_out: users that are missing from it, in whole or in part, as its end says; known once all is read.
    """

    def __init__(self, file: BinaryIO, most: Bounds | None = None) -> None:
        self._file = file
        self._most = most or bounds()
        self._number = 0
        self._checksum = b""
        self.left_out = 0
        body = self._next()
        if not body.startswith(HEADER):
            raise self._wrong("is not the first line of a backup of mmmem's")
        del body[: len(HEADER)]
        version = self._parsed(AnyHeader, body).version
        if version > VERSION:
            raise self._wrong(f"is of a newer version, this mmmem reads {VERSION}: update mmmem")
        if version < VERSION:
            raise self._wrong("is of a version that there never was")
        self.header = self._parsed(Header, body)

    def check(self) -> int:
        """Read to the end all that an import would: the length of all requests in bytes."""
        return sum(length for _, length, _ in self.requests())

    def requests(self) -> Iterator[tuple[int, int, RequestLine]]:
        """The number, the length in bytes and the content of every line of a request."""
        before = Before()
        while request := self._request(self._next(), before):
            yield self._number, *request

    def _request(self, body: bytearray, before: Before) -> tuple[int, RequestLine] | None:
        """The length and the content of a line; None for the end."""
        length = len(body)
        if body.startswith(END):
            self._end(body, before.counts)
            return None
        if not body.startswith(REQUEST):
            raise self._wrong("is neither a request nor the end")
        del body[: len(REQUEST)]
        line = self._parsed(RequestLine, body)
        wrong = before.follow(line)
        if wrong:
            raise self._wrong(wrong)
        return length, line

    def _end(self, body: bytearray, counts: Counts) -> None:
        del body[: len(END)]
        end = self._parsed(End, body)
        counted = (counts.users, counts.requests, counts.memories, counts.images)
        if (end.users, end.requests, end.memories, end.images) != counted:
            raise self._wrong("counts other users, requests, memories or images than there are before it")
        self._number += 1
        if self._read(1):
            raise self._wrong("comes after the end")
        self.left_out = end.left_out or 0

    def _next(self) -> bytearray:
        """The next line, without its checksum."""
        self._number += 1
        line = bytearray()
        while not line.endswith(b"\n"):
            chunk = self._read(_CHUNK)
            if not chunk:
                raise self._wrong("is cut short, or missing: the file is not whole")
            line += chunk
            self._check_length(line)
        if line.endswith(b"\r\n"):
            raise self._wrong("ends with a carriage return: the file was not copied byte for byte")
        seal = bytes(line[-_SEAL_LENGTH:])
        del line[-_SEAL_LENGTH:]
        self._checksum = checksum(self._checksum, line)
        if seal != SEAL + self._checksum + CLOSE:
            raise self._wrong("is not what was written there: its checksum is another one")
        return line

    def _check_length(self, line: bytearray) -> None:
        if len(line) > _SHORT_LINE and not line.startswith(REQUEST):
            raise self._wrong("is longer than a first or last line can be: the file is damaged, or none of mmmem's")
        if len(line) > self._most.nbytes:
            raise self._wrong(
                f"is longer than {self._most.nbytes:,} bytes; "
                "if mmmem wrote it, import it with a higher MMMEM_MAX_REQUEST_BYTES, of which that is the eightfold"
            )

    def _read(self, size: int) -> bytes:
        """The rest of a line, or so much of it."""
        try:
            return self._file.readline(size)
        except (EOFError, OSError, zlib.error):
            raise self._wrong("cannot be read: the file is damaged, or not whole") from None

    def _parsed(self, model: type[Model], body: bytearray) -> Model:
        if sum(body.count(mark) for mark in (b",", b"[", b"{")) > self._most.marks:
            raise self._wrong(
                f"has more than {self._most.marks:,} commas and brackets; "
                "if mmmem wrote it, import it with a higher MMMEM_MAX_JSON_VALUES, of which that is the double"
            )
        try:
            return model.model_validate_json(body)
        except ValidationError as error:
            raise self._wrong(f"is not of this format: {problem(error)}") from None

    def _wrong(self, what: str) -> InvalidBackup:
        return InvalidBackup(self._number, what)
