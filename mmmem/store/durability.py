"""What LanceDB leaves to others: fsync, and a commit that a power cut tore.

A commit is acknowledged after everything it wrote is synced, so what cannot be read after a power cut was never
acknowledged, and it can only be the newest commits: a table has one writer at a time, which syncs before the next.
"""

from __future__ import annotations

import logging
import os
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
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
_DATA_FILE = re.compile(rb"[01]{24}[0-9a-f]{26}\.lance")  # its name, as manifests hold it
_PAGE = 4096  # what file systems write at a time, in whatever order
_HOLE = bytes(_PAGE)
_UNSYNCED = 2  # commits that may be torn: one, or what a compaction or taking one back makes


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
    manifests = _manifests(folder)
    if not manifests:
        return None
    try:
        status = manifests[0].stat()
    except FileNotFoundError:  # the table was deleted meanwhile, or the manifest set aside
        return None
    return manifests[0].name, status.st_ino, status.st_ctime_ns


def mend(folder: Path, readable: Callable[[], bool]) -> None:
    """Set a table's newest manifests aside if they are what makes the table unreadable. The caller holds the table's lock.

    Only where something is seen to be torn: a fault that passes, such as no file handle being left, also makes a table
    unreadable, with its manifest and by chance not without it, and must cost no memories. Raises StoreUnavailable when
    nothing is torn, or when the table can be read neither with those manifests nor without them.
    """
    if readable() or not _manifests(folder):
        return
    torn: list[Path] = []
    for _ in range(2):
        torn = _torn_commits(folder, readable)
        if not torn:
            raise StoreUnavailable("the store could not be read")
        if readable():
            return
    for manifest in torn:
        manifest.rename(_aside_name(manifest))
        logger.warning(
            "a table's newest commit is torn, as a power cut leaves one that was not yet acknowledged: set aside"
        )
    fsync(folder / _VERSIONS)


def _torn_commits(folder: Path, readable: Callable[[], bool]) -> list[Path]:
    """The newest manifests, each of them torn, without which a table can be read; none where that does not help."""
    torn: list[Path] = []
    with ExitStack() as aside:
        for manifest, older in pairwise([*_manifests(folder)[: _UNSYNCED + 1], None]):
            if manifest is None or len(torn) == _UNSYNCED or not _is_torn_commit(folder / "data", manifest, older):
                break
            torn.append(manifest)
            aside.enter_context(_aside(manifest))
            if readable():
                return torn
    return []


def _is_torn_commit(data: Path, manifest: Path, older: Path | None) -> bool:
    """Whether a manifest, or a data file that it names and the one before it does not, is not whole."""
    if _is_torn_manifest(manifest):
        return True
    new = _data_files(manifest) - (_data_files(older) if older else set())
    return any(not (data / name).exists() or _is_torn(data / name) for name in new)


def _data_files(manifest: Path) -> set[str]:
    return {name.decode() for name in _DATA_FILE.findall(manifest.read_bytes())}


def _is_torn(file: Path) -> bool:
    """Whether a data file lacks its end, which is written last, or has a page of zeros in it."""
    end = b""
    with file.open("rb") as content:
        while page := content.read(_PAGE):
            if page == _HOLE:
                return True
            end = (end + page)[-len(_MAGIC) :]
    return end != _MAGIC


def _is_torn_manifest(file: Path) -> bool:
    """Whether a manifest is not what Lance writes: its message, after its length, right before a footer that says where."""
    data = file.read_bytes()
    if len(data) < _FOOTER.size or data[-len(_MAGIC) :] != _MAGIC or _is_torn(file):
        return True
    (start,) = _FOOTER.unpack(data[-_FOOTER.size :])
    length = int.from_bytes(data[start : start + 4], "little")
    return length == 0 or start + 4 + length + _FOOTER.size != len(data)


def _manifests(folder: Path) -> list[Path]:
    """Newest first."""
    versions = folder / _VERSIONS
    try:
        with os.scandir(versions) as listing:
            names = [entry.name for entry in listing if _MANIFEST.fullmatch(entry.name)]
    except FileNotFoundError:
        return []
    return [versions / name for name in sorted(names)]


def _aside_name(manifest: Path) -> Path:
    return manifest.with_name(manifest.name + ".unreadable")  # no name that LanceDB looks at


@contextmanager
def _aside(manifest: Path) -> Iterator[None]:
    manifest.rename(_aside_name(manifest))
    try:
        yield
    finally:
        _aside_name(manifest).rename(manifest)
