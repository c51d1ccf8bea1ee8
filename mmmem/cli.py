"""The command line. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import mmmem
from mmmem.errors import StartupError

if TYPE_CHECKING:
    from typing import NoReturn

    from mmmem.settings import Settings

BAD_SETTINGS = 2

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

models = typer.Typer(no_args_is_help=True)
app.add_typer(models, name="models", help="The models' files and what they must be.")


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


@app.command()
def serve(
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 for any free one.")] = None,
    data_dir: Annotated[str | None, typer.Option(help="Folder of the store.")] = None,
    profile: Annotated[str | None, typer.Option(help="Models: light or clip.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that serve one data folder together.")] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
) -> None:
    """Serve the HTTP API. Each option can also be set as MMMEM_<NAME>; docs/configuration.md lists all settings."""
    options = {
        "HOST": host,
        "PORT": port,
        "DATA_DIR": data_dir,
        "PROFILE": profile,
        "WORKERS": workers,
        "LOG_LEVEL": log_level,
    }
    # Through the environment, because worker processes read their settings there too.
    os.environ.update({f"MMMEM_{name}": str(value) for name, value in options.items() if value is not None})
    settings = _settings()

    from mmmem.api.logs import configure_logging
    from mmmem.api.server import run
    from mmmem.wiring import check

    configure_logging(settings)
    try:
        check(settings)
        run(settings)
    except StartupError as error:
        _stop(str(error), 1)


@models.command()
def pin(
    name: Annotated[str, typer.Argument(help="What to call the model.")],
    path: Annotated[Path, typer.Argument(exists=True, help="Its weights file, or its folder.")],
) -> None:
    """Print the manifest entry of a model that you have reviewed, for the file that MMMEM_MODELS_MANIFEST names."""
    from mmmem.encoders.weights import pin as entry

    try:
        typer.echo(entry(name, path))
    except StartupError as error:
        _stop(str(error), 1)


def _settings() -> Settings:
    from pydantic import ValidationError

    from mmmem.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = "_".join(str(step) for step in first["loc"]).upper()
        _stop(f"MMMEM_{name}: {first['msg']}", BAD_SETTINGS)


def _stop(message: str, code: int) -> NoReturn:
    typer.echo(f"mmmem: {message}", err=True)
    raise typer.Exit(code)
