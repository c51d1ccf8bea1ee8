"""What `mmmem export` writes to and `mmmem import` reads from: files, pipes, devices; and what is left when that goes wrong."""

from __future__ import annotations

import gzip
import io
import os
import random
import signal
import subprocess
import sys
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mmmem.backup.reading import Bounds, Reader, bounds
from mmmem.cli import app
from mmmem.cli.backup_files import written
from mmmem.cli.ending import tidied
from mmmem.errors import InvalidBackup
from mmmem.settings import Settings
from tests.backup.conftest import WORDS_ENVIRONMENT, exported, picture
from tests.running import DEADLINE
from tests.store.content import OpenStore, request, texts

USERS = ("ada", "bob", "eve")


def command(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, env=WORDS_ENVIRONMENT)


@pytest.fixture
def filled(open_store: OpenStore) -> bytes:
    """Three users in the store at `data_dir`, and their backup."""
    store = open_store()
    for user in USERS:
        for number in range(2):
            store.add(request(user, f"r{number}", f"{user} {number}", (picture((number, 1, 2)),)))
    return exported(store)


def damage(data_dir: Path, store_name: str) -> None:
    """Make a user's rows unreadable; their files still end as whole ones do, so that nothing looks like a commit that was torn."""
    for file in (data_dir / f"{store_name}.lance" / "data").iterdir():
        content = file.read_bytes()
        half = len(content) // 2
        file.write_bytes(b"\xff" * half + content[half:])


def test_users_that_cannot_be_read_are_left_out_and_every_command_says_so(
    filled: bytes, open_store: OpenStore, data_dir: Path, tmp_path: Path
) -> None:
    store = open_store()
    damage(data_dir, store.name("bob"))
    file = tmp_path / "backup.gz"
    done = command("export", str(file), "--data-dir", str(data_dir))
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        "exported 2 users, 4 requests, 8 memories, 4 images",
        "mmmem: 1 user could not be read, and is left out in whole or in part: "
        f"{store.name('bob')}; see `mmmem doctor`",
    ]
    checked = command("import", str(file), "--check")
    assert (checked.exit_code, checked.stderr.count("left out")) == (1, 1)
    for source, stdin in ((str(file), None), ("-", file.read_bytes())):
        target = tmp_path / source[-1]
        done = command("import", source, "--data-dir", str(target), stdin=stdin)
        assert done.exit_code == 0, done.stderr
        assert "warning: the backup is not whole: when it was made, 1 user could not be read" in done.stderr
        assert "imported 2 users, 4 requests, 8 memories, 4 images" in done.stderr


def test_where_nothing_can_be_read_the_older_backup_stays(
    filled: bytes, open_store: OpenStore, data_dir: Path, tmp_path: Path
) -> None:
    store = open_store()
    for user in USERS:
        damage(data_dir, store.name(user))
    file = tmp_path / "backups" / "b.jsonl"
    file.parent.mkdir()
    file.write_bytes(filled)
    done = command("export", str(file), "--data-dir", str(data_dir))
    assert (done.exit_code, done.stderr) == (1, "mmmem: the store could not be read\n")
    assert file.read_bytes() == filled
    assert list(file.parent.iterdir()) == [file]


