#!/usr/bin/env python3
"""Why a picture came, or did not: what each channel puts first for a question with pictures, and a contact sheet to look at.

    python scripts/debug_image_query.py --user ann photo.jpg --data-dir ./data
    python scripts/debug_image_query.py --user ann --text "the red bicycle" --url http://127.0.0.1:8000 --expect mem_41c3...

Prints what the question's pictures were taken for, what came, and the best memories of each channel with rank, score, standard
deviations above the others, and the place at which they came. Writes image-query.html, one file that loads nothing, and
image-query.png, the same as a picture; those of an earlier run are replaced.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from contact_sheet import Sheet, deviations
from contact_sheet_blocks import Pen
from contact_sheet_cards import Card
from contact_sheet_html import html
from contact_sheet_png import png_sheet
from rich.table import Table
from rich.text import Text

from mmmem.api.contract import ExplainAnswer
from mmmem.cli.ending import printable, read_settings, stop
from mmmem.cli.explanation_sources import from_folder, from_service
from mmmem.cli.explanation_view import console, summary, taken_for
from mmmem.errors import InvalidInput, MmmemError, TooLarge
from mmmem.media.images import decode_image
from mmmem.types import ImagePart

HEADER = "data:application/octet-stream;base64"  # the bytes decide what they are
WIDTH_OF_A_LOG = 160
ID, FIGURE = 16, 6  # characters of an id that tell a user's memories apart, and of a figure
MOST_ON_A_SHEET = 50

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(help=__doc__)
def main(
    images: Annotated[list[Path] | None, typer.Argument(metavar="[IMAGE]...", help="Picture to ask with.")] = None,
    *,
    user: Annotated[str, typer.Option(help="Whose memories to search.")],
    text: Annotated[str, typer.Option(help="Words to ask with, beside the picture or alone.")] = "",
    url: Annotated[str | None, typer.Option(help="Ask this running service.")] = None,
    data_dir: Annotated[
        str | None,
        typer.Option(help="Open this folder of a store, with MMMEM_* settings. A service may be using it at the time."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(envvar="MMMEM_API_KEY", show_default=False, help="The service's key, where it asks for one."),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, max=MOST_ON_A_SHEET, help="Memories to show, of the answer and of each channel.")
    ] = 10,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Id, or its beginning, of a memory that ought to come: why it does not. May be given again.",
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option(min=1, help="Memories to ask for, so that those far down are found; MMMEM_MAX_TOP_K at most.")
    ] = 1_000,
    out: Annotated[Path, typer.Option(help="Folder to write the sheet to.")] = Path(),
    font: Annotated[
        Path | None,
        typer.Option(help="Font file for the PNG. Without one: Noto Sans CJK, DejaVu Sans or Pillow's own."),
    ] = None,
) -> None:
    """Ask, print, write."""
    if (url is None) == (data_dir is None):
        raise typer.BadParameter("give --url or --data-dir, one of them")
    paths = images or []
    if not paths and not text.strip():
        raise typer.BadParameter("give an IMAGE, --text, or both")
    # An answer for nobody but us: it may hold as many pictures as its bytes allow.
    settings = read_settings() if data_dir is None else read_settings(data_dir=data_dir, max_images=depth)
    pen = _pen(font)
    parts = [_part(path) for path in paths]
    words = [{"type": "text", "text": text}] if text.strip() else []
    fields = {f"query.{len(words) + place}.image_url.url": part for place, part in enumerate(parts)}
    query = [*words, *({"type": "image_url", "image_url": {"url": _data_url(part)}} for part in parts)]
    body = json.dumps({"query": query, "user_id": user, "top_k": max(top, depth)}).encode("ascii")
    try:
        pictures = [decode_image(part, field, settings) for field, part in fields.items()]
        answer = from_service(body, url, key) if url is not None else from_folder(body, settings)
    except (InvalidInput, TooLarge) as error:
        names = dict(zip(fields, map(str, paths), strict=True)) | {"query": "--text", "query.0.text": "--text"}
        names |= {"user_id": "--user", "top_k": "--depth"}
        stop(f"{names.get(error.field, error.field)}: {error.problem}")
    except MmmemError as error:
        stop(str(error))
    explained = ExplainAnswer.model_validate(answer)
    sheet = Sheet.of(explained, settings, user=user, question=text, images=pictures, top=top, expected=expect or [])
    _print(explained, sheet)
    _write(sheet, pen, out)


def _pen(font: Path | None) -> Pen:
    try:
        return Pen(font)
    except OSError:
        stop(f"--font {font}: is no font that can be read")


def _part(path: Path) -> ImagePart:
    try:
        return ImagePart(HEADER, path.read_bytes())
    except OSError as error:
        stop(f"{path}: {error.strerror}")


def _data_url(part: ImagePart) -> str:
    return f"{part.header},{base64.b64encode(part.data).decode('ascii')}"


def _print(answer: ExplainAnswer, sheet: Sheet) -> None:
    screen = console()
    if not screen.is_terminal:
        screen.width = WIDTH_OF_A_LOG
    for picture in answer.query_pictures:
        screen.print(Text(f"asked with {taken_for(picture)}"))
    if not sheet.cards:
        screen.print("no memories")
    for title, table in _tables(sheet):
        screen.print()
        screen.print(Text(title, style="bold"))
        screen.print(table)
    for identifier, card in sheet.awaited:
        screen.print(Text(f"\nexpected {printable(identifier)}: {printable(sheet.why(card))}"), soft_wrap=True)


def _tables(sheet: Sheet) -> Iterator[tuple[str, Table]]:
    """What came, then the best of each channel, each with its title."""
    if sheet.cards:
        came = _table("place", "score", "fused", "by fusion at", "reranked at")
        for card in sheet.hits:
            fused, looked = card.memory.fused, card.memory.reranked
            figures = (
                f"{card.memory.score:.3f}",
                f"{fused.score:+.2f}",
                str(fused.rank),
                str(looked.rank) if looked else "–",
            )
            _add(came, card, str(card.place), *figures)
        yield f"what came: the first {len(sheet.hits)} of {len(sheet.cards)}", came
    for channel in sheet.channels:
        best = sheet.best(channel)
        table = _table("rank", "score", "deviations", "added", "came at")
        for card in best.cards:
            said = best.said(card)
            figures = f"{said.score:.3f}", f"{deviations(said):+.2f}", f"{said.added:+.2f}", str(card.place)
            _add(table, card, str(said.rank), *figures)
        yield best.title, table


def _table(*figures: str) -> Table:
    made = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0), expand=True)
    for name in figures:
        made.add_column(name, justify="right", no_wrap=True, min_width=max(len(name), FIGURE))
    made.add_column("id", no_wrap=True, min_width=ID)
    made.add_column("memory", no_wrap=True, overflow="ellipsis", ratio=1)
    return made


def _add(table: Table, card: Card, *figures: str) -> None:
    told = " ".join([summary(card.memory), *(taken_for(picture) for picture in card.memory.pictures)])
    table.add_row(*figures, Text(printable(card.id)[:ID]), Text(told))


def _write(sheet: Sheet, pen: Pen, out: Path) -> None:
    page, picture = out / "image-query.html", out / "image-query.png"
    try:
        out.mkdir(parents=True, exist_ok=True)
        page.write_bytes(html(sheet))
        png_sheet(sheet, pen).save(picture)
    except OSError as error:
        stop(f"--out {out}: {error.strerror or error}")
    typer.echo(f"\nwrote {page} and {picture}")


if __name__ == "__main__":
    app()
