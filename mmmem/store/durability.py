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
from enum import Enum, auto
from itertools import pairwise
from pathlib import Path

from mmmem.errors import StoreUnavailable

logger = logging.getLogger(__name__)

Synced = frozenset[tuple[str, int]]
"""Files and folders known to be on disk: path and inode number, because some names are written again."""

Stamp = tuple[str, int, int]
"""What tells one commit from every other: the manifest's name, which is the version's, and which file it is (inode, ctime in ns)."""

_VERSIONS = "_versions"
_ASIDE = ".unreadable"  # no name that LanceDB looks at
SET_ASIDE = f"{_VERSIONS}/*{_ASIDE}"
"""Where manifests are that were torn, below a table's folder."""

_MAGIC = b"LANC"  # the last bytes of every manifest and data file
_FOOTER = struct.Struct("<Q8x")  # of a manifest: where its message starts, then version and magic
_ENDING = struct.Struct("<8x8xQI4xH2x4s")  # of a data file: where its buffers are listed, how many; format, magic
_BUFFER = struct.Struct("<Q8x")  # of that list: where a buffer starts
_FORMAT = 2
_MANIFEST = re.compile(r"\d{20}\.manifest")  # 2^64 - 1 - version, so the newest sorts first
_DATA_FILE = re.compile(rb"[01]{24}[0-9a-f]{26}\.lance")  # its name, as manifests hold it
_PAGE = 4096  # what file systems write at a time, in whatever order
_HOLE = bytes(_PAGE)
_NEWEST = 2**64 - 1
_LOOKS = 2  # at a table with its newest commits and without, before they are set aside
_LOOKS_WITHOUT_PROOF = 10  # where they may be whole: no passing fault comes and goes with each look
_UNSYNCED = 2  # commits that may be torn: one, or what a compaction or taking one back makes


class _Damage(Enum):
    NONE = auto()
    POSSIBLE = auto()
    CERTAIN = auto()


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


def newest_manifest(folder: Path) -> Path | None:
    """The manifest of a table's newest commit, None where there is none."""
    newest = min(_manifest_names(folder), default=None)
    return folder / _VERSIONS / newest if newest else None


def newest_stamp(folder: Path) -> Stamp | None:
    """The stamp of a table's newest commit, None where there is none."""
    newest = newest_manifest(folder)
    if newest is None:
        return None
    try:
        status = newest.stat()
    except FileNotFoundError:  # the table was deleted meanwhile, or the manifest set aside
        return None
    return newest.name, status.st_ino, status.st_ctime_ns


def size_on_disk(folder: Path) -> int:
    """Bytes of a table's files, those of old versions too. The caller holds the table's lock."""
    return sum(path.stat().st_size for path in folder.rglob("*"))


def mend(folder: Path, readable: Callable[[], bool]) -> None:
    """Set a table's newest manifests aside if they are what makes the table unreadable. The caller holds the table's lock.

    Only where something is seen to be torn: a fault that passes, such as no file handle being left, also makes a table
    unreadable, with its manifest and by chance not without it, and must cost no memories. Raises StoreUnavailable when
    nothing is torn, or when the table can be read neither with those manifests nor without them.
    """
    if readable() or not _manifests(folder):
        return
    torn, looks, certain = list[Path](), 0, False
    while looks < (_LOOKS if certain else _LOOKS_WITHOUT_PROOF):
        torn, certain = _torn_commits(folder, readable)
        if not torn:
            raise StoreUnavailable("the store could not be read")
        if readable():
            return
        looks += 1
    for manifest in torn:
        manifest.rename(_aside_name(manifest))
        logger.warning(
            "a table's newest commit is torn, as a power cut leaves one that was not yet acknowledged: set aside"
        )
    fsync(folder / _VERSIONS)


