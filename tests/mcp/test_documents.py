"""What docs/mcp.md gives to paste works, and the command says what is missing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mmmem.cli import app
from mmmem.mcp_server.tools import KINDS
from tests.mcp.agents import ROOT, environment

DOCUMENT = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
CONFIGURATIONS = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)]
KEYS = ("mcpServers", "servers", "context_servers")


def servers() -> list[dict[str, Any]]:
    return [each[key]["memory"] for each in CONFIGURATIONS for key in KEYS if key in each]


def test_every_configuration_names_a_server() -> None:
    assert len(servers()) == len(CONFIGURATIONS) == 6


@pytest.mark.parametrize("server", [each for each in servers() if "command" in each])
def test_the_command_of_a_configuration_is_one(server: dict[str, Any]) -> None:
    assert server["command"] == "mmmem"
    shown = CliRunner().invoke(app, [*server["args"], "--help"], catch_exceptions=False)
    assert shown.exit_code == 0
    options = [argument for argument in server["args"] if argument.startswith("--")]
    assert set(options) <= set(re.findall(r"`(--[a-z-]+)", commands()))
    assert "--user" in options


def commands() -> str:
    """The section of docs/commands.md."""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    return text.partition("## mmmem mcp\n")[2].partition("\n## ")[0]


def test_every_tool_and_argument_is_described() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*)$", DOCUMENT, re.MULTILINE))
    assert set(rows) == set(KINDS)
    for name, kind in KINDS.items():
        assert set(kind.arguments.model_fields) == set(re.findall(r"`(\w+)`", rows[name]))


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The command, without the SDK."""
    code = f"import sys; sys.modules['mcp'] = None; from mmmem.cli import app; app({['mcp', *arguments]!r}, prog_name='mmmem')"
    return subprocess.run(
        [sys.executable, "-c", code], env=environment(**settings), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--user", "ann"], 1, "pip install 'mmmem[mcp]'"),
        ([], 2, "--user"),
        (["--user", "ann", "--port", "-1"], 2, "MMMEM_MCP_PORT"),
    ],
)
def test_what_is_missing_is_said_in_one_line(arguments: list[str], code: int, said: str, tmp_path: Path) -> None:
    done = run(*arguments, data_dir=str(tmp_path / "data"))
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "data").exists()


def test_a_folder_and_a_service_are_not_taken_together() -> None:
    done = CliRunner().invoke(app, ["mcp", "--user", "ann", "--url", "http://127.0.0.1:1", "--data-dir", "x"])
    assert done.exit_code == 2
