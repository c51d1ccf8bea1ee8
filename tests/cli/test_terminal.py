"""What the commands do on a terminal, and do not do without one: pictures are drawn, and a deletion is asked about."""

from __future__ import annotations

import base64
import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from mmmem.cli.thumbnails import way
from tests.cli.conftest import Command
from tests.running import DEADLINE

KITTY = {"TERM": "xterm-kitty"}
ITERM = {"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}


@pytest.fixture
def told(mmmem: Command, red: Path, data: Path) -> Path:
    """A folder with one memory."""
    assert mmmem("add", "My ball", "--image", str(red), "--user", "ann").exit_code == 0
    return data


def on_terminal(*arguments: str, typed: bytes = b"", **variables: str) -> tuple[int, bytes]:
    """The exit code of `mmmem` on a pseudo-terminal, and all that it wrote there."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2]), **variables}
    command = [sys.executable, "-m", "mmmem", *arguments]
    process = subprocess.Popen(command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, typed)
    written = bytearray()
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return process.wait(DEADLINE), bytes(written)


def only_id(mmmem: Command) -> str:
    return mmmem("list", "--user", "ann").stdout.splitlines()[1].strip()


def is_red(png: bytes) -> bool:
    with Image.open(io.BytesIO(png)) as image:
        return image.format == "PNG" and image.convert("RGB").getpixel((48, 48)) == (255, 0, 0)


def test_pictures_are_drawn_where_the_terminal_can(mmmem: Command, told: Path) -> None:
    show = ("show", only_id(mmmem), "--user", "ann", "--data-dir", str(told))
    code, shown = on_terminal(*show, **KITTY)
    chunks = re.findall(rb"\x1b_G(?:a=T,f=100,r=6,q=2,)?m=[01];([A-Za-z0-9+/=]*)\x1b\\", shown)
    assert code == 0
    assert is_red(base64.b64decode(b"".join(chunks)))

    code, shown = on_terminal(*show, **ITERM)
    (drawn,) = re.findall(rb"\x1b\]1337;File=inline=1;size=\d+;height=6;preserveAspectRatio=1:([^\x07]*)\x07", shown)
    assert code == 0
    assert is_red(base64.b64decode(drawn))


def test_nothing_is_drawn_where_it_is_not_wanted_or_cannot_be(mmmem: Command, told: Path) -> None:
    show = ("show", only_id(mmmem), "--user", "ann", "--data-dir", str(told))
    for arguments, variables in [(["--pictures", "off"], KITTY), (["--json"], ITERM)]:
        code, shown = on_terminal(*show, *arguments, **variables)
        assert code == 0
        assert b"\x1b_G" not in shown
        assert b"\x1b]" not in shown


def test_terminals_are_known_by_their_variables() -> None:
    for variables in (KITTY, {"KITTY_WINDOW_ID": "1"}, {"TERM_PROGRAM": "ghostty"}):
        drawn = way(variables)
        assert drawn is not None
        assert drawn(b"x" * 6000).startswith("\x1b_Ga=T,f=100,")
        assert drawn(b"x" * 6000).count("\x1b_G") == 2
    for variables in (ITERM, {"LC_TERMINAL": "iTerm2"}, {"TERM_PROGRAM": "WezTerm"}):
        drawn = way(variables)
        assert drawn is not None
        assert drawn(b"x").startswith("\x1b]1337;File=inline=1;size=1;")
    for variables in ({}, {"TERM": "xterm"}, {**KITTY, "TMUX": "1"}, {**ITERM, "TERM": "screen.xterm"}):
        assert way(variables) is None


def test_a_deletion_is_asked_about(mmmem: Command, told: Path) -> None:
    delete = ("delete", "--all", "--user", "ann", "--data-dir", str(told))
    code, said = on_terminal(*delete, typed=b"n\n", TERM="dumb")
    assert code == 1
    assert b"Delete everything of ann, 1 memory? [y/N]:" in said
    assert b"mmmem: nothing was deleted" in said
    assert "My ball" in mmmem("list", "--user", "ann").stdout
    code, said = on_terminal(*delete, typed=b"y\n", TERM="dumb")
    assert code == 0
    assert b"1 memory deleted" in said
    assert mmmem("list", "--user", "ann").stdout == "no memories\n"