def _torn_commits(folder: Path, readable: Callable[[], bool]) -> tuple[list[Path], bool]:
    """The newest manifests, each of them torn, without which a table can be read, none where that does not help; and
    whether that is proved: a page of zeros may also be what was written."""
    torn: list[Path] = []
    certain = True
    manifests = _manifests(folder)
    with ExitStack() as aside:
        for manifest, older in pairwise([*manifests, None][: _UNSYNCED + 1]):
            damage = _Damage.NONE if manifest is None else _damage_of(folder / "data", manifest, older)
            if manifest is None or damage is _Damage.NONE:
                break
            if older is None and _NEWEST - int(manifest.stem) > _UNSYNCED:
                break  # the versions before it were cleaned away: without it there would be no table
            certain &= damage is _Damage.CERTAIN
            torn.append(manifest)
            aside.enter_context(_aside(manifest))
            if readable():
                return torn, certain
    return [], False


def _damage_of(data: Path, manifest: Path, older: Path | None) -> _Damage:
    """Whether a manifest, or a data file that it names and the one before it does not, is not whole."""
    content = manifest.read_bytes()
    if _is_torn_manifest(content):
        return _Damage.CERTAIN
    new = [data / name for name in _data_files(content) - (_data_files(older.read_bytes()) if older else set())]
    if any(not file.exists() or _is_torn(file) for file in new):
        return _Damage.CERTAIN
    return _Damage.POSSIBLE if any(_has_hole(file.read_bytes()) for file in new) else _Damage.NONE


def _data_files(manifest: bytes) -> set[str]:
    """The names in a manifest's message; what is before that also names files of which a compaction made others."""
    start = _FOOTER.unpack(manifest[-_FOOTER.size :])[0] if len(manifest) >= _FOOTER.size else 0
    return {name.decode() for name in _DATA_FILE.findall(manifest[start:])}


def _is_torn(file: Path) -> bool:
    """Whether a data file lacks its end, which is written last, or a page of what describes its columns.

    A page of zeros among the values is no proof: vectors and images may be of zeros.
    """
    with file.open("rb") as content:
        size = content.seek(0, os.SEEK_END)
        content.seek(max(0, size - _ENDING.size))
        ending = content.read()
        if ending[-len(_MAGIC) :] != _MAGIC or len(ending) < _ENDING.size:
            return True
        listing, buffers, version, _ = _ENDING.unpack(ending)
        if version != _FORMAT or not buffers:
            return False
        if listing + _BUFFER.size > size:
            return True
        content.seek(listing)
        (start,) = _BUFFER.unpack(content.read(_BUFFER.size))  # the schema; what describes the columns comes after it
        content.seek(start // _PAGE * _PAGE)
        return start >= size or _has_hole(content.read())


def _has_hole(pages: bytes) -> bool:
    return any(pages[place : place + _PAGE] == _HOLE for place in range(0, len(pages), _PAGE))


def _is_torn_manifest(content: bytes) -> bool:
    """Whether a manifest is not what Lance writes: its message, after its length, right before a footer that says where."""
    if len(content) < _FOOTER.size or content[-len(_MAGIC) :] != _MAGIC or _has_hole(content):
        return True
    (start,) = _FOOTER.unpack(content[-_FOOTER.size :])
    length = int.from_bytes(content[start : start + 4], "little")
    return length == 0 or start + 4 + length + _FOOTER.size != len(content)


def _manifests(folder: Path) -> list[Path]:
    """Newest first."""
    return [folder / _VERSIONS / name for name in sorted(_manifest_names(folder))]


def _manifest_names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder / _VERSIONS) as listing:
            return [entry.name for entry in listing if _MANIFEST.fullmatch(entry.name)]
    except FileNotFoundError:
        return []


def _aside_name(manifest: Path) -> Path:
    return manifest.with_name(manifest.name + _ASIDE)


@contextmanager
def _aside(manifest: Path) -> Iterator[None]:
    manifest.rename(_aside_name(manifest))
    try:
        yield
    finally:
        _aside_name(manifest).rename(manifest)
