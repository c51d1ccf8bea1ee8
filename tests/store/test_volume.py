"""What a store holds on disk is counted file by file, while others write and remove."""

from __future__ import annotations

import shutil
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
