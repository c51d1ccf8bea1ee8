"""What the commands for memories have in common: the options that say whose and where, and the door that is opened with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mmmem.cli.ending import BAD_SETTINGS, read_settings, said_once, stop, tidied
from mmmem.errors import InvalidInput, MmmemError, NotFound, TooLarge

if TYPE_CHECKING:
    from mmmem.library.door import Door

ATTEMPTS = 3  # of what fails in passing: a person waits

User = Annotated[str, typer.Option(help="Whose memories.")]
DataDir = Annotated[
    str | None,
    typer.Option(help="Folder or bucket of the store, or MMMEM_DATA_DIR. A service may be using it at the same time."),
]
Url = Annotated[str | None, typer.Option(help="Ask this running service, in place of opening a folder.")]
Key = Annotated[
    str | None, typer.Option(envvar="MMMEM_API_KEY", show_default=False, help="Its key, where it asks for one.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object (docs/command-line.md).")]


class Needs(Enum):
    """What a command needs of a folder."""

    TO_ADD = "models; the store is made when missing"
    TO_SEARCH = "models and a store"
    STORE = "a store alone"


class Where(NamedTuple):
    """A service or a folder, as the options name it."""

    data_dir: str | None
    url: str | None
    key: str | None


@contextmanager
def opened(where: Where, needs: Needs, names: Mapping[str, str]) -> Iterator[Door]:
    """Memories to work with. What is wrong with that, or meanwhile, ends the command in one line.

    names: what the caller knows the fields of a request as.
    """
    if where.url is not None and where.data_dir is not None:
        raise typer.BadParameter("give --url or --data-dir, not both")
    known = {"user_id": "--user", "url": "--url", "key": "--key", **names}
    try:
        with said_once(), tidied(), closing(_door(where, needs)) as door:
            yield door
    except (InvalidInput, TooLarge) as error:
        stop(f"{known.get(error.field, error.field)}: {error.problem}" if error.field else error.problem)
    except NotFound as error:
        stop(str(error))
    except MmmemError as error:
        stop(f"--url: {error}" if where.url is not None else str(error))


def _door(where: Where, needs: Needs) -> Door:
    if where.url is not None:
        from mmmem.library.client import Client

        return Client(where.url, key=where.key, attempts=ATTEMPTS)
    from mmmem.library.engine import Memory, StoreDoor
    from mmmem.wiring import holds_store

    settings = read_settings() if where.data_dir is None else read_settings(data_dir=where.data_dir)
    if needs is Needs.STORE:
        return StoreDoor(settings)
    if needs is Needs.TO_SEARCH and not holds_store(settings):  # opening would make one
        stop("data_dir: there is no store in this folder")
    from rich.console import Console

    with Console(stderr=True).status("Loading the models"):
        return Memory(settings.data_dir)


def agreed(question: str, *, yes: bool) -> None:
    """Ends the command unless the person at the terminal, or an option, says yes."""
    import sys

    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        stop("give --yes: there is no terminal to ask on", BAD_SETTINGS)
    if not typer.confirm(question, err=True):
        stop("nothing was deleted")
