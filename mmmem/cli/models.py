"""`mmmem models`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mmmem.cli.ending import FAILED, printable, read_settings, stop
from mmmem.errors import StartupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import TaskID

    from mmmem.encoders.fetching import Meter
    from mmmem.encoders.inventory import Stock

app = typer.Typer(no_args_is_help=True)
Names = Annotated[list[str] | None, typer.Argument(help="Models, by the names that `list` shows.", show_default=False)]


@app.command("list")
def show(*, json_: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Show every model: its licence, size and width, and whether its files are there and what they should be."""
    import json

    from rich.console import Console
    from rich.table import Table

    with _plainly():
        models = [(model, model.check()) for model in _stock()]
    if json_:
        typer.echo(json.dumps([_facts(model, fault) for model, fault in models], indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in ("name", "profile", "size", "dimensions", "licence", "state"):
        table.add_column(column, justify="right" if column in {"size", "dimensions"} else "left")
    for model, fault in models:
        size = "?" if model.size is None else f"{model.size / 1e6:,.1f} MB"
        row = (model.name, model.profile, size, str(model.dimensions or ""), model.licence, fault or "verified")
        table.add_row(*map(printable, row))
    # Wider than any row: names and commands in it are there to be copied, and none is cut short by a narrow terminal or a pipe.
    Console(markup=False, highlight=False, width=1000).print(table)


@app.command()
def verify(names: Names = None) -> None:
    """Hash models' files, by default of all that are there, and say what is wrong with them."""
    with _plainly():
        chosen = [_named(name) for name in names] if names else [model for model in _stock() if model.present]
        faults = {model.name: model.check() for model in chosen}
    for name, fault in faults.items():
        typer.echo(f"{name}: {printable(fault) if fault else 'verified'}", err=bool(fault))
    if any(faults.values()):
        raise typer.Exit(FAILED)


@app.command()
def path(name: Annotated[str, typer.Argument(help="The model's name.")]) -> None:
    """Print the folder of a model's files."""
    with _plainly():
        model = _named(name)
        if not model.present:
            stop(f"{name}: is not there; run `{model.command}`")
    typer.echo(str(model.folder))


@app.command()
def fetch(
    names: Names = None,
    *,
    from_: Annotated[
        Path | None, typer.Option("--from", help="A folder that has the files, in place of the hub.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="Where to put the models' folders, in place of MMMEM_MODELS_DIR.")
    ] = None,
) -> None:
    """Bring models from their hub, or from a folder, and verify them; by default the three that the clip profile takes.

    A download that was interrupted goes on where it stopped.
    """
    from mmmem.encoders.catalogue import fetched_folder, hub_models
    from mmmem.encoders.fetching import fetch as bring
    from mmmem.encoders.fetching import from_folder, from_hub
    from mmmem.wiring.clip import CHOICES

    settings = read_settings()
    with _plainly():
        offered = {model.name: model for model in hub_models(settings)}
        for name in names or CHOICES.values():
            if name not in offered:
                stop(f"{name}: comes with pip; run `{_named(name).command}`")
            model = offered[name]
            known = {file.path for file in model.files if file.sha256}
            origin = from_folder(from_ / name if (from_ / name).is_dir() else from_) if from_ else from_hub(model)
            with _progress(name) as meter:
                entry = bring(model, to or fetched_folder(settings), origin, meter)
            new = [file for file in entry.files if file.path not in known]
            typer.echo(f"{name}: {len(entry.files)} files, {sum(file.size for file in entry.files):,} bytes, verified")
            for file in new:  # nobody has vouched for these
                typer.echo(f"  pinned as it came: {file.path} {file.size} {file.sha256}")


@app.command()
def pin(
    name: Annotated[str, typer.Argument(help="What to call the model.")],
    path: Annotated[Path, typer.Argument(exists=True, help="Its weights file, or its folder.")],
) -> None:
    """Print the manifest entry of a model that you have reviewed, for the file that MMMEM_MODELS_MANIFEST names."""
    from mmmem.encoders.weights import pin as entry

    with _plainly():
        typer.echo(entry(name, path))


def _stock() -> tuple[Stock, ...]:
    from mmmem.encoders.inventory import stock

    return stock(read_settings())


def _named(name: str) -> Stock:
    model = next((model for model in _stock() if model.name == name), None)
    return model or stop(f"{printable(name)}: is no model that `mmmem models list` shows")


def _facts(model: Stock, fault: str) -> dict[str, object]:
    files = [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in model.files]
    keys = ("name", "profile", "source", "revision", "licence", "dimensions", "size", "present")
    return {**{key: getattr(model, key) for key in keys}, "fault": fault, "files": files}


@contextmanager
def _plainly() -> Iterator[None]:
    """What is wrong with models or manifests ends the command in one line."""
    try:
        yield
    except StartupError as error:
        stop(str(error))


@contextmanager
def _progress(name: str) -> Iterator[Meter]:
    """A bar for each file, on stderr where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}

        def meter(file: str, done: int, size: int | None) -> None:
            if file not in tasks:
                tasks[file] = progress.add_task(f"{name} {file}", total=size)
            progress.update(tasks[file], completed=done, total=size)

        yield meter
