"""Vectors on disk by the hash of what they are of, in one SQLite file that several processes share.

It saves requests and is never needed: what fails here is a vector that is not found. The file is thrown away when it cannot be
read, and an entry counts only when its checksum is right.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from mmmem.types import Float32

log = logging.getLogger(__name__)
Result = TypeVar("Result")

FILE = "vectors-1.sqlite"  # another layout of the table gets another number
CHECKSUM = 8  # bytes, behind each vector
BUSY_SECONDS = 0.25  # how long a write waits for that of another process before it is left out
SETUP = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 4194304;
CREATE TABLE IF NOT EXISTS vectors (key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS by_use ON vectors (used);
"""


class VectorCache:
    """At most `limit` bytes in `folder`, which is made when it is first used. Safe to use from many threads and processes."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._opened: os.stat_result | None = None
        self._closed = False
        self._complained = False

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Float32]:
        """Those of the vectors that are there, float32 [d]; they now count as used."""
        return self._tried(lambda connection: _read(connection, keys)) or {}

    def put(self, vectors: Mapping[bytes, Float32]) -> None:
        """Keep vectors, float32 [d], and let go of others where there is no room for all."""
        self._tried(lambda connection: _write(connection, vectors, self._limit))

    def close(self) -> None:
        """Let go of the file. Afterwards nothing is found and nothing kept."""
        with self._lock:
            self._closed = True
            self._disconnect()

    def _tried(self, action: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """The action's result; None when the file cannot be used now, or was thrown away because it can never be."""
        with self._lock:
            if self._closed:
                return None
            try:
                if self._connection is None:
                    self._connect()
                assert self._connection
                return action(self._connection)
            except (sqlite3.OperationalError, OSError) as error:  # busy, no space, no permission
                self._complain("cannot be used", error)
            except sqlite3.DatabaseError as error:
                self._complain("was damaged and begins anew", error)
                self._drop()
            return None

    def _connect(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._connection = sqlite3.connect(
            self._folder / FILE, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._opened = (self._folder / FILE).stat()
        try:
            self._connection.executescript(SETUP)
        except sqlite3.OperationalError:
            self._disconnect()  # half set up
            raise

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _drop(self) -> None:
        """Throw the file away, unless another process has put a new one in its place."""
        file = self._folder / FILE
        try:
            ours = self._opened is not None and os.path.samestat(file.stat(), self._opened)
            self._disconnect()
            if ours:
                for part in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
                    part.unlink(missing_ok=True)
        except (OSError, sqlite3.Error) as error:
            self._connection = None
            self._complain("cannot be removed", error)

    def _complain(self, problem: str, error: Exception) -> None:
        if not self._complained:
            self._complained = True
            log.warning("the cache of embeddings %s (%s); texts are sent again", problem, type(error).__name__)


def _read(connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Float32]:
    found = {}
    for key in keys:
        row = connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        if row and isinstance(row[0], bytes) and row[0] == _sealed(key, row[0][:-CHECKSUM]):
            found[key] = np.frombuffer(row[0][:-CHECKSUM], dtype="<f4").astype(np.float32)
    if found:
        try:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                now = time.time_ns()
                connection.executemany("UPDATE vectors SET used = ? WHERE key = ?", [(now, key) for key in found])
        except sqlite3.OperationalError:
            pass  # another process writes; what was read is right all the same
    return found


def _write(connection: sqlite3.Connection, vectors: Mapping[bytes, Float32], limit: int) -> None:
    now = time.time_ns()
    rows = [(key, _sealed(key, vector.astype("<f4").tobytes()), now) for key, vector in vectors.items()]
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT OR REPLACE INTO vectors (key, vector, used) VALUES (?, ?, ?)", rows)
        while (beyond := _pages(connection) - limit // _pragma(connection, "page_size")) > 0:
            least = "SELECT rowid FROM vectors ORDER BY used LIMIT ?"
            if not connection.execute(f"DELETE FROM vectors WHERE rowid IN ({least})", (max(1, beyond // 2),)).rowcount:
                break


def _pages(connection: sqlite3.Connection) -> int:
    """Pages that hold anything."""
    return _pragma(connection, "page_count") - _pragma(connection, "freelist_count")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def _sealed(key: bytes, vector: bytes) -> bytes:
    return vector + hashlib.blake2b(key + vector, digest_size=CHECKSUM).digest()
