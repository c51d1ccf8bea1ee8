"""`mmmem export` and `mmmem import`."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from mmmem.cli.ending import read_settings, stop
from mmmem.cli.progress import progress, told
from mmmem.errors import MmmemError

if TYPE_CHECKING:
    from io import BufferedReader

    from mmmem.backup.counts import Counts
    from mmmem.settings import Settings

STANDARD = Path("-")
_GZIP = b"\x1f\x8b"

Users = Annotated[list[str] | None, typer.Option("--user", help="Only this user; may be given again.")]
DataDir = Annotated[
    str | None,
    typer.Option(help="Folder or bucket of the store, or MMMEM_DATA_DIR. A service may be using it at the same time."),
]


def export(
    file: Annotated[
        Path, typer.Argument(help="File to write, compressed where it ends in .gz; - for standard output.")
    ],
    *,
    user: Users = None,
    vectors: Annotated[
        bool,
        typer.Option(help="With the vectors, so that an import need not encode anew; without, a tenth of the size."),
    ] = True,
    data_dir: DataDir = None,
) -> None:
    """Write everything that is kept to a file: one line of JSON an Add, images too (docs/backup.md). Loads no model."""
    settings = read_settings() if data_dir is None else read_settings(data_dir=data_dir)

    from mmmem.backup.exporting import export as write
    from mmmem.wiring import holds_store, open_to_remove

    try:
        if not holds_store(settings):
            stop("data_dir: there is no store")
        with closing(open_to_remove(settings)) as store:
            names = sorted({store.name(each) for each in user}) if user else store.names()
            with _written(file) as output, progress("Exporting", len(names)) as advance:
                counts = write(store, output, names, vectors=vectors, advance=advance)
                if user and counts.users < len(names):
                    stop("--user: nothing is kept of one of them")
    except MmmemError as error:
        stop(str(error))
    except OSError as error:
        stop(f"{file}: {error.strerror or 'cannot be used'}")
    typer.echo(f"exported {_counted(counts)}", err=True)


def import_(
    file: Annotated[Path, typer.Argument(help="File that `mmmem export` wrote; - for standard input.")],
    *,
    user: Users = None,
    check: Annotated[bool, typer.Option("--check", help="Only see whether the file is whole.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Put what `mmmem export` wrote into a store, made when missing. Again is safe, and goes on where it was interrupted.

    A file is read through before anything of it is stored.
    """
    from mmmem.backup.counts import Counts

    settings = read_settings() if data_dir is None else read_settings(data_dir=data_dir)
    counts = Counts()
    try:
        total = _checked(file) if check or file != STANDARD else None
        if check:
            typer.echo("the file is whole", err=True)
            return
        _import(file, settings, frozenset(user or ()), counts, total)
    except MmmemError as error:
        if counts.requests == counts.known:
            stop(str(error))
        before = told(counts.requests, "request")
        stop(f"{error}; what came before, {before}, is in the store, and the same command goes on after that")
    except OSError as error:
        stop(f"{file}: {error.strerror or 'cannot be used'}")
    if user and not counts.requests:
        stop("--user: the file has nothing of them")
    typer.echo(f"imported {_counted(counts)}; {told(counts.known, 'request')} of them were there before", err=True)


def _checked(file: Path) -> int:
    """The length of a whole file's lines. Raises InvalidBackup."""
    from mmmem.backup.lines import Reader

    with _opened(file) as source:
        return Reader(source).check()


def _import(file: Path, settings: Settings, users: frozenset[str], counts: Counts, total: int | None) -> None:
    from mmmem.backup.lines import Reader
    from mmmem.wiring import check
    from mmmem.wiring.backup import importer

    check(settings)
    with _opened(file) as source, importer(settings) as into, progress("Importing", total) as advance:
        into.run(Reader(source), counts, users, advance)


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    """A file's lines, whether compressed or not."""
    with nullcontext(sys.stdin.buffer) if file == STANDARD else file.open("rb") as raw:
        source = cast("BufferedReader", raw)
        yield cast("BinaryIO", gzip.GzipFile(fileobj=source)) if source.peek(2)[:2] == _GZIP else source


@contextmanager
def _written(file: Path) -> Iterator[BinaryIO]:
    """Takes its name, and the place of what had it, once it is whole and on disk. For its owner alone to read."""
    if file == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = file.with_name(f"{file.name}.part")
    with open(part, "wb", opener=_private) as raw:
        try:
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if file.suffix == ".gz" else nullcontext(raw) as output:
                yield cast("BinaryIO", output)
            raw.flush()
            os.fsync(raw.fileno())
            part.replace(file)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _counted(counts: Counts) -> str:
    parts = (
        (counts.users, "user"),
        (counts.requests, "request"),
        (counts.memories, "memory"),
        (counts.images, "image"),
    )
    return ", ".join(told(number, noun) for number, noun in parts)
