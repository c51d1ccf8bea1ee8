"""A backup that is not whole is not imported, and the first line that is wrong is named; none of its content is."""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from mmmem.cli import app
from mmmem.errors import InvalidBackup
from mmmem.types import FIRST_MOMENT, LAST_MOMENT
from tests.backup.conftest import WORDS_ENVIRONMENT, exported, imported, opened, picture
from tests.store.content import OpenStore, request, texts

Change = Callable[[list[bytes]], list[bytes]]
SECRET = "said in confidence"


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A header, four requests and the end."""
    with opened(str(tmp_path_factory.mktemp("damage"))) as store:
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


def base64(*numbers: float, dtype: str = "<f4") -> str:
    return b64encode(np.array(numbers, dtype).tobytes()).decode()


def picture_of(line: dict[str, Any]) -> dict[str, Any]:
    """What the second memory's picture is searched by."""
    found: dict[str, Any] = line["request"]["memories"][1]["vectors"]["images"][0]
    return found


def shown(line: dict[str, Any]) -> dict[str, Any]:
    """The second memory's picture."""
    part: dict[str, Any] = line["request"]["memories"][1]["content"][0]
    return part


def others(line: dict[str, Any], **fields: Any) -> None:
    line["request"]["memories"][1].update(fields)


def newer(line: dict[str, Any]) -> None:
    line["mmmem_backup"].update(version=2, encoders={"text": SECRET})


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
    "ends of lines of Windows": (lambda lines: [line[:-1] + b"\r\n" for line in lines], "line 1: ends with a carriage return"),
    "a byte order mark": (lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]], "line 1: is not what was written there"),
    "a file without lines": (lambda lines: [b"x" * 3_000_000], "line 1: is longer than a first or last line"),
    "a newer version": (changed(1, newer), "line 1: is of a newer version, this mmmem reads 1: update mmmem"),
    "no version": (changed(1, lambda line: line["mmmem_backup"].update(version=0)), "line 1: is of a version that there never was"),
}  # fmt: skip
FORGED: dict[str, tuple[Change, str]] = {
    "a line missing": (lambda lines: sealed(lines[:2] + lines[3:]), "line 5: counts other"),
    "without its header": (lambda lines: sealed(lines[1:]), "line 1: is not the first line"),
    **{
        f"other {count}": (changed(6, lambda line, count=count: line["end"].update({count: 3})), "line 6: counts other")
        for count in ("users", "requests", "memories", "images")
    },
}
WRONG: dict[str, tuple[Change, str]] = {
    "a field missing": (changed(3, lambda line: line["request"].pop("user_id")), "user_id: is required"),
    "a field too many": (
        changed(3, lambda line: memory(line).update({SECRET: 1})),
        "memories.0: has a field that is not of this format",
    ),
    "a part of another kind": (changed(3, lambda line: memory(line)["content"][0].update(type=SECRET)), "memories.0.content.0.type: must be text or image_url"),
    "no number": (changed(3, lambda line: memory(line).update(created_at="now")), "memories.0.created_at: must be a whole number"),
    "no Base64": (changed(3, lambda line: line["request"].update(body_hash="%")), "body_hash: must be Base64"),
    "no hash": (changed(3, lambda line: line["request"].update(body_hash="AAAA")), "body_hash: must be a SHA-256"),
    "no text": (changed(3, lambda line: memory(line).update(role={"base64": "/w=="})), "memories.0.role: must be UTF-8"),
    "no data: URL": (changed(3, lambda line: shown(line)["image_url"].update(url="none")), "memories.1.content.0.image_url.url: must be a data: URL"),
    "a data: URL that is not Base64": (changed(3, lambda line: shown(line)["image_url"].update(url="data:image/png,AAAA")), "image_url.url: must be Base64"),
    "no data": (changed(3, lambda line: shown(line)["image_url"].update(url="data:image/png;base64,")), "image_url.url: holds no data"),
    "narrow vectors": (changed(3, lambda line: memory(line)["vectors"].update(dense=base64(0))), "has vectors that do not fit the store: a dense vector has shape"),
    "torn vectors": (changed(3, lambda line: memory(line)["vectors"].update(tokens="AAA=")), "memories.0.vectors: must have as many token vectors"),
    "torn numbers": (changed(3, lambda line: memory(line)["vectors"].update(dense="AAA=")), "memories.0.vectors.dense: must be whole numbers"),
    "tokens of no vocabulary": (changed(3, lambda line: memory(line)["vectors"].update(token_ids=base64(-1, dtype="<i4"))), "token_ids: must not be negative"),
    "no number in a vector": (changed(3, lambda line: picture_of(line).update(vector=base64(float("nan"), *[0] * 5))), "memories.1.vectors.images.0.vector: must be finite"),
    "an infinite number": (changed(3, lambda line: picture_of(line).update(appearance=base64(float("inf"), *[0] * 4))), "images.0.appearance: must be finite"),
    "a vector that outshines all": (changed(3, lambda line: picture_of(line).update(vector=base64(1e30, *[0] * 5))), "images.0.vector: must be finite, and no longer than 1"),
    "a picture without its vectors": (changed(3, lambda line: line["request"]["memories"][1]["vectors"].update(images=[])), "memories.1: must have the vectors of as many"),
    "no memories": (changed(3, lambda line: line["request"].update(memories=[])), "memories: must not be empty"),
    "a memory of nothing": (changed(3, lambda line: memory(line).update(content=[])), "memories.0: must hold text or an image"),
    **{
        f"an empty {field}": (changed(3, lambda line, field=field: line["request"].update({field: ""})), f"{field}: must not be empty")
        for field in ("user_id", "request_id")
    },
    **{
        f"an empty {field} of a memory": (changed(3, lambda line, field=field: memory(line).update({field: ""})), f"memories.0.{field}: must not be empty")
        for field in ("id", "session_id", "role")
    },
    **{
        f"a {field} that is no date {side}": (changed(3, lambda line, field=field, at=at: memory(line).update({field: at})), f"memories.0.{field}: is too")
        for field in ("timestamp", "created_at")
        for side, at in (("yet", LAST_MOMENT + 1), ("any more", FIRST_MOMENT - 1))
    },
    "an id that fits into no address": (changed(3, lambda line: memory(line).update(id="m" * 257)), "memories.0.id: is longer"),
    "memories of two sessions": (changed(3, lambda line: others(line, session_id="another")), "memories: must be of one session"),
    "an id twice in a request": (changed(3, lambda line: others(line, id=memory(line)["id"])), "memories: must not have an id of another"),
    "an id of an earlier request": (
        lambda lines: changed(3, lambda line: others(line, id=memory(json.loads(lines[1]))["id"]))(lines),
        "memories.1.id: is that of an earlier memory",
    ),
    "a request twice": (changed(3, lambda line: line["request"].update(request_id="r0")), "request_id: is that of an earlier request"),
    "users out of order": (changed(3, lambda line: line["request"].update(user_id="0")), "user_id: is not in the order"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*DAMAGES, *WRONG])
