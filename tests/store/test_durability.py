"""What was acknowledged is on disk, and a torn commit that never was does not take it away."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from mmmem.errors import StoreUnavailable
from mmmem.store.durability import mend
from mmmem.store.users import LanceStore, table_name
from mmmem.types import ImagePart, TextPart
from tests.store.content import OpenStore, request, texts


def table_of(data_dir: Path, user_id: str = "ada") -> Path:
    return data_dir / f"{table_name(user_id)}.lance"


def newest_manifest(data_dir: Path) -> Path:
    return min((table_of(data_dir) / "_versions").glob("*.manifest"))


PAGE = 4096


class Disk:
    """Records what is synced, and can refuse to."""

    def __init__(self) -> None:
        self.synced: list[tuple[int, str]] = []
        self.broken = False
        self._fsync = os.fsync

    def fsync(self, descriptor: int) -> None:
        if self.broken:
            raise OSError(errno.EIO, "no")
        self._fsync(descriptor)
        self.synced.append((os.fstat(descriptor).st_ino, str(Path(f"/proc/self/fd/{descriptor}").readlink())))

    def missing(self, folder: Path) -> list[Path]:
        """What of a folder was never synced."""
        synced = {inode for inode, _ in self.synced}
        return [path for path in (folder, *folder.rglob("*")) if path.stat().st_ino not in synced]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(os, "fsync", disk.fsync)
    return disk


def test_everything_a_commit_wrote_is_synced_before_add_returns(store: LanceStore, data_dir: Path, disk: Disk) -> None:
    for number in range(4):
        before = set(data_dir.rglob("*"))
        disk.synced.clear()
        store.add(request("ada", f"r{number}", f"text {number}"))
        new = [path for path in data_dir.rglob("*") if path not in before and path.parent.name != "locks"]
        assert len(new) >= 3  # data, transaction, manifest
        synced = {path for _, path in disk.synced}
        assert {str(path) for path in new} <= synced
        assert {str(path.parent) for path in new} <= synced
        assert str(table_of(data_dir) / "_versions" / "latest_version_hint.json") in synced


def test_data_is_synced_before_the_manifest_that_refers_to_it(store: LanceStore, data_dir: Path, disk: Disk) -> None:
    store.add(request("ada", "r0", "text"))
    names = [Path(path).parent.name for _, path in disk.synced if Path(path).is_file()]
    assert names.index("_versions") > max(names.index("data"), names.index("_transactions"))


def test_a_new_store_is_synced_before_it_is_used(open_store: OpenStore, data_dir: Path, disk: Disk) -> None:
    open_store()
    assert [path for path in disk.missing(data_dir) if "locks" not in path.parts] == []  # those hold nothing
    assert str(data_dir.parent) in {path for _, path in disk.synced}


def test_a_retry_syncs_what_another_process_left_unsynced(open_store: OpenStore, data_dir: Path, disk: Disk) -> None:
    stored = request("ada", "r0", "text")
    open_store().add(stored)
    disk.synced.clear()
    open_store().add(stored)
    assert disk.missing(table_of(data_dir)) == []


def test_what_one_process_wrote_is_synced_by_the_next_that_acknowledges(
    open_store: OpenStore, data_dir: Path, disk: Disk
) -> None:
    first, second = open_store(), open_store()
    first.add(request("ada", "r0", "text"))
    second.add(request("ada", "r1", "text"))
    second_wrote = newest_manifest(data_dir)
    disk.synced.clear()
    first.add(request("ada", "r1", "text"))
    assert str(second_wrote) in {path for _, path in disk.synced}


@pytest.mark.parametrize("earlier", [0, 2])
def test_a_commit_that_cannot_be_synced_is_not_kept(
    open_store: OpenStore, disk: Disk, caplog: pytest.LogCaptureFixture, earlier: int
) -> None:
    store, other = open_store(), open_store()
    kept = [f"text {number}" for number in range(earlier)]
    for text in kept:
        store.add(request("ada", text, text))
    disk.broken = True
    with pytest.raises(StoreUnavailable, match="could not be written"):
        store.add(request("ada", "secret id", "secret text"))
    disk.broken = False
    assert texts(store) == texts(other) == texts(open_store()) == kept
    assert "secret" not in caplog.text
    store.add(request("ada", "secret id", "secret text"))
    assert texts(store) == texts(other) == texts(open_store()) == [*kept, "secret text"]


DAMAGE = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "end cut off": lambda data: data[:-3],
    "zeros": lambda data: bytes(len(data)),
    "zeros before the end": lambda data: bytes(len(data) - 16) + data[-16:],
    "other bytes": lambda data: bytes(byte ^ 0x5A for byte in data),
    "beginning lost": lambda data: data[40:],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("first_use", ["read", "write"])
def test_a_torn_newest_manifest_is_set_aside(
    open_store: OpenStore, data_dir: Path, caplog: pytest.LogCaptureFixture, damage: str, first_use: str
) -> None:
    store = open_store()
    for number in range(3):
        store.add(request("ada", f"r{number}", f"text {number}"))
    torn = newest_manifest(data_dir)
    torn.write_bytes(DAMAGE[damage](torn.read_bytes()))

    reopened = open_store()
    with caplog.at_level(logging.WARNING):
        if first_use == "read":
            assert texts(reopened) == ["text 0", "text 1"]
        reopened.add(request("ada", "r2", "text 2"))
    assert "set aside" in caplog.text
    assert torn.with_name(torn.name + ".unreadable").exists()
    for number in range(3):
        reopened.add(request("ada", f"r{number}", f"text {number}"))
    assert texts(reopened) == texts(open_store()) == ["text 0", "text 1", "text 2"]


@pytest.mark.parametrize("damage", ["empty", "cut short", "zeros"])
def test_a_torn_data_file_of_the_newest_commit_takes_that_commit_along(
    open_store: OpenStore, data_dir: Path, damage: str
) -> None:
    store = open_store()
    store.add(request("ada", "r0", "text 0"))
    before = set(data_dir.rglob("*.lance"))
    store.add(request("ada", "r1", "text 1"))
    (torn,) = set(data_dir.rglob("*.lance")) - before
    torn.write_bytes(DAMAGE[damage](torn.read_bytes()))

    reopened = open_store()
    assert texts(reopened) == ["text 0"]
    reopened.add(request("ada", "r1", "text 1"))
    assert texts(reopened) == texts(open_store()) == ["text 0", "text 1"]


def test_a_user_whose_only_commit_is_torn_is_unknown(open_store: OpenStore, data_dir: Path) -> None:
    open_store().add(request("ada", "r0", "text"))
    newest_manifest(data_dir).write_bytes(b"")
    store = open_store()
    assert texts(store) == []
    store.add(request("ada", "r0", "text"))
    assert texts(store) == texts(open_store()) == ["text"]


def test_a_data_file_of_the_newest_commit_whose_name_was_lost_takes_that_commit_along(
    open_store: OpenStore, data_dir: Path
) -> None:
    for number in range(2):
        before = set(data_dir.rglob("*.lance"))
        open_store().add(request("ada", f"r{number}", f"text {number}"))
    (lost,) = (path for path in set(data_dir.rglob("*.lance")) - before if path.is_file())
    lost.unlink()
    store = open_store()
    assert texts(store) == ["text 0"]
    store.add(request("ada", "r1", "text 1"))
    assert texts(store) == texts(open_store()) == ["text 0", "text 1"]


def test_a_page_that_was_not_written_in_the_newest_data_file_takes_that_commit_along(
    open_store: OpenStore, data_dir: Path
) -> None:
    store = open_store()
    store.add(request("ada", "r0", "text 0"))
    before = set(data_dir.rglob("*.lance"))
    words = " ".join(f"word{number}" for number in range(900))
    store.add(request("ada", "r1", words))
    (torn,) = set(data_dir.rglob("*.lance")) - before
    data = torn.read_bytes()
    page = (len(data) - 1) // PAGE * PAGE - PAGE  # what says where the columns are is at the end
    torn.write_bytes(data[:page] + bytes(PAGE) + data[page + PAGE :])
    reopened = open_store()
    assert texts(reopened) == ["text 0"]
    reopened.add(request("ada", "r1", words))
    assert texts(reopened) == texts(open_store()) == ["text 0", words]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_torn_compaction_leaves_what_it_compacted(
    open_store: OpenStore, data_dir: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    """LanceDB makes two commits of one, and they are synced together."""
    store = open_store(compact_fragments=2)
    for number in range(3):
        before = set(data_dir.rglob("*.manifest"))
        store.add(request("ada", f"r{number}", f"text {number}"))
    store.close()
    _, *compaction = sorted(set(data_dir.rglob("*.manifest")) - before, reverse=True)
    assert len(compaction) == 2
    for torn in compaction:
        torn.write_bytes(DAMAGE[damage](torn.read_bytes()))
    with caplog.at_level(logging.WARNING):
        reopened = open_store()
        assert texts(reopened) == ["text 0", "text 1", "text 2"]
    assert caplog.text.count("set aside") == 2
    reopened.add(request("ada", "r3", "text 3"))
    assert texts(reopened) == texts(open_store()) == ["text 0", "text 1", "text 2", "text 3"]


def test_a_commit_goes_on_top_of_nothing_that_a_power_cut_could_take(
    open_store: OpenStore, data_dir: Path, disk: Disk
) -> None:
    """A writer may have died before it synced; two commits that are not on disk could not be told from damage."""
    first, second = open_store(), open_store()
    first.add(request("ada", "r0", "text 0"))
    second.add(request("ada", "r1", "text 1"))
    left = newest_manifest(data_dir)
    disk.synced.clear()
    first.add(request("ada", "r2", "text 2"))
    paths = [path for _, path in disk.synced]
    new_data = max((table_of(data_dir) / "data").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert paths.index(str(left)) < paths.index(str(new_data))


@pytest.mark.parametrize("hint", [b"", b"\0\0\0", b'{"version":1}', b'{"version":99}'])
def test_a_torn_version_hint_is_harmless(open_store: OpenStore, data_dir: Path, hint: bytes) -> None:
    store = open_store()
    for number in range(3):
        store.add(request("ada", f"r{number}", f"text {number}"))
    (table_of(data_dir) / "_versions" / "latest_version_hint.json").write_bytes(hint)
    reopened = open_store()
    reopened.add(request("ada", "r3", "text 3"))
    assert texts(reopened) == texts(open_store()) == [f"text {number}" for number in range(4)]


def test_damage_to_acknowledged_data_is_said_and_nothing_is_set_aside(open_store: OpenStore, data_dir: Path) -> None:
    store = open_store()
    store.add(request("ada", "r0", "text 0"))
    (oldest,) = (table_of(data_dir) / "data").iterdir()
    store.add(request("ada", "r1", "text 1"))
    store.add(request("bob", "r0", "of bob"))
    content = oldest.read_bytes()
    oldest.write_bytes(b"")
    reopened = open_store()
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            reopened.arrays("ada")
        with pytest.raises(StoreUnavailable):
            reopened.add(request("ada", "r2", "text 2"))
    assert texts(reopened, "bob") == ["of bob"]
    oldest.write_bytes(content)
    assert texts(reopened) == ["text 0", "text 1"]


@pytest.mark.parametrize("answers", [[False, True, True], [False, True, False, True, False], [False] * 9])
def test_a_fault_that_is_no_damage_sets_nothing_aside_whatever_can_be_read_meanwhile(
    open_store: OpenStore, data_dir: Path, answers: list[bool]
) -> None:
    """File handles that run short make a table unreadable with its newest commit, and by chance not without it."""
    open_store().add(request("ada", "r0", "text 0"))
    manifest = newest_manifest(data_dir)
    asked = iter(answers)
    with pytest.raises(StoreUnavailable):
        mend(table_of(data_dir), lambda: next(asked))
    assert manifest.exists()
    assert texts(open_store()) == ["text 0"]


@pytest.mark.parametrize("answers", [[*[False, True] * 9, False, False], [False] * 9])
def test_a_picture_of_zeros_is_no_damage(open_store: OpenStore, data_dir: Path, answers: list[bool]) -> None:
    open_store().add(request("ada", "r0", "text 0"))
    before = set(data_dir.rglob("*.lance"))
    black = ImagePart("data:image/bmp;base64", bytes(10 * PAGE))
    open_store().add(request("ada", "r1", (TextPart("all black"), black)))
    (file,) = set(data_dir.rglob("*.lance")) - before
    assert bytes(2 * PAGE) in file.read_bytes()
    manifest = newest_manifest(data_dir)
    asked = iter(answers)
    with pytest.raises(StoreUnavailable):
        mend(table_of(data_dir), lambda: next(asked))
    assert manifest.exists()
    assert texts(open_store()) == ["text 0", "all black"]


def test_a_compaction_whose_older_versions_were_cleaned_away_is_never_set_aside(
    open_store: OpenStore, data_dir: Path
) -> None:
    """Its manifest is all that there is of the table, and also names the files that it made one of."""
    store = open_store(compact_fragments=2)
    for number in range(3):
        store.add(request("ada", f"r{number}", f"text {number}"))
    store.close()
    merged = max((table_of(data_dir) / "data").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    manifest = newest_manifest(data_dir)
    for path in (*merged.parent.iterdir(), *manifest.parent.glob("*.manifest")):
        if path not in {merged, manifest}:
            path.unlink()
    asked = iter([False, True, False, True, False])
    with pytest.raises(StoreUnavailable):
        mend(table_of(data_dir), lambda: next(asked))
    assert texts(open_store()) == ["text 0", "text 1", "text 2"]
    content = manifest.read_bytes()
    manifest.write_bytes(content[:-3])
    with pytest.raises(StoreUnavailable):
        open_store().arrays("ada")
    manifest.write_bytes(content)
    assert texts(open_store()) == ["text 0", "text 1", "text 2"]


def test_a_data_folder_that_goes_away_is_no_empty_store(open_store: OpenStore, data_dir: Path) -> None:
    store = open_store()
    store.add(request("ada", "r0", "text 0"))
    away = data_dir.rename(data_dir.with_name("away"))
    for replacement in (None, data_dir):
        if replacement:
            replacement.mkdir()
            (replacement / "locks").mkdir()
        with pytest.raises(StoreUnavailable):
            store.arrays("ada")
        with pytest.raises(StoreUnavailable):
            store.add(request("ada", "r1", "text 1"))
    shutil.rmtree(data_dir)
    away.rename(data_dir)
    assert texts(store) == ["text 0"]


def test_a_disk_can_be_made_read_only_under_a_service_that_is_idle(store: LanceStore, data_dir: Path) -> None:
    store.add(request("ada", "r0", "text 0"))
    assert texts(store) == ["text 0"]
    assert written_to(data_dir) == []


def written_to(folder: Path) -> list[str]:
    """The files in a folder that this process has open for writing."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # closed meanwhile, as the one that lists them is
            path, flags = link.readlink(), fcntl.fcntl(int(link.name), fcntl.F_GETFL)
            if folder in path.parents and flags & os.O_ACCMODE != os.O_RDONLY:
                found.append(str(path))
    return found
