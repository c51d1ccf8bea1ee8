"""What a power cut may leave of a folder: a model of a disk that keeps what was synced, and of the rest whatever chance likes.

A file's content is safe as it was at its last fsync, a folder's names as they were at the fsync of that folder, and nothing else is. Of
what changed since, each name may be the old one, the new one or gone, whether or not another that was written later is there, and each
file may be as before, empty, cut short, of zeros or with pages of zeros in it. That is all that POSIX promises; file systems lose less.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, Self

PAGE = 4096  # what file systems write at a time, in whatever order


class HasFileno(Protocol):
    """An open file."""

    def fileno(self) -> int:
        """Its descriptor."""


class Entry(NamedTuple):
    """What a name stands for."""

    inode: int
    is_folder: bool


Names = Mapping[str, Entry]  # of one folder


@dataclass(frozen=True)
class Odds:
    """How likely it is that a change of a name was kept, and that what was written to a file was."""

    names: float
    contents: float


@dataclass(frozen=True)
class Cut:
    """One moment: folders and files as programs saw them, and as they were last synced, by inode."""

    root: int
    names: Mapping[int, Names]
    contents: Mapping[int, bytes]  # of files that changed since they were synced, or never were
    synced_names: Mapping[int, Names]
    synced_contents: Mapping[int, bytes]

    def build(self, folder: Path, odds: Odds, chance: random.Random) -> None:
        """Make a folder as the cut may have left it."""
        self._folder(self.root, folder, odds, chance)

    def _folder(self, inode: int, folder: Path, odds: Odds, chance: random.Random) -> None:
        folder.mkdir()
        before, after = self.synced_names.get(inode, {}), self.names.get(inode, {})
        for name in sorted(before.keys() | after.keys()):
            old, new = before.get(name), after.get(name)
            is_kept = old == new or chance.random() < odds.names
            entry = new if is_kept else old
            if entry is None and new and not new.is_folder and chance.random() < odds.names:
                entry, name = new, temporary(name)  # noqa: PLW2901 - written, and the rename was lost
            if entry and entry.is_folder:
                self._folder(entry.inode, folder / name, odds, chance)
            elif entry:
                (folder / name).write_bytes(self._content(entry.inode, odds, chance))

    def _content(self, inode: int, odds: Odds, chance: random.Random) -> bytes:
        old = self.synced_contents.get(inode, b"")
        new = self.contents.get(inode, old)
        return new if new == old or chance.random() < odds.contents else torn(old, new, chance)


def temporary(name: str) -> str:
    """The name under which LanceDB writes a file before it gives it its own."""
    return f"{name}#1" if name.endswith(".manifest") else f".tmp{name[:6]}"


def torn(old: bytes, new: bytes, chance: random.Random) -> bytes:
    """What was half written."""
    place = chance.randrange(len(new) + 1)
    page = place - place % PAGE
    return chance.choice(
        [
            old,
            b"",
            new[:place],
            bytes(len(new)),
            new[:place] + bytes(len(new) - place),
            bytes(page) + new[page:],
            new[:page] + bytes(len(new[page : page + PAGE])) + new[page + PAGE :],
        ]
    )


class Disk:
    """Watches a folder while this process writes to it, through `os.fsync`, which it replaces. A context manager.

    What is there at the beginning counts as synced. `at_sync` is called with the cut right before each fsync; `cut` is the one now.
    """

    def __init__(self, folder: Path, at_sync: Callable[[Cut], None]) -> None:
        self._folder = folder
        self._at_sync = at_sync
        self.lock = threading.RLock()
        self._names: dict[int, Names] = {}
        self._contents: dict[int, bytes] = {}
        self._states: dict[int, tuple[int, int]] = {}  # of a synced file: when it was changed, and its size
        self._held: list[int] = []  # open, so that no inode number is given to another file
        self._inodes: set[int] = set()

    def __enter__(self) -> Self:
        for path in (self._folder, *self._folder.rglob("*")):
            self._sync(os.open(path, os.O_RDONLY))
        self._fsync, os.fsync = os.fsync, self.fsync
        return self

    def __exit__(self, *_: object) -> None:
        os.fsync = self._fsync
        for descriptor in self._held:
            os.close(descriptor)

    def fsync(self, fd: int | HasFileno) -> None:
        """In place of `os.fsync`: the kernel need not write, because nobody cuts its power."""
        with self.lock:
            self._at_sync(self.cut())
            self._sync(os.dup(fd if isinstance(fd, int) else fd.fileno()))

    def cut(self) -> Cut:
        """What a power cut would meet now."""
        with self.lock:
            names: dict[int, Names] = {}
            contents: dict[int, bytes] = {}
            root = self._look(str(self._folder), names, contents)
            return Cut(root, names, contents, dict(self._names), dict(self._contents))

    def _sync(self, descriptor: int) -> None:
        state = os.fstat(descriptor)
        if state.st_ino in self._inodes:
            self._keep(descriptor, state)
            os.close(descriptor)
        else:
            self._inodes.add(state.st_ino)
            self._held.append(descriptor)
            self._keep(descriptor, state)

    def _keep(self, descriptor: int, state: os.stat_result) -> None:
        path = f"/proc/self/fd/{descriptor}"
        if os.path.isdir(path):  # noqa: PTH112 - Path would follow the link to a name that may be gone
            self._names[state.st_ino] = names_of(path)
        else:
            self._contents[state.st_ino] = Path(path).read_bytes()
            self._states[state.st_ino] = (state.st_mtime_ns, state.st_size)

    def _look(self, folder: str, names: dict[int, Names], contents: dict[int, bytes]) -> int:
        inode = Path(folder).stat().st_ino
        names[inode] = listed = names_of(folder)
        for name, entry in listed.items():
            path = f"{folder}/{name}"
            try:
                if entry.is_folder:
                    self._look(path, names, contents)
                    continue
                state = Path(path).stat()
                if self._states.get(entry.inode) != (state.st_mtime_ns, state.st_size):
                    contents[entry.inode] = Path(path).read_bytes()
            except FileNotFoundError:  # another thread has just removed it, or given it its name
                continue
        return inode


def names_of(folder: str) -> Names:
    """What is in a folder."""
    with os.scandir(folder) as listing:
        return {entry.name: Entry(entry.inode(), entry.is_dir()) for entry in listing}
