"""`mmmem list`, `mmmem show` and `mmmem stats`."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from mmmem.cli.doors import AsJson, DataDir, Key, Needs, Url, User, Where, opened
from mmmem.cli.search import Save
from mmmem.cli.thumbnails import Pictures, PicturesOption, drawing


def list_(
    *,
    user: User,
    session: Annotated[str | None, typer.Option(help="Only those of this conversation.")] = None,
    newest: Annotated[bool, typer.Option("--newest", help="The newest first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The most memories to show.")] = 50,
    data_dir: DataDir = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Show what is stored of a user, by time. Loads no model."""
    with opened(Where(data_dir, url, key), Needs.STORE, {"session_id": "--session"}) as door:
        memories = door.memories(user_id=user, session_id=session, newest_first=newest, images=False)
        shown = list(islice(memories, limit))
        more = next(memories, None) is not None
    from mmmem.cli.memory_json import printed, stored_json
    from mmmem.cli.memory_view import show_listed

    if as_json:
        printed({"memories": [stored_json(memory, []) for memory in shown], "more": more})
    else:
        show_listed(shown, more=more)


def show(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The memory's id, as search and list show it.")],
    *,
    user: User,
    save: Save = None,
    pictures: PicturesOption = Pictures.auto,
    data_dir: DataDir = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Show one memory whole. Loads no model."""
    with opened(Where(data_dir, url, key), Needs.STORE, {"id": "ID"}) as door:
        memory = door.get(memory_id, user_id=user)
    from mmmem.cli.memory_json import printed, stored_json
    from mmmem.cli.memory_view import show_whole
    from mmmem.cli.picture_files import saved

    files = saved(memory, save)
    if as_json:
        printed(stored_json(memory, files))
    else:
        show_whole(memory, files, drawing(pictures))


def stats(*, user: User, data_dir: DataDir = None, url: Url = None, key: Key = None, as_json: AsJson = False) -> None:
    """Show how much is stored of a user. Loads no model."""
    with opened(Where(data_dir, url, key), Needs.STORE, {}) as door:
        usage = door.usage(user)
    from mmmem.cli.memory_json import printed, usage_json
    from mmmem.cli.memory_view import show_usage

    if as_json:
        printed(usage_json(usage))
    else:
        show_usage(usage)
