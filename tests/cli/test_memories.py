"""`mmmem add`, `search`, `list`, `show`, `delete` and `stats` on a folder and against a service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, answer, refused
from tests.conftest import KEY
from tests.running import DEADLINE, RunningService

HOSTILE = "A green \x1b[31m boat\x07, \x9b2J \u202ereversed\u202c [bold red]no markup[/] :smile: <b>"
CONTROLS = ("\x1b", "\x07", "\x9b", "\u202e", "\r")
READING = (["list"], ["show", "mem_1"], ["delete", "mem_1", "--yes"], ["delete", "--all", "--yes"], ["stats"])


def listed(mmmem: Command, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(mmmem("list", "--user", "ann", "--json", *arguments))["memories"]
    return found


def test_what_is_told_is_found_listed_shown_counted_and_deleted(mmmem: Command, red: Path, tmp_path: Path) -> None:
    told = mmmem("add", "I", "adopted", "a", "cat", "--user", "ann", "--time", "2024-01-01T00:00Z", "--session", "s")
    assert (told.exit_code, told.stdout) == (0, "remembered\n")
    assert (
        mmmem("add", "-", "--image", str(red), "--user", "ann", "--role", "Bob", said="Her ball\nis red").exit_code == 0
    )

    found = mmmem("search", "Which pet? A cat?", "--user", "ann", "--top-k", "1").stdout
    assert found.startswith("1   ")
    assert "  2024-01-01 00:00  user: I adopted a cat\n" in found

    first, second = listed(mmmem)
    assert (first["text"], first["session_id"], first["timestamp"]) == ("I adopted a cat", "s", 1_704_067_200_000)
    assert (second["text"], second["role"], second["pictures"]) == ("Her ball\nis red", "Bob", 1)
    assert [each["text"] for each in listed(mmmem, "--newest", "--limit", "1")] == ["Her ball\nis red"]
    assert [each["text"] for each in listed(mmmem, "--session", "s")] == ["I adopted a cat"]
    human = mmmem("list", "--user", "ann", "--limit", "1").stdout.splitlines()
    assert human == ["2024-01-01 00:00  user: I adopted a cat", f"    {first['id']}", "there are more: --limit"]
    assert "  (1 picture) Bob: Her ball is red\n" in mmmem("list", "--user", "ann").stdout

    shown = mmmem("show", second["id"], "--user", "ann", "--save", str(tmp_path / "saved")).stdout.splitlines()
    file = tmp_path / "saved" / f"{second['id']}-1.png"
    assert shown[4:6] == ["Her ball", "is red"]
    assert shown[6].startswith("picture 1: PNG, 96×96, 0.")
    assert shown[6].endswith(f" kB: {file}")
    assert file.read_bytes() == red.read_bytes()

    counted = [line.split() for line in mmmem("stats", "--user", "ann").stdout.splitlines()]
    assert counted[:3] == [["memories", "2"], ["pictures", "1"], ["sessions", "2"]]
    assert mmmem("delete", first["id"], "--user", "ann", "--yes").stdout == "1 memory deleted\n"
    assert [each["id"] for each in listed(mmmem)] == [second["id"]]
    assert mmmem("delete", "--all", "--user", "ann", "--yes").stdout == "1 memory deleted\n"
    assert listed(mmmem) == []
    assert mmmem("search", "cat", "--user", "ann").stdout == "no memories\n"


def test_the_same_commands_ask_a_service(mmmem: Command, red: Path, keyed_service: RunningService, data: Path) -> None:
    at = ("--user", "told by command", "--url", keyed_service.url, "--key", KEY)
    assert mmmem("add", "My balloon", "--image", str(red), *at).exit_code == 0
    assert "  user: My balloon\n" in mmmem("search", "balloon", *at).stdout
    assert "  user: My balloon\n" in mmmem("search", "", "--image", str(red), *at).stdout
    (memory,) = answer(mmmem("list", "--json", *at))["memories"]
    assert answer(mmmem("show", memory["id"], "--json", *at)) == memory
    assert answer(mmmem("stats", "--json", *at))["images"] == 1
    assert answer(mmmem("delete", memory["id"], "--yes", "--json", *at))["deleted"] == 1
    assert refused(mmmem("stats", *at[:-2])) == (
        "--url: missing key; send it as `Authorization: Bearer KEY` or `Authorization: Token KEY` or `X-Api-Key: KEY`"
    )
    assert not data.exists()


@pytest.mark.parametrize("command", [*READING, ["search", "why?"]], ids=" ".join)
def test_a_folder_without_a_store_is_not_made_by_a_command_that_reads(
    mmmem: Command, command: list[str], data: Path
) -> None:
    assert refused(mmmem(*command, "--user", "ann")) == "data_dir: there is no store in this folder"
    assert not data.exists()


def test_commands_that_read_load_no_model(mmmem: Command, data: Path) -> None:
    assert mmmem("add", "I adopted a cat.", "--user", "ann").exit_code == 0
    code = (
        "import sys; from typer.testing import CliRunner; from mmmem.cli import app\n"
        "for command in ('list', 'stats'): print(CliRunner().invoke(app, [command, '--user', 'ann']).exit_code)\n"
        "print({'torch', 'transformers', 'onnxruntime'} & set(sys.modules))"
    )
    environment = {"MMMEM_DATA_DIR": str(data), "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.stdout == "0\n0\nset()\n", done.stderr


def test_the_same_request_again_changes_nothing(mmmem: Command) -> None:
    again = ("--user", "ann", "--request-id", "r1", "--time", "1704067200000")
    for _ in range(2):
        assert mmmem("add", "I adopted a cat", *again).exit_code == 0
    assert len(listed(mmmem)) == 1
    assert refused(mmmem("add", "I adopted a dog", *again)).startswith("--request-id: was already used with another")


def test_stored_text_cannot_command_the_terminal(mmmem: Command) -> None:
    assert mmmem("add", HOSTILE, "--user", "ann", "--role", f"x{HOSTILE}", "--session", f"s{HOSTILE}").exit_code == 0
    (memory,) = listed(mmmem)
    assert memory["text"] == HOSTILE
    for command in (["list"], ["show", memory["id"]], ["search", "boat"]):
        shown = mmmem(*command, "--user", "ann").stdout
        assert "[bold red]no markup[/] :smile: <b>" in shown
        assert not [control for control in CONTROLS if control in shown]


def test_text_that_looks_like_an_image_stays_text(mmmem: Command) -> None:
    assert mmmem("add", "data:image/png;base64,AAAA", "--user", "ann").exit_code == 0
    assert listed(mmmem)[0]["text"] == "data:image/png;base64,AAAA"


def test_what_is_wrong_is_said_by_the_name_of_the_option(mmmem: Command, tmp_path: Path) -> None:
    (tmp_path / "no.png").write_text("a secret")
    missing, broken = str(tmp_path / "missing.png"), str(tmp_path / "no.png")
    for arguments, said in [
        (["x", "--user", ""], "--user: must not be empty"),
        (["x", "--user", "ann", "--session", ""], "--session: must not be empty"),
        (["x", "--user", "ann", "--request-id", "r" * 100_000], "--request-id: is longer than"),
        (["x", "--user", "ann", "--time", "9" * 18], "--time: must be Unix milliseconds"),
        (["x", "--user", "ann", "--image", missing], f"--image {missing}: cannot be read: No such file"),
        (["--user", "ann", "--image", broken], f"--image {broken}: is not an image that can be read"),
        (["-", "--user", "ann"], "standard input: is no UTF-8"),
    ]:
        assert refused(mmmem("add", *arguments, said=b"\xff")).startswith(said)
    assert answer(mmmem("stats", "--user", "ann", "--json"))["memories"] == 0
    assert refused(mmmem("search", "x", "--user", "ann", "--top-k", "100000")).startswith("--top-k: ")
    assert refused(mmmem("show", "mem_1", "--user", "ann")) == "id: the user has no such memory"
    assert refused(mmmem("stats", "--user", "ann", "--url", "no address")) == "--url: is no address of a service"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "--user", "ann"], "give a text, or a picture"),
        (["add", "x", "--user", "ann", "--time", "noon"], "--time: must be as"),
        (["delete", "--user", "ann"], "give ids, or --all"),
        (["delete", "mem_1", "--all", "--user", "ann"], "give ids, or --all"),
        (["stats", "--user", "ann", "--url", "http://127.0.0.1:1", "--data-dir", "d"], "not both"),
    ],
)
def test_options_that_cannot_be_right_end_with_two(mmmem: Command, arguments: list[str], said: str) -> None:
    done = mmmem(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_nothing_is_deleted_unasked(mmmem: Command) -> None:
    assert mmmem("add", "I adopted a cat", "--user", "ann").exit_code == 0
    id_ = listed(mmmem)[0]["id"]
    for what in ([id_], ["--all"]):
        said = refused(mmmem("delete", *what, "--user", "ann", said="y\n"), 2)
        assert said == "give --yes: there is no terminal to ask on"
    assert len(listed(mmmem)) == 1


def test_a_memory_that_is_not_there_ends_a_deletion_with_one(mmmem: Command) -> None:
    assert mmmem("add", "I adopted a cat", "--user", "ann").exit_code == 0
    done = mmmem("delete", "mem_0", listed(mmmem)[0]["id"], "mem_1", "--user", "ann", "--yes")
    assert (done.exit_code, done.stdout) == (1, "1 memory deleted\n")
    assert done.stderr == "mmmem: 2 memories were not there\n"
    assert listed(mmmem) == []


def test_saving_replaces_no_file(mmmem: Command, red: Path, tmp_path: Path) -> None:
    assert mmmem("add", "--image", str(red), "--user", "ann").exit_code == 0
    saving = ("--user", "ann", "--save", str(tmp_path / "saved"), "--json")
    (file,) = answer(mmmem("search", "red", *saving))["memories"][0]["files"]
    assert answer(mmmem("search", "red", *saving))["memories"][0]["files"] == [file]  # it is there, and the same
    Path(file).write_text("mine")
    assert refused(mmmem("search", "red", *saving)) == f"--save {file}: File exists"
    assert Path(file).read_text() == "mine"
