"""A backup that is not whole is not imported, and the first line that is wrong is named; none of its content is."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mmmem.cli import app
from mmmem.errors import InvalidBackup
from tests.backup.conftest import WORDS, exported, imported, picture
from tests.store.content import OpenStore, request, texts

Change = Callable[[list[bytes]], list[bytes]]
SECRET = "said in confidence"


@pytest.fixture
def backup(open_store: OpenStore) -> bytes:
    """A header, four requests and the end."""
    store = open_store()
    for number in range(4):
        store.add(request("ada", f"r{number}", f"{SECRET} {number}", (picture((number, 1, 2)),)))
    return exported(store)


def sealed(lines: list[bytes]) -> list[bytes]:
    """The same lines under right checksums."""
    checksum, found = b"", []
    for line in lines:
        body = line.rpartition(b',"sha256":"')[0]
        checksum = hashlib.sha256(checksum + body).hexdigest().encode()
        found.append(body + b',"sha256":"' + checksum + b'"}\n')
    return found


def memory(line: dict[str, Any]) -> dict[str, Any]:
    first: dict[str, Any] = line["request"]["memories"][0]
    return first


def changed(number: int, change: Callable[[dict[str, Any]], object]) -> Change:
    """One line says something else, and no checksum tells."""

    def apply(lines: list[bytes]) -> list[bytes]:
        value = json.loads(lines[number - 1])
        change(value)
        return sealed([*lines[: number - 1], json.dumps(value, separators=(",", ":")).encode(), *lines[number:]])

    return apply


DAMAGES: dict[str, tuple[Change, str]] = {
    "nothing": (lambda lines: [], "line 1: is cut short, or missing"),
    "another file": (lambda lines: [b"id,name\n"], "line 1: is not what was written"),
    "the end missing": (lambda lines: lines[:-1], "line 6: is cut short, or missing"),
    "cut within a line": (lambda lines: [*lines[:3], lines[3][:200]], "line 4: is cut short, or missing"),
    "cut at the last byte": (lambda lines: [*lines[:5], lines[5][:-1]], "line 6: is cut short, or missing"),
    "a byte altered": (lambda lines: [*lines[:2], lines[2].replace(b"r1", b"r7"), *lines[3:]], "line 3: is not what was"),
    "a line missing": (lambda lines: lines[:2] + lines[3:], "line 3: is not what was written there"),
    "a line twice": (lambda lines: lines[:3] + lines[2:], "line 4: is not what was written there"),
    "without its header": (lambda lines: lines[1:], "line 1: is not what was written there"),
    "two in one": (lambda lines: lines + lines, "line 7: comes after the end"),
    "a newer version": (changed(1, lambda line: line["mmmem_backup"].update(version=2)), "line 1: is of version 2, .*update"),
}  # fmt: skip
FORGED: dict[str, tuple[Change, str]] = {
    "a line missing": (lambda lines: sealed(lines[:2] + lines[3:]), "line 5: counts other requests"),
    "without its header": (lambda lines: sealed(lines[1:]), "line 1: is not the first line"),
}
WRONG: dict[str, tuple[Change, str]] = {
    "a field missing": (changed(3, lambda line: line["request"].pop("user_id")), "line 3: .*user_id Field required"),
    "a field too many": (changed(3, lambda line: line["request"].update(x=1)), "line 3: .*x Extra inputs"),
    "no number": (changed(3, lambda line: memory(line).update(created_at="now")), "line 3: .*created_at"),
    "no Base64": (changed(3, lambda line: line["request"].update(body_hash="%")), "line 3: .*body_hash"),
    "no data: URL": (
        changed(3, lambda line: line["request"]["memories"][1]["content"][0]["image_url"].update(url="none")),
        "line 3: .*data: URL",
    ),
    "narrow vectors": (
        changed(3, lambda line: memory(line)["vectors"].update(dense="AAAAAA==")),
        "line 3: has vectors",
    ),
    "torn vectors": (changed(3, lambda line: memory(line)["vectors"].update(tokens="AAA=")), "line 3: has vectors"),
    "no memories": (changed(3, lambda line: line["request"].update(memories=[])), "line 3: .*memories"),
}


@pytest.mark.parametrize("name", [*DAMAGES, *WRONG])
def test_what_is_wrong_is_said_by_its_line_and_only_what_is_before_it_is_kept(
    backup: bytes, open_store: OpenStore, tmp_path: Path, name: str
) -> None:
    change, said = (DAMAGES | WRONG)[name]
    damaged = b"".join(change(backup.splitlines(keepends=True)))
    store = open_store()
    store.delete_user("ada")
    with pytest.raises(InvalidBackup, match=said) as refused:
        imported(store, damaged)
    assert SECRET not in str(refused.value)
    kept = texts(store)[::2]
    assert kept == [f"{SECRET} {number}" for number in range(4)][: len(kept)]
    assert ("line 3" in said) <= (len(kept) == 1)
    imported(store, backup)
    assert exported(store) == backup


@pytest.mark.parametrize("name", FORGED)
def test_lines_that_somebody_took_out_are_noticed_at_the_end(backup: bytes, open_store: OpenStore, name: str) -> None:
    change, said = FORGED[name]
    with pytest.raises(InvalidBackup, match=said):
        imported(open_store(), b"".join(change(backup.splitlines(keepends=True))))


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("compressed", [False, True])
def test_of_a_file_that_is_not_whole_nothing_is_stored(
    backup: bytes, tmp_path: Path, name: str, *, compressed: bool
) -> None:
    change, said = DAMAGES[name]
    damaged = b"".join(change(backup.splitlines(keepends=True)))
    file = tmp_path / "backup.jsonl"
    file.write_bytes(gzip.compress(damaged) if compressed else damaged)
    target = tmp_path / "new"
    for arguments in (["import", str(file), "--data-dir", str(target)], ["import", str(file), "--check"]):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 1
        assert done.stderr.startswith(f"mmmem: {said.partition('.*')[0]}")
        assert done.stderr.count("\n") == 1
        assert not target.exists()


def test_a_compressed_file_that_is_not_whole_is_said_to_be(backup: bytes, tmp_path: Path) -> None:
    file = tmp_path / "backup.gz"
    whole = gzip.compress(backup)
    for damaged in (whole[:-4], whole[: len(whole) // 2], whole[:300] + b"\xff" * 100 + whole[400:]):
        file.write_bytes(damaged)
        done = CliRunner().invoke(app, ["import", str(file), "--check"])
        assert done.exit_code == 1
        assert "damaged, or not whole" in done.stderr


def test_pictures_that_cannot_be_encoded_anew_stop_an_import_by_line(backup: bytes, tmp_path: Path) -> None:
    damaged = b"".join(
        changed(
            3,
            lambda line: line["request"]["memories"][1]["content"][0]["image_url"].update(
                url="data:image/png;base64,AAAA"
            ),
        )(backup.splitlines(keepends=True))
    )
    file = tmp_path / "backup.jsonl"
    file.write_bytes(damaged)
    env = {f"MMMEM_{name.upper()}": str(value) for name, value in WORDS.items()}
    done = CliRunner().invoke(app, ["import", str(file), "--data-dir", str(tmp_path / "new")], env=env)
    assert done.exit_code == 1
    assert "line 3: memories.1.content.0.image_url.url" in done.stderr
    assert "what came before, 1 request, is in the store" in done.stderr
