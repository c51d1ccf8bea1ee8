"""`mmmem export` and `mmmem import`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mmmem.chats.formats import Format
from mmmem.cli.backup_files import is_stream, opened, written
from mmmem.cli.chat_import import bring, is_chats
from mmmem.cli.doors import Key, Where
from mmmem.cli.ending import read_settings, said_once, stop, tidied
from mmmem.cli.progress import progress, told
from mmmem.errors import MmmemError

if TYPE_CHECKING:
    from mmmem.backup.counts import Counts
    from mmmem.settings import Settings

_NAMES = 10  # of tables that are said

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
    """Write everything that is kept to a file: one line of JSON an Add, images too (docs/backup.md). Loads no model.

    Users that cannot be read are left out, and said; the exit code is 1 then.
    """
    settings = read_settings() if data_dir is None else read_settings(data_dir=data_dir)

    from mmmem.backup.exporting import export as write
    from mmmem.wiring import holds_store, open_to_remove

    try:
        if not holds_store(settings):
            stop("data_dir: there is no store")
        with said_once(), tidied(), closing(open_to_remove(settings)) as store:
            names = sorted({store.name(each) for each in user}) if user else store.names()
            with written(file) as output, progress("Exporting", len(names)) as advance:
                counts = write(store, output, names, vectors=vectors, advance=advance)
                if user and counts.users + len(counts.left_out) < len(names):
                    stop("--user: nothing is kept of one of them")
    except MmmemError as error:
        stop(str(error))
    except OSError as error:
        stop(f"{file}: {error.strerror or 'cannot be used'}")
    typer.echo(f"exported {_counted(counts)}", err=True)
    if counts.left_out:
        stop(f"{_left_out(len(counts.left_out))}: {_named(counts.left_out)}; see `mmmem doctor`")


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            help="File that `mmmem export` wrote, - for standard input; or an export of chats: a folder, zip, .json or .txt."
        ),
    ],
    *,
    user: Annotated[
        list[str] | None,
        typer.Option(
            "--user", help="Of a backup only this user; may be given again. Of chats whose memories they become."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only read it as an import would, and see whether it is whole.")
    ] = False,
    chats: Annotated[
        Format, typer.Option("--format", help="Whose chats they are; auto: what the export looks like.")
    ] = Format.auto,
    data_dir: DataDir = None,
    url: Annotated[str | None, typer.Option(help="Tell the chats to this running service.")] = None,
    key: Key = None,
    as_json: Annotated[bool, typer.Option("--json", help="Of chats: print one JSON object of what was told.")] = False,
) -> None:
    """Put a backup, or an export of chats (ChatGPT, Claude, WhatsApp, Telegram), into a store, made when missing.

    Again is safe, and goes on where it was interrupted. A file is read through before anything of it is stored.
    """
    if _is_chats(file, chats):
        if check or user is None or len(user) != 1:
            raise typer.BadParameter("chats are imported for one --user, and without --check")
        bring(file, chats, user[0], Where(data_dir, url, key), as_json=as_json)
        return
    if url is not None or as_json:
        raise typer.BadParameter("--url and --json are for chats: a backup goes into a folder")
    from mmmem.backup.counts import Counts

    settings = read_settings() if data_dir is None else read_settings(data_dir=data_dir)
    counts = Counts()
    try:
        if check:
            _, left_out = _checked(file, settings)
            if left_out:
                stop(f"the file is whole, but not the backup: {_left_out(left_out)}")
            typer.echo("the file is whole", err=True)
            return
        total = None if is_stream(file) else _checked(file, settings)[0]
        left_out = _import(file, settings, frozenset(user or ()), counts, total)
    except MmmemError as error:
        if counts.requests == counts.known:
            stop(str(error))
        before = told(counts.requests, "request")
        stop(f"{error}; what came before, {before}, is in the store, and the same command goes on after that")
    except OSError as error:
        stop(f"{file}: {error.strerror or 'cannot be used'}")
    if user and not counts.requests:
        stop("--user: the file has nothing of them")
    typer.echo(f"imported {_counted(counts)}; {told(counts.known, 'request')} there before", err=True)
    if left_out:
        typer.echo(f"mmmem: warning: the backup is not whole: when it was made, {_left_out(left_out)}", err=True)


def _is_chats(file: Path, wanted: Format) -> bool:
    try:
        return wanted is not Format.auto or is_chats(file)
    except OSError as error:
        stop(f"{file}: {error.strerror or 'cannot be used'}")


def _checked(file: Path, settings: Settings) -> tuple[int, int]:
    """The length of a whole file's lines, and how many users were left out of it. Raises InvalidBackup."""
    from mmmem.backup.reading import Reader, bounds

    with opened(file) as source:
        reader = Reader(source, bounds(settings))
        return reader.check(), reader.left_out


def _import(file: Path, settings: Settings, users: frozenset[str], counts: Counts, total: int | None) -> int:
    """How many users were left out of the file."""
    from mmmem.backup.reading import Reader, bounds
    from mmmem.wiring import check
    from mmmem.wiring.backup import importer

    check(settings)
    with (
        said_once(),
        opened(file) as source,
        importer(settings) as into,
        progress("Importing", total) as advance,
    ):
        reader = Reader(source, bounds(settings))
        into.run(reader, counts, users, advance)
        return reader.left_out


def _counted(counts: Counts) -> str:
    parts = (
        (counts.users, "user"),
        (counts.requests, "request"),
        (counts.memories, "memory"),
        (counts.images, "image"),
    )
    return ", ".join(told(number, noun) for number, noun in parts)


def _left_out(users: int) -> str:
    return f"{told(users, 'user')} could not be read, and {'is' if users == 1 else 'are'} left out in whole or in part"


def _named(tables: list[str]) -> str:
    more = len(tables) - _NAMES
    return ", ".join(tables[:_NAMES]) + (f" and {more:,} more" if more > 0 else "")
