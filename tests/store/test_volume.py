"""What a store holds on disk is counted file by file, while others write and remove."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mmmem.store.volume import Part, parts

SIZES = {"u_1.lance/data/a.lance": 100, "u_1.lance/_versions/1": 10, "u_2.lance/data/b": 5, "locks/0": 0, "x/y/z": 7}


def fill(folder: Path) -> None:
    for name, size in SIZES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(size))
    (folder / "u_9.lance").symlink_to(folder / "u_1.lance")


def test_users_are_told_from_the_rest(tmp_path: Path) -> None:
    fill(tmp_path)
    link = (tmp_path / "u_9.lance").lstat().st_size
    expected = [Part("users", 2, 110), Part("users", 1, 5), Part("users", 1, link), Part("other", 1, 0)]
    assert sorted(parts(tmp_path)) == sorted([*expected, Part("other", 1, 7)])


def test_what_goes_meanwhile_is_left_out(tmp_path: Path) -> None:
    fill(tmp_path)
    found = parts(tmp_path)
    first = next(found)
    for name in ("u_1.lance", "u_2.lance", "locks", "x"):
        shutil.rmtree(tmp_path / name)
    assert sum(part.files for part in found) <= 1
    assert first.files >= 1


@contextlib.contextmanager
def folders_below_each_other(top: Path, name: str, count: int, file: str) -> Iterator[None]:
    """So many folders, the innermost with a file of 11 bytes; gone afterwards, which shutil.rmtree may not manage."""
    with contextlib.chdir(top):
        for _ in range(count):
            Path(name).mkdir()
            os.chdir(name)
        Path(file).write_bytes(bytes(11))
        try:
            yield
        finally:
            Path(file).unlink()
            for _ in range(count):
                os.chdir("..")
                Path(name).rmdir()


def test_folders_below_each_other_without_end_are_counted(tmp_path: Path) -> None:
    fill(tmp_path)
    with folders_below_each_other(tmp_path / "x", "d", 1_200, "file"):
        assert Part("other", 2, 18) in parts(tmp_path)


def test_what_cannot_be_looked_into_is_left_out(tmp_path: Path) -> None:
    fill(tmp_path)
    with folders_below_each_other(tmp_path / "x", "d" * 200, 25, "file"):  # no path may be so long, not even root's
        found = list(parts(tmp_path))
    assert Part("other", 1, 7) in found
    assert sum(part.kind == "users" for part in found) == 3
