"""The commands in this process, on a folder where only words are compared: no model is loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mmmem.cli import app
from tests.contract.pictures import draw
from tests.contract.test_observability import WORDS_ONLY

Command = Callable[..., Result]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder that is not there yet."""
    return tmp_path / "data"


@pytest.fixture
def mmmem(data: Path) -> Command:
    """`mmmem` with these arguments, and with no variables of ours."""
    others: dict[str, str | None] = {name: None for name in os.environ if name.startswith("MMMEM_")}
    words = {f"MMMEM_{name.upper()}": value for name, value in WORDS_ONLY.items()}
    settings = others | words | {"MMMEM_DATA_DIR": str(data), "COLUMNS": "100", "TERM": "dumb"}

    def run(*arguments: str, said: str | bytes = "") -> Result:
        return CliRunner().invoke(app, list(arguments), input=said, env=settings)

    return run


@pytest.fixture
def red(tmp_path: Path) -> Path:
    """A picture file."""
    path = tmp_path / "red.png"
    draw("red").save(path)
    return path


def answer(result: Result) -> Any:
    """The one JSON object that a command printed, in ASCII."""
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()
    return json.loads(result.stdout)


def refused(result: Result, code: int = 1) -> str:
    """What a command said as it ended with this code: one line."""
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert result.stderr.startswith("mmmem: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("mmmem: ").rstrip("\n")
