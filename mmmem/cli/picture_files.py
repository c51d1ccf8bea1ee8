"""The pictures of a memory: written to files, and described in a few words."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING

from PIL import Image

from mmmem.cli.ending import stop

if TYPE_CHECKING:
    from pathlib import Path

    from mmmem.library.results import FoundMemory, ImageFile, StoredMemory

_TYPES = {"jpeg": "jpg", "svg+xml": "svg", "x-icon": "ico", "vnd.microsoft.icon": "ico"}
_MOST = 100  # characters of a file's name


def saved(memory: FoundMemory | StoredMemory, folder: Path | None) -> list[Path]:
    """Write a memory's pictures into a folder, where there is one to write to: the files. What is there is never replaced."""
    if folder is None:
        return []
    # A service's answer names no other folder.
    name = re.sub(r"[^A-Za-z0-9_-]", "_", memory.id)[:_MOST]
    files = []
    for number, picture in enumerate(memory.image_files, start=1):
        file = folder / f"{name}-{number}.{_type(picture)}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write(file, picture.data)
        except OSError as error:
            stop(f"--save {file}: {error.strerror or 'cannot be written'}")
        files.append(file)
    return files


def described(picture: ImageFile) -> str:
    """``PNG, 640×480, 34.0 kB``; what Pillow cannot read by itself has no more than its type and size."""
    size = f"{len(picture.data) / 1000:,.1f} kB"
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(picture.data)) as image:
            return f"{image.format}, {image.width}×{image.height}, {size}"
    except Exception:  # a picture of any kind, which is only described here
        return f"{picture.media_type or 'a picture'}, {size}"


def _type(picture: ImageFile) -> str:
    kind = picture.media_type.lower().removeprefix("image/")
    kind = _TYPES.get(kind, kind)
    return kind if re.fullmatch("[a-z0-9]{1,10}", kind) else "bin"


def _write(file: Path, data: bytes) -> None:
    try:
        with file.open("xb") as new:
            new.write(data)
    except FileExistsError:
        if not file.is_file() or file.read_bytes() != data:
            raise
