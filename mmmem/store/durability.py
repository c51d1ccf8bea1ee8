"""What LanceDB leaves to others: fsync, and a commit that a power cut tore.

A commit is acknowledged after everything it wrote is synced, so what cannot be read after a power cut was never
acknowledged, and it can only be the newest commit: a table has one writer at a time, which syncs before the next.
"""

from __future__ import annotations

import logging
import os
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mmmem.errors import StoreUnavailable

logger = logging.getLogger(__name__)

Synced = frozenset[tuple[str, int]]
"""Files and folders known to be on disk: path and inode number, because some names are written again."""

Stamp = tuple[str, int, int]
"""What tells one commit from every other: the manifest's name, which is the version's, and which file it is (inode, ctime in ns)."""

_VERSIONS = "_versions"
_MAGIC = b"LANC"  # the last bytes of every manifest and data file
_FOOTER = struct.Struct("<Q8x")  # of a manifest: where its message starts, then version and magic
_MANIFEST = re.compile(r"\d{20}\.manifest")  # 2^64 - 1 - version, so the newest sorts first


def make_folder(path: Path) -> None:
    """Make a folder and those above it, and see to it that they are still there after a power cut."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        fsync(path.parent)


def fsync(path: Path | str) -> None:
    """Wait until a file's content, or a folder's list of names, is on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_table(folder: Path, known: Synced) -> Synced:
    """Sync every file of a table that is not `known` to be, and the folders that changed; what is known afterwards."""
    present: set[tuple[str, int]] = set()
    _sync_folder(str(folder), known, present)
    if not known:
        fsync(folder.parent)
    return frozenset(present)


def _sync_folder(folder: str, known: Synced, present: set[tuple[str, int]]) -> None:
    with os.scandir(folder) as listing:
        # Manifests last, so that none reaches the disk before what it refers to.
        entries = sorted(listing, key=lambda entry: entry.name == _VERSIONS)
    changed = not known
    for entry in entries:
        key = (entry.path, entry.inode())
        if entry.is_dir():
            _sync_folder(entry.path, known, present)
        elif key not in known:
            fsync(entry.path)
        changed |= key not in known
        present.add(key)
    if changed:
        fsync(folder)


def newest_stamp(folder: Path) -> Stamp | None:
    """The stamp of a table's newest commit, None where there is none."""
    manifest = _newest_manifest(folder)
    if manifest is None:
        return None
    try:
        status = manifest.stat()
    except FileNotFoundError:  # the table was deleted meanwhile, or the manifest set aside
        return None
    return manifest.name, status.st_ino, status.st_ctime_ns


def size_on_disk(folder: Path) -> int:
    """Bytes of a table's files, those of old versions too. The caller holds the table's lock."""
    return sum(path.stat().st_size for path in folder.rglob("*"))


def mend(folder: Path, readable: Callable[[], bool]) -> None:
    """Set a table's newest manifest aside if it is what makes the table unreadable. The caller holds the table's lock.

    Only where a file is seen to be torn: a fault that passes, such as no file handle being left, also makes a table
    unreadable, with its manifest and by chance not without it, and must cost no memories. Raises StoreUnavailable when
    nothing is torn, or when the table can be read neither with the manifest nor without it.
    """
    manifest = _newest_manifest(folder)
    if readable() or manifest is None:
        return
    if not (_is_torn_manifest(manifest) or any(_is_torn(file) for file in (folder / "data").glob("*.lance"))):
        raise StoreUnavailable("the store could not be read")
    for _ in range(2):
        with _aside(manifest):
            readable_without = readable()
        if readable():
            return
        if not readable_without:
            raise StoreUnavailable("the store could not be read")
    manifest.rename(_aside_name(manifest))
    fsync(manifest.parent)
    logger.warning(
        "a table's newest commit is torn, as a power cut leaves one that was not yet acknowledged: set aside"
    )


def _is_torn(file: Path) -> bool:
    """Whether a data file lacks its end, which is written last."""
    with file.open("rb") as content:
        content.seek(0, os.SEEK_END)
        content.seek(max(0, content.tell() - len(_MAGIC)))
        return content.read() != _MAGIC


def _is_torn_manifest(file: Path) -> bool:
    """Whether a manifest is not what Lance writes: its message, after its length, right before a footer that says where."""
    data = file.read_bytes()
    if len(data) < _FOOTER.size or data[-len(_MAGIC) :] != _MAGIC:
        return True
    (start,) = _FOOTER.unpack(data[-_FOOTER.size :])
    length = int.from_bytes(data[start : start + 4], "little")
    return length == 0 or start + 4 + length + _FOOTER.size != len(data)


def _newest_manifest(folder: Path) -> Path | None:
    versions = folder / _VERSIONS
    try:
        with os.scandir(versions) as listing:
            names = [entry.name for entry in listing if _MANIFEST.fullmatch(entry.name)]
    except FileNotFoundError:
        return None
    return versions / min(names) if names else None


def _aside_name(manifest: Path) -> Path:
    return manifest.with_name(manifest.name + ".unreadable")  # no name that LanceDB looks at


@contextmanager
def _aside(manifest: Path) -> Iterator[None]:
    manifest.rename(_aside_name(manifest))
    try:
        yield
    finally:
        _aside_name(manifest).rename(manifest)
