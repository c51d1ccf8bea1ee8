"""The file, folder or zip archive that an export is. What it holds may be hostile: nothing outside it is read, and nothing without a bound."""

from __future__ import annotations

import json
import lzma
import os
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

from mmmem.errors import InvalidInput

MOST_FILES = 200_000
MOST_JSON = 512 * 1024 * 1024  # bytes of a file of conversations
MOST_PICTURE = 64 * 1024 * 1024  # bytes of a picture
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".heic", ".heif")

# All that zipfile raises for what it cannot unpack: RuntimeError where it is encrypted, NotImplementedError where a method is unknown.
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, NotImplementedError, ValueError)


class Export:
    """A folder, or a file with what lies beside it. Raises InvalidInput and OSError, as all its methods do."""

    def __init__(self, path: Path) -> None:
        self.title = path.stem
        path = path.resolve()
        self._root = path if path.is_dir() else path.parent
        self._alone = None if path.is_dir() else path.name

    def chats(self) -> list[str]:
        """The names of files that may hold conversations: the one that was given, or all of the folder."""
        return self.names() if self._alone is None else [self._alone]

    def names(self) -> list[str]:
        """Its files, by their paths from its root, sorted."""
        found: list[str] = []
        for folder, _, files in os.walk(self._root):
            found += ((Path(folder) / name).relative_to(self._root).as_posix() for name in files)
            if len(found) > MOST_FILES:
                raise InvalidInput(self.title, f"holds more than {MOST_FILES:,} files")
        return sorted(found)

    def read(self, name: str, most: int) -> bytes | None:
        """A file of at most so many bytes; None where there is none in here, or a larger one."""
        try:
            path = (self._root / name).resolve()
            if not path.is_relative_to(self._root) or not path.is_file():
                return None
            with path.open("rb") as file:
                data = file.read(most + 1)
        except (ValueError, OSError):  # a name that no file can have
            return None
        return data if len(data) <= most else None

    def picture(self, name: str) -> bytes | None:
        """The same of a picture."""
        return self.read(name, MOST_PICTURE)

    def text(self, name: str) -> bytes:
        """The same of a file of conversations, which must be there."""
        data = self.read(name, MOST_JSON)
        if data is None:
            raise InvalidInput(name, f"cannot be read, or is larger than {MOST_JSON:,} bytes")
        return data

    def json(self, name: str) -> Any:
        """A file of conversations as JSON."""
        try:
            return json.loads(self.text(name))
        except (ValueError, RecursionError):
            raise InvalidInput(name, "is no JSON, or damaged") from None


class Archive(Export):
    """A zip archive."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except _DAMAGED:
            raise InvalidInput(path.name, "is no zip archive, or damaged") from None
        self._alone = None

    def names(self) -> list[str]:
        """See Export."""
        names = self._zip.namelist()
        if len(names) > MOST_FILES:
            raise InvalidInput(self.title, f"holds more than {MOST_FILES:,} files")
        return sorted(name for name in names if not name.endswith("/"))

    def read(self, name: str, most: int) -> bytes | None:
        """See Export. No more than `most` bytes are unpacked, whatever the archive says of their number."""
        try:
            with self._zip.open(PurePosixPath(name).as_posix()) as file:
                data = file.read(most + 1)
        except (KeyError, OSError, *_DAMAGED):
            return None
        return data if len(data) <= most else None


def opened(path: Path) -> Export:
    """What a path names. Raises InvalidInput for an archive that is damaged, OSError."""
    if path.is_dir():
        return Export(path)
    with path.open("rb") as file:
        return Archive(path) if file.read(4) == b"PK\x03\x04" else Export(path)
