"""`mmmem explain`."""

from __future__ import annotations

import base64
import json
import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmmem.cli.ending import read_settings, stop
from mmmem.errors import InvalidInput, MmmemError, TooLarge

if TYPE_CHECKING:
    from collections.abc import Sequence

LEFT_OUT = "(picture left out)"


def explain(
    question: Annotated[
        str, typer.Argument(help="What to ask; left out to ask with a picture alone.", show_default=False)
    ] = "",
    *,
    user: Annotated[str, typer.Option(help="Whose memories to search.")],
    image: Annotated[list[Path] | None, typer.Option(help="Picture to ask with; may be given again.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Choice of a multiple-choice question; may be given again.")
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, help="The most memories to show.")] = 5,
    changed: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Rank with another setting, such as weight_lexical=0.3; may be given again.",
        ),
    ] = None,
    data_dir: Annotated[
        str | None,
        typer.Option(help="Folder of the store, or MMMEM_DATA_DIR. A service may be using it at the same time."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="Ask this running service, in place of opening a folder.")] = None,
    key: Annotated[
        str | None, typer.Option(envvar="MMMEM_API_KEY", show_default=False, help="Its key, where it asks for one.")
    ] = None,
    tokens: Annotated[int, typer.Option(min=0, help="The most matched tokens to show of each memory.")] = 8,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what POST /explain answers, with a note in place of each picture.")
    ] = False,
) -> None:
    """Show which memories a question finds, and how each came to its place: by channel, fusion, reranker and tokens.

    Opens the data folder with the settings of the environment, or asks a running service (--url).
    """
    if url is not None and data_dir is not None:
        raise typer.BadParameter("give --url or --data-dir, not both")
    query = _query(question, image or [])
    asked = {"query": query, "options": option, "user_id": user, "top_k": top_k, "settings": _settings(changed or [])}
    body = json.dumps(asked).encode("ascii")
    try:
        answer = _ask(body, data_dir, url, key)
    except (InvalidInput, TooLarge) as error:
        stop(f"{_option_of(error.field, query, image or [])}: {error.problem}")
    except MmmemError as error:
        stop(str(error))
    if as_json:
        typer.echo(json.dumps(_without_pictures(answer), indent=2))
    else:
        _print(answer, tokens)


def _query(question: str, images: Sequence[Path]) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": question}] if question.strip() or not images else []
    return [*text, *({"type": "image_url", "image_url": {"url": _data_url(path)}} for path in images)]


def _settings(changed: Sequence[str]) -> dict[str, Any]:
    """Each value as JSON, or else as the text that it is."""
    settings: dict[str, Any] = {}
    for each in changed:
        name, equals, value = each.partition("=")
        if not equals:
            raise typer.BadParameter("give it as NAME=VALUE", param_hint="--set")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def _data_url(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        stop(f"--image {path}: {error.strerror}")
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def _option_of(field: str, query: Sequence[Any], images: Sequence[Path]) -> str:
    """What the caller knows a field of the request as."""
    first = len(query) - len(images)
    names = {f"query.{first + place}.image_url.url": f"--image {path}" for place, path in enumerate(images)}
    names |= {"query": "QUESTION", "query.0.text": "QUESTION", "options": "--option"}
    names |= {"user_id": "--user", "top_k": "--top-k"}
    if field.startswith("settings"):
        return field.replace("settings.", "--set ", 1).replace("settings", "--set", 1)
    return names.get(field, field)


def _ask(body: bytes, data_dir: str | None, url: str | None, key: str | None) -> dict[str, Any]:
    from mmmem.cli.explanation_sources import from_folder, from_service

    if url is not None:
        return from_service(body, url, key)
    return from_folder(body, read_settings() if data_dir is None else read_settings(data_dir=data_dir))


def _without_pictures(answer: dict[str, Any]) -> dict[str, Any]:
    for memory in answer["data"]:
        for part in memory["content"]:
            if isinstance(part, dict) and part["type"] == "image_url":
                part["image_url"]["url"] = LEFT_OUT
    return answer


def _print(answer: dict[str, Any], tokens: int) -> None:
    from mmmem.api.contract import ExplainAnswer
    from mmmem.cli.explanation_view import asked_with, console, view

    explained = ExplainAnswer.model_validate(answer)
    memories = explained.data
    screen = console()
    for picture in explained.query_pictures:
        screen.print(asked_with(picture))
    if not memories:
        screen.print("no memories")
    for place, memory in enumerate(memories, start=1):
        screen.print(view(place, memory, screen, tokens))
        screen.print()
