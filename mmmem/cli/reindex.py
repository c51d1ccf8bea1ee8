"""`mmmem reindex`."""

from __future__ import annotations

from typing import Annotated

import typer

from mmmem.cli.ending import read_settings, stop
from mmmem.cli.progress import progress, told
from mmmem.errors import MmmemError


def reindex(
    *,
    profile: Annotated[str | None, typer.Option(help="Models to encode with: light or clip, or MMMEM_PROFILE.")] = None,
    data_dir: Annotated[
        str | None, typer.Option(help="Folder or bucket of the store, or MMMEM_DATA_DIR. No service may be using it.")
    ] = None,
) -> None:
    """Encode everything that is kept anew, with the models of the settings. Interrupted, it goes on where it was."""
    given = {"profile": profile, "data_dir": data_dir}
    settings = read_settings(**{name: value for name, value in given.items() if value is not None})

    from mmmem.backup.counts import Counts
    from mmmem.wiring import check, holds_store
    from mmmem.wiring.backup import reindexer

    counts = Counts()
    try:
        if not holds_store(settings):
            stop("data_dir: there is no store")
        check(settings)
        with reindexer(settings) as anew, progress("Encoding", len(anew.names)) as advance:
            anew.run(counts, advance)
    except MmmemError as error:
        stop(str(error))
    done = f"{told(counts.users, 'user')} with {told(counts.memories, 'memory')} encoded anew"
    typer.echo(f"{done}, {told(counts.done - counts.users, 'user')} were of these models before")
