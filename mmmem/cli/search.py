"""`mmmem search`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mmmem.cli.doors import AsJson, DataDir, Key, Needs, Url, User, Where, opened
from mmmem.cli.thumbnails import Pictures, PicturesOption, drawing

if TYPE_CHECKING:
    from mmmem.library.contents import Part

Save = Annotated[
    Path | None, typer.Option(help="Write the pictures into this folder, made when missing, as ID-NUMBER.TYPE.")
]


def search(
    question: Annotated[
        str, typer.Argument(help="What to ask; left out to ask with a picture alone.", show_default=False)
    ] = "",
    *,
    user: User,
    image: Annotated[list[Path] | None, typer.Option(help="Picture to ask with; may be given again.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Choice of a multiple-choice question; may be given again.")
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, help="The most memories to show.")] = 5,
    save: Save = None,
    pictures: PicturesOption = Pictures.auto,
    data_dir: DataDir = None,
    url: Url = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Show the memories that answer a question, best first. `mmmem explain` says how each came to its place.

    Opens the data folder with the settings of the environment, or asks a running service (--url).
    """
    images = image or []
    asked: list[Part] = [{"type": "text", "text": question}] if question.strip() or not images else []
    names = {f"query.{len(asked) + place}": f"--image {path}" for place, path in enumerate(images)}
    names |= {f"{field}.image_url.url": name for field, name in names.items()}
    names |= {"query": "QUESTION", "query.0.text": "QUESTION", "options": "--option", "top_k": "--top-k"}
    with opened(Where(data_dir, url, key), Needs.TO_SEARCH, names) as door:
        found = door.search([*asked, *images], user_id=user, top_k=top_k, options=option)
    from mmmem.cli.memory_json import found_json, printed
    from mmmem.cli.memory_view import show_found
    from mmmem.cli.picture_files import saved

    files = [saved(memory, save) for memory in found]
    if as_json:
        printed({"memories": [found_json(memory, names) for memory, names in zip(found, files, strict=True)]})
    else:
        show_found(found, files, drawing(pictures))
