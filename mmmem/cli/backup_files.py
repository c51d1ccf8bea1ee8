"""The file of a backup: a name on disk, standard input or output, a pipe or a device; compressed or not."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from _typeshed import WriteableBuffer

STANDARD = Path("-")
_GZIP = b"\x1f\x8b"


def is_stream(file: Path) -> bool:
    """Whether it can be read only once."""
    return file == STANDARD or (file.exists() and not file.is_file() and not file.is_dir())


@contextmanager
def opened(file: Path) -> Iterator[BinaryIO]:
    """A file's lines, whether compressed or not. Raises OSError."""
    with _standard_input() if file == STANDARD else file.open("rb") as raw:
        start = raw.read(len(_GZIP))
        source = io.BufferedReader(_Rejoined(start, raw))
        yield cast("BinaryIO", gzip.GzipFile(fileobj=source) if start == _GZIP else source)


@contextmanager
def written(file: Path) -> Iterator[BinaryIO]:
    """A file on disk takes its name, and the place of what had it, once it is whole and synced. For its owner alone to read.

    A pipe or a device is written to as it comes. Raises OSError.
    """
    target = Path(os.path.realpath(file))
    if file == STANDARD:
        with _standard_output() as output:
            yield output
    elif target.exists() and not target.is_file():
        with target.open("wb") as device, _compressed(file, device) as output:
            yield output
    else:
        with _renamed(target) as raw, _compressed(file, raw) as output:
            yield output


@contextmanager
def _renamed(target: Path) -> Iterator[BinaryIO]:
    """Under a name of its own until it ends well; else it is removed."""
    number, name = tempfile.mkstemp(".part", ".mmmem-export-", target.parent)
    try:
        with os.fdopen(number, "wb") as raw:
            yield raw
            raw.flush()
            os.fsync(number)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _compressed(file: Path, raw: BinaryIO) -> AbstractContextManager[BinaryIO]:
    if file.suffix == ".gz":
        return cast("AbstractContextManager[BinaryIO]", gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
    return nullcontext(raw)


def _standard_input() -> AbstractContextManager[BinaryIO]:
    if sys.stdin is None:
        raise OSError(0, "standard input is closed")
    return nullcontext(sys.stdin.buffer)


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    if sys.stdout is None:
        raise OSError(0, "standard output is closed")
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError:  # and what is still to be written would be tried again at the end of the process
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        raise


class _Rejoined(io.RawIOBase):
    """A file whose start was read already."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start = start
        self._rest = rest

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """See RawIOBase."""
        view = memoryview(buffer)
        data = self._start[: len(view)] or self._rest.read1(len(view))  # type: ignore[attr-defined]  # what is there
        self._start = self._start[len(view) :]
        view[: len(data)] = data
        return len(data)
