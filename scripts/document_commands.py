#!/usr/bin/env python3
"""Write docs/commands.md from the command line itself: every command with its arguments and options.

    python scripts/document_commands.py

tests/test_docs.py fails when the file is not what this would write.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from mmmem.cli import app

DOCUMENT = Path(__file__).parents[1] / "docs" / "commands.md"
HEAD = """# Commands

What `mmmem COMMAND --help` says, of every command; written by `python scripts/document_commands.py`. Settings come from the
environment ([configuration.md](configuration.md)); an option wins over its variable. The exit code is 0 when all went well, 1 when it did not,
with one line on stderr, and 2 when a setting or an option cannot be right.
"""


def documented() -> str:
    """The document as it should be."""
    return HEAD + "".join(_command(typer.main.get_command(app), "mmmem"))


def _command(command: Any, name: str) -> Iterator[str]:
    yield f"\n## {name}\n\n{_prose(command.help)}\n"
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if rows:
        yield "\n| | |\n|---|---|\n" + "\n".join(rows) + "\n"
    for below, each in getattr(command, "commands", {}).items():
        yield from _command(each, f"{name} {below}")


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = parameter.name.strip("_").upper()
    else:
        name = "`, `".join([*parameter.opts, *parameter.secondary_opts])
    default = parameter.opts[0] if parameter.default is True else parameter.default
    shown = parameter.param_type_name == "option" and default not in {None, False, ()} and not callable(default)
    said = f" Default: `{default}`." if shown else ""
    return f"| `{name}`{' (required)' if parameter.required else ''} | {_prose(parameter.help)}{said} |"


def _prose(said: str | None) -> str:
    """As one line of Markdown, where a name in angle brackets would be a tag, which nobody sees."""
    return " ".join((said or "").split()).replace("<", "&lt;")


if __name__ == "__main__":
    DOCUMENT.write_text(documented(), encoding="utf-8")
