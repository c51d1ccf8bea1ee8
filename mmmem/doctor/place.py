"""Where the data lies: whether it can be written and synced, what room is left, whether a store is there."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mmmem.doctor.finding import Finding, fault, ok, skipped, warning
from mmmem.errors import MmmemError, StoreUnavailable
from mmmem.store.record import FORMAT, under_way
from mmmem.wiring import count_tables, holds_store, inspect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.settings import Settings
    from mmmem.store.location import Record

_GIB = 1024**3
_INODES = 10_000  # a user takes about ten
_NETWORK = ("nfs", "cifs", "smb", "9p", "fuse", "ceph", "lustre", "gluster")
_MEMORY = ("tmpfs", "ramfs", "overlay")  # gone with the machine, or with the container


def place_findings(settings: Settings, free_bytes: int) -> Iterator[Finding]:
    """The data folder, or the bucket, and the store's record there."""
    if "://" not in settings.data_dir:
        folder = Path(settings.data_dir)
        try:
            above = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        except (OSError, ValueError) as error:
            says = "its name is too long" if getattr(error, "errno", 0) == errno.ENAMETOOLONG else "cannot be looked at"
            yield fault("data folder", says, "set MMMEM_DATA_DIR to a folder")
            yield skipped("store", "not looked for: see the fault above")
            return
        yield _writable(folder, above)
        yield _room(above, free_bytes)
        yield _file_system(above.resolve())
    yield _store(settings)


def _store(settings: Settings) -> Finding:
    try:
        if not holds_store(settings):
            return _no_store(count_tables(settings))
        record = _record(settings)
        if record is None:
            return _no_store(count_tables(settings), lost="is lost, or torn")
    except MmmemError as error:
        return fault("store", str(error), "the log line above says what failed")
    written, models = record
    if written != FORMAT:
        says = f"of format {written}, and this version of mmmem reads {FORMAT}"
        return fault("store", says, "use the version that wrote it, or another MMMEM_DATA_DIR")
    if under_way(models):
        return fault(
            "store", "a reindex was begun and has not ended: nothing else opens it", "run `mmmem reindex` again"
        )
    return ok(
        "store", f"of format {written}, written with " + ", ".join(f"{role} {models[role]}" for role in sorted(models))
    )


def _record(settings: Settings) -> Record | None:
    """None where it cannot be read."""
    store = inspect(settings)
    try:
        return store.record()
    except StoreUnavailable:
        return None


def _no_store(tables: int, lost: str = "") -> Finding:
    if not tables and not lost:
        return ok("store", "none yet: the first start makes it")
    says = f"its record {lost or 'is lost'}, and the tables of {tables:,} users are there: the next start takes its own models for theirs"
    return fault(
        "store", says, "restore _store.lance from a backup, or start it with exactly the models that wrote them"
    )


def _writable(folder: Path, above: Path) -> Finding:
    """Tried for real: permission bits say little of a mount, a quota or another user's volume."""
    advice = f"as user {os.getuid()} it must be able to make, write and sync files there: look at the owner, the mount and the quota"
    began = time.perf_counter()
    try:
        with tempfile.NamedTemporaryFile(dir=above, prefix=".mmmem-doctor-") as file:
            file.write(b"0")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return fault("data folder", f"cannot be written: {error.strerror}", advice)
    spent = time.perf_counter() - began
    if folder.exists() and not folder.is_dir():
        return fault("data folder", "is a file", "set MMMEM_DATA_DIR to a folder")
    says = f"can be written; a file was synced in {spent * 1000:.1f} ms"
    return ok("data folder", says if folder.exists() else f"will be made; where it will be {says}")


def _room(folder: Path, free_bytes: int) -> Finding:
    free = shutil.disk_usage(folder).free
    status = os.statvfs(folder)
    says = f"{free / _GIB:,.1f} GiB free"
    if free < free_bytes:
        return warning(
            "disk",
            f"{says}, less than {free_bytes / _GIB:,.1f}",
            "free some, or move the data: a full disk refuses every Add",
        )
    if status.f_files and status.f_favail < _INODES:
        return warning(
            "disk",
            f"{says}, and {status.f_favail:,} files may still be made",
            "a user takes about ten: remove some files",
        )
    return ok("disk", says)


def _file_system(folder: Path) -> Finding:
    kind = _kind(folder)
    if kind.startswith(_NETWORK):
        advice = "use a local disk, or a bucket: locks and syncs over a network are only as good as its server"
        return warning("file system", f"{kind}, over a network", advice)
    if kind in _MEMORY:
        return warning(
            "file system", f"{kind}: what is written goes when the machine or the container does", "mount a volume"
        )
    return ok("file system", kind or "unknown")


def _kind(folder: Path) -> str:
    """The type of the file system that a folder lies on, as the kernel names it; empty where that is not known."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    mounts = [(Path(fields[1].encode().decode("unicode_escape")), fields[2]) for fields in map(str.split, lines)]
    return max(
        ((mount, kind) for mount, kind in mounts if folder.is_relative_to(mount)), key=lambda one: len(one[0].parts)
    )[1]
