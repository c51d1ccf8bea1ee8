"""`mmmem purge`."""

from __future__ import annotations

from typing import Annotated

import typer

from mmmem.cli.ending import read_settings, stop
from mmmem.errors import MmmemError


def purge(
    *,
    user: Annotated[str | None, typer.Option(help="Remove all of this user.")] = None,
    days: Annotated[
        float | None,
        typer.Option(
            min=0, help="Remove users nothing was added to for so many days; by default MMMEM_RETENTION_DAYS."
        ),
    ] = None,
    data_dir: Annotated[
        str | None,
        typer.Option(
            help="Folder or bucket of the store, or MMMEM_DATA_DIR. A service may be using it at the same time."
        ),
    ] = None,
) -> None:
    """Remove one user, or all whose time is over, from disk. Loads no model; again is safe."""
    if user is not None and days is not None:
        raise typer.BadParameter("give --user or --days, not both")
    settings = read_settings() if data_dir is None else read_settings(data_dir=data_dir)
    days = settings.retention_days if days is None else days
    if user is None and not days:
        stop("nothing to remove: give --user or --days, or set MMMEM_RETENTION_DAYS")

    from mmmem.wiring import holds_store, open_to_remove

    try:
        if not holds_store(settings):
            stop("data_dir: there is no store")
        store = open_to_remove(settings)
        try:
            count = int(store.delete_user(user)) if user is not None else store.delete_expired(days)
        finally:
            store.close()
    except MmmemError as error:
        stop(str(error))
    typer.echo(f"{count:,} {'user' if count == 1 else 'users'} removed")
