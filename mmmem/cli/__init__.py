"""The command line, one module a command. Nothing heavy is imported before it is needed."""

from __future__ import annotations

from typing import Annotated

import typer

import mmmem
from mmmem.cli import add, backup, delete, doctor, explain, mcp, memories, models, purge, reindex, search, serve

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.command()(serve.serve)
app.command()(mcp.mcp)
app.command()(add.add)
app.command()(search.search)
app.command()(explain.explain)
app.command("list")(memories.list_)
app.command()(memories.show)
app.command()(delete.delete)
app.command()(memories.stats)
app.command()(purge.purge)
app.command("export")(backup.export)
app.command("import")(backup.import_)
app.command()(reindex.reindex)
app.command()(doctor.doctor)
app.add_typer(models.app, name="models", help="The models' files and what they must be.")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mmmem {mmmem.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """A multimodal memory service for AI agents."""
