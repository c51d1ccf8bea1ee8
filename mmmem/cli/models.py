"""`mmmem models`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mmmem.cli.ending import stop
from mmmem.errors import StartupError

app = typer.Typer(no_args_is_help=True)


@app.command()
def pin(
    name: Annotated[str, typer.Argument(help="What to call the model.")],
    path: Annotated[Path, typer.Argument(exists=True, help="Its weights file, or its folder.")],
) -> None:
    """Print the manifest entry of a model that you have reviewed, for the file that MMMEM_MODELS_MANIFEST names."""
    from mmmem.encoders.weights import pin as entry

    try:
        typer.echo(entry(name, path))
    except StartupError as error:
        stop(str(error))
