"""A backup as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from mmmem.backup.lines import CLOSE, SEAL, checksum

if TYPE_CHECKING:
    from pydantic import BaseModel


class Writer:
    """Writes a backup, a line at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._checksum = b""

    def write(self, kind: bytes, value: BaseModel) -> None:
        """Raises OSError."""
        body = kind + value.model_dump_json(exclude_none=True).encode()
        self._checksum = checksum(self._checksum, body)
        self._file.writelines((body, SEAL, self._checksum, CLOSE))