def test_two_exports_into_one_file_at_once_leave_one_of_them_whole(filled: bytes, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    with written(file) as first:
        first.write(filled[:1000])
        with written(file) as second:
            second.write(filled)
        assert file.read_bytes() == filled
        first.write(filled[1000:])
    assert file.read_bytes() == filled
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_export_that_is_told_to_end_leaves_nothing_behind(tmp_path: Path, number: int) -> None:
    file = tmp_path / "backups" / "b.jsonl"
    file.parent.mkdir()
    file.write_bytes(b"older")
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    inherited = signal.signal(number, usual)  # what runs the tests may have them ignore it, as nohup does
    try:
        with pytest.raises((SystemExit, KeyboardInterrupt)), tidied(), written(file) as output:
            output.write(b"half of it")
            os.kill(os.getpid(), number)
            signal.sigtimedwait([], 1)
        assert signal.getsignal(number) == usual
    finally:
        signal.signal(number, inherited)
    assert [each.read_bytes() for each in file.parent.iterdir()] == [b"older"]


def test_a_link_stays_a_link(filled: bytes, data_dir: Path, tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "elsewhere"
    file.write_bytes(b"older")
    link.symlink_to(file)
    assert command("export", str(link), "--data-dir", str(data_dir)).exit_code == 0
    assert link.is_symlink()
    assert file.read_bytes() == filled


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("/dev/full", "No space left on device"),
        ("{}", "Is a directory"),
        ("{}/none/b.jsonl", "No such file or directory"),
    ],
)
def test_where_nothing_can_be_written_one_line_says_why(
    filled: bytes, data_dir: Path, tmp_path: Path, file: str, said: str
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    done = command("export", file.format(place), "--data-dir", str(data_dir))
    assert (done.exit_code, done.stderr) == (1, f"mmmem: {file.format(place)}: {said}\n")
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("name", ["pipe", "pipe.gz"])
def test_a_named_pipe_is_written_and_read_as_it_comes(filled: bytes, data_dir: Path, tmp_path: Path, name: str) -> None:
    pipe, target = tmp_path / name, tmp_path / "new"
    os.mkfifo(pipe)
    reading: list[bytes] = []
    reader = threading.Thread(target=lambda: reading.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert command("export", str(pipe), "--data-dir", str(data_dir)).exit_code == 0
    reader.join(DEADLINE)
    assert (gzip.decompress(reading[0]) if name.endswith("gz") else reading[0]) == filled
    assert pipe.is_fifo()

    def write() -> None:
        with pipe.open("wb", buffering=0) as raw:
            for start in (0, 1, 2):  # not even two bytes come together
                raw.write(reading[0][start : start + 1])
            raw.write(reading[0][3:])

    for arguments in (["--check"], ["--data-dir", str(target)]):
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        done = command("import", str(pipe), *arguments)
        assert done.exit_code == 0, done.stderr
        writer.join(DEADLINE)
    assert "imported 3 users, 6 requests, 12 memories, 6 images" in done.stderr


def test_a_reader_that_goes_away_is_said_in_one_line(filled: bytes, data_dir: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "mmmem", "export", "-", "--data-dir", str(data_dir)]
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, text=True, timeout=DEADLINE, check=False)
    assert (done.returncode, done.stderr) == (1, "mmmem: -: Broken pipe\n")


@pytest.mark.parametrize("content", [b"", b"\n", b"\x1f\x8b", b"\x1f"])
def test_a_file_with_nothing_in_it_is_no_backup(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "b"
    file.write_bytes(content)
    for source, stdin in ((str(file), None), ("-", content)):
        done = command("import", source, "--data-dir", str(tmp_path / "new"), stdin=stdin)
        assert done.exit_code == 1
        assert done.stderr.startswith("mmmem: line 1: ")
        assert done.stderr.count("\n") == 1
    done = command("import", str(tmp_path / "missing"), "--data-dir", str(tmp_path / "new"))
    assert (done.exit_code, done.stderr) == (1, f"mmmem: {tmp_path / 'missing'}: No such file or directory\n")


def test_a_backup_cut_anywhere_is_refused(filled: bytes) -> None:
    for end in range(0, len(filled), 7):
        with pytest.raises(InvalidBackup):
            Reader(io.BytesIO(filled[:end])).check()


@pytest.mark.parametrize("compressed", [False, True])
def test_a_backup_with_any_bit_altered_is_refused_or_says_the_same(filled: bytes, *, compressed: bool) -> None:
    chance = random.Random(9)
    whole = gzip.compress(filled, mtime=0) if compressed else filled
    refused = 0
    for _ in range(200):
        altered = bytearray(whole)
        altered[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        try:
            source = gzip.GzipFile(fileobj=io.BytesIO(altered)) if compressed else io.BytesIO(altered)
            Reader(source).check()  # type: ignore[arg-type]
            assert gzip.decompress(altered) == filled
        except InvalidBackup:
            refused += 1
    assert refused > 150


def test_a_line_without_an_end_costs_no_more_memory_than_a_line_may(filled: bytes) -> None:
    header = filled.splitlines(keepends=True)[0]
    block = gzip.compress(b"a" * 2**24)
    for start in (b"", b'{"request":{"user_id":"'):
        bomb = gzip.compress(header + start) + 16 * block
        reader = Reader(gzip.GzipFile(fileobj=io.BytesIO(bomb)), Bounds(2**23, 1000))  # type: ignore[arg-type]
        tracemalloc.start()
        with pytest.raises(InvalidBackup, match="line 2: is longer than"):
            reader.check()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2.5 * 2**23


def test_a_line_of_very_many_values_is_not_parsed(filled: bytes) -> None:
    with pytest.raises(InvalidBackup, match="line 2: has more than 20 commas and brackets"):
        Reader(io.BytesIO(filled), Bounds(2**23, 20)).check()


def test_a_limit_that_was_lowered_keeps_no_backup_out() -> None:
    assert bounds(Settings(max_request_bytes=1024, max_json_values=1)) == bounds() == Bounds(2**29, 4_000_000)
    assert bounds(Settings(max_request_bytes=2**30)).nbytes == 2**33


def test_large_pictures_come_in_where_limits_are_lower_now(
    data_dir: Path, open_store: OpenStore, tmp_path: Path
) -> None:
    store = open_store()
    store.add(request("ada", "r", (picture((1, 2, 3), (64, 2)),)))
    lower = {
        f"MMMEM_{name}": "1"
        for name in ("MAX_IMAGE_BYTES", "MAX_IMAGE_PIXELS", "MAX_IMAGES_PIXELS", "MAX_IMAGE_ASPECT")
    }
    done = CliRunner().invoke(
        app,
        ["import", "-", "--data-dir", str(tmp_path / "new")],
        input=exported(store, vectors=False),
        env=WORDS_ENVIRONMENT | lower,
    )
    assert done.exit_code == 0, done.stderr
    assert "1 image" in done.stderr


def test_rows_that_share_an_id_are_still_told_apart(open_store: OpenStore) -> None:
    """No Add makes such, but a store may hold what an earlier version imported."""
    store = open_store()
    for number in range(3):
        made = request("ada", f"r{number}", f"text {number}")
        [encoded] = made.memories
        same = replace(encoded, memory=replace(encoded.memory, id="mem_same"))
        store.add(replace(made, memories=(same,)))
    kept = [each.memories[0].memory.text for each in store.requests(store.name("ada"))]
    assert kept == ["text 0", "text 1", "text 2"] == texts(store)
