"""`mmmem doctor`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from mmmem.cli.ending import FAILED, printable, read_settings

if TYPE_CHECKING:
    from rich.console import Console

    from mmmem.doctor import Finding, State

_COLOURS = {"ok": "green", "warning": "yellow", "fault": "bold red", "skipped": "dim"}
_GIB = 1024**3


def doctor(
    *,
    data_dir: Annotated[str | None, typer.Option(help="Folder or bucket of the store, or MMMEM_DATA_DIR.")] = None,
    profile: Annotated[str | None, typer.Option(help="Models: light or clip, or MMMEM_PROFILE.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Read no memories, load no models.")] = False,
    free_gib: Annotated[float, typer.Option(min=0, help="Free space to ask for where the data is, GiB.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print an array of check, state, says and advice.")] = False,
) -> None:
    """Look for what is wrong: settings, packages, machine, device, weights, data folder, every stored memory; then a timed self-test.

    Each line says what to do about it. Ends with 1 where there is a fault. Changes nothing of the store, which a service may be using.
    """
    if not math.isfinite(free_gib):
        raise typer.BadParameter("must be a number of GiB", param_hint="--free-gib")
    given = {"data_dir": data_dir, "profile": profile}
    settings = read_settings(**{name: value for name, value in given.items() if value is not None})

    import json

    from rich.console import Console

    from mmmem.doctor import State, diagnose

    console = Console(markup=False, highlight=False)
    findings = []
    for finding in diagnose(settings, free_bytes=int(free_gib * _GIB), quick=quick):
        findings.append(finding)
        if not as_json:
            _print(console, finding)
    if as_json:
        typer.echo(json.dumps([finding._asdict() for finding in findings], indent=2))
    else:
        console.print("\n" + ", ".join(_count(findings, state) for state in (State.FAULT, State.WARNING)))
    if any(finding.state is State.FAULT for finding in findings):
        raise typer.Exit(FAILED)


def _count(findings: list[Finding], state: State) -> str:
    count = sum(finding.state is state for finding in findings)
    return f"{count} {state}" + ("" if count == 1 else "s")


def _print(console: Console, finding: Finding) -> None:
    console.print(f"{finding.state:<8}", style=_COLOURS[finding.state], end="")
    console.print(f"{finding.check}: {printable(finding.says)}", soft_wrap=True)
    if finding.advice:
        console.print(f"        → {printable(finding.advice)}", soft_wrap=True)