def test_what_is_wrong_is_said_by_its_line_and_only_what_is_before_it_is_kept(
    backup: bytes, open_store: OpenStore, tmp_path: Path, name: str
) -> None:
    change, said = (DAMAGES | WRONG)[name]
    damaged = b"".join(change(backup.splitlines(keepends=True)))
    store = open_store()
    with pytest.raises(InvalidBackup) as refused:
        imported(store, damaged)
    assert said in str(refused.value)
    assert SECRET not in str(refused.value)
    kept = texts(store)[::2]
    assert kept == [f"{SECRET} {number}" for number in range(4)][: len(kept)]
    assert ("line 3" in str(refused.value)) <= (len(kept) == 1)
    assert imported(store, backup).known == len(kept)
    assert exported(store) == backup


@pytest.mark.parametrize("name", FORGED)
def test_lines_that_somebody_took_out_are_noticed_at_the_end(backup: bytes, open_store: OpenStore, name: str) -> None:
    change, said = FORGED[name]
    with pytest.raises(InvalidBackup, match=said):
        imported(open_store(), b"".join(change(backup.splitlines(keepends=True))))


@pytest.mark.parametrize(
    ("name", "compressed"),
    [
        *((name, True) for name in DAMAGES),
        *((name, False) for name in [*DAMAGES, *FORGED, *WRONG] if name != "narrow vectors"),  # than the store's
    ],
)
def test_of_a_file_that_is_not_whole_nothing_is_stored(
    backup: bytes, tmp_path: Path, name: str, *, compressed: bool
) -> None:
    change, said = (DAMAGES | FORGED | WRONG)[name]
    damaged = b"".join(change(backup.splitlines(keepends=True)))
    file = tmp_path / "backup.jsonl"
    file.write_bytes(gzip.compress(damaged) if compressed else damaged)
    target = tmp_path / "new"
    for arguments in (["import", str(file), "--data-dir", str(target)], ["import", str(file), "--check"]):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 1
        assert done.stderr.startswith("mmmem: line ")
        assert said in done.stderr
        assert SECRET not in done.stderr
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
    done = CliRunner().invoke(app, ["import", str(file), "--data-dir", str(tmp_path / "new")], env=WORDS_ENVIRONMENT)
    assert done.exit_code == 1
    assert "line 3: memories.1.content.0.image_url.url" in done.stderr
    assert "what came before, 1 request, is in the store" in done.stderr
