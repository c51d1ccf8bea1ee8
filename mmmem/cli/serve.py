"""`mmmem serve`."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import Annotated, NoReturn

import typer

from mmmem.cli.ending import FAILED, read_settings, stop
from mmmem.errors import StartupError


def serve(
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 for any free one.")] = None,
    data_dir: Annotated[str | None, typer.Option(help="Folder of the store, or s3://, gs://, az://.")] = None,
    profile: Annotated[str | None, typer.Option(help="Models: light or clip.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that serve one data folder together.")] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
) -> None:
    """Serve the HTTP API. Each option can also be set as MMMEM_<NAME>; docs/configuration.md lists all settings."""
    # Of the first process of a container the kernel drops a signal that has no handler: until the server has its own, this one ends it.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: _end())
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
    settings = read_settings()
    # Before numpy is imported, which would ask for huge pages for large arrays: a system that has to make them first took
    # .4 to .9 s to read a user of 10,000 memories in place of .3, and searches are no faster for them.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    # Of another program: prometheus_client, once imported, would count there too. Several workers get a folder of their own.
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)

    from mmmem.api.logs import configure_logging
    from mmmem.api.server import run
    from mmmem.wiring import check

    configure_logging(settings)
    try:
        check(settings)
        run(settings)
    except StartupError as error:
        if settings.log_format == "text":
            stop(str(error))
        logging.getLogger(__name__).error("%s", error)  # noqa: TRY400 - a line like any other
        raise typer.Exit(FAILED) from None
    finally:
        _ignore_signals()


def _end() -> NoReturn:
    _ignore_signals()
    sys.exit(0)


def _ignore_signals() -> None:
    """It is ending: another one would kill it on its way out, with a status that says so."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
