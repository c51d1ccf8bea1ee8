"""`mmmem delete`."""

from __future__ import annotations

from typing import Annotated

import typer

from mmmem.cli.doors import AsJson, DataDir, Key, Needs, Url, User, Where, agreed, opened
from mmmem.cli.ending import printable, stop
from mmmem.cli.progress import told


def delete(
    memory_ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="The memories' ids, as search and list show them.")
    ] = None,
    *,
    user: User,
    everything: Annotated[bool, typer.Option("--all", help="All that is stored of the user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    data_dir: DataDir = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Remove memories, from disk too, after asking. Loads no model. The exit code is 1 where one of them is not there.

    Without a terminal to ask on it needs --yes.
    """
    ids = list(dict.fromkeys(memory_ids or []))
    if bool(ids) == everything:
        raise typer.BadParameter("give ids, or --all")
    missing: list[str] = []
    with opened(Where(data_dir, url, key), Needs.STORE, {"id": "ID"}) as door:
        count = door.usage(user).memories if everything else len(ids)
        who = printable(user)
        what = f"everything of {who}, {told(count, 'memory')}" if everything else f"{told(count, 'memory')} of {who}"
        agreed(f"Delete {what}?", yes=yes)
        if everything:
            door.delete_all(user_id=user)
        else:
            missing = [id_ for id_ in ids if not door.delete(id_, user_id=user)]
    deleted = count - len(missing)
    if as_json:
        from mmmem.cli.memory_json import printed

        printed({"user_id": user, "deleted": deleted, "missing": missing})
    else:
        typer.echo(f"{told(deleted, 'memory')} deleted")
    if missing:
        stop(f"{told(len(missing), 'memory')} {'was' if len(missing) == 1 else 'were'} not there")
