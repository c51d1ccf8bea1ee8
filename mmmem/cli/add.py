"""`mmmem add`."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mmmem.cli.doors import AsJson, DataDir, Key, Needs, Url, User, Where, opened
from mmmem.cli.ending import stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mmmem.library.contents import Part

STANDARD_INPUT = "-"


def add(
    text: Annotated[
        list[str] | None,
        typer.Argument(help="What to remember; several words are joined by spaces. - reads standard input."),
    ] = None,
    *,
    user: User,
    image: Annotated[
        list[Path] | None, typer.Option(help="Picture to remember, after the text; may be given again.")
    ] = None,
    session: Annotated[str, typer.Option(help="The conversation that it belongs to.")] = "default",
    role: Annotated[str, typer.Option(help="Who says it.")] = "user",
    time: Annotated[
        str | None,
        typer.Option(
            help="When it was said: 2024-01-31T09:00+01:00, without a zone this machine's time, or Unix milliseconds."
        ),
    ] = None,
    request_id: Annotated[
        str | None, typer.Option(help="The same one again, with the same message, changes nothing.")
    ] = None,
    data_dir: DataDir = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Remember one message of text, pictures or both. It is on disk and can be found when the command ends.

    Opens the data folder with the settings of the environment, and makes it when missing; or tells a running service (--url).
    """
    moment = None if time is None else _moment(time)
    parts = _parts(text or [], image or [])
    first = len(parts) - len(image or [])
    names = {f"messages.0.content.{first + place}": f"--image {path}" for place, path in enumerate(image or [])}
    names |= {f"{field}.image_url.url": name for field, name in names.items()}
    names |= {"messages.0.content": "TEXT", "messages.0.content.0.text": "TEXT", "messages.0.role": "--role"}
    names |= {"session_id": "--session", "request_id": "--request-id", "messages.0.timestamp": "--time"}
    with opened(Where(data_dir, url, key), Needs.TO_ADD, names) as door:
        added = door.add(parts, user_id=user, session_id=session, role=role, timestamp=moment, request_id=request_id)
    if as_json:
        ids = {"request_id": added.request_id, "user_id": added.user_id, "session_id": added.session_id}
        typer.echo(json.dumps(ids))
    else:
        typer.echo("remembered")


def _parts(text: Sequence[str], images: Sequence[Path]) -> list[Part]:
    said = _standard_input() if list(text) == [STANDARD_INPUT] else " ".join(text)
    if not said.strip() and not images:
        raise typer.BadParameter("give a text, or a picture by --image")
    return [*([{"type": "text", "text": said}] if said.strip() else []), *images]


def _standard_input() -> str:
    if sys.stdin is None:
        stop("standard input is closed")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except OSError as error:
        stop(f"standard input: {error.strerror or 'cannot be read'}")
    except UnicodeDecodeError:
        stop("standard input: is no UTF-8")


def _moment(time: str) -> int | datetime:
    try:
        return int(time) if time.lstrip("-").isdecimal() else datetime.fromisoformat(time).astimezone()
    except (ValueError, OverflowError):
        raise typer.BadParameter("--time: must be as 2024-01-31T09:00+01:00, or Unix milliseconds") from None
