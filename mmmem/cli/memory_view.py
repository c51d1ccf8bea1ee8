"""Memories as a person reads them on a terminal. All that is stored passes `printable`: a terminal obeys what it is sent."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mmmem.cli.ending import printable
from mmmem.cli.explanation_view import INDENT, clipped, console
from mmmem.cli.picture_files import described
from mmmem.cli.progress import told
from mmmem.presentation import AFTER, BEFORE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from rich.console import Console

    from mmmem.library.results import FoundMemory, ImageFile, StoredMemory, Usage

    Draw = Callable[[ImageFile], str]


def show_found(memories: Sequence[FoundMemory], files: Sequence[Sequence[Path]], draw: Draw | None) -> None:
    """Place, score, time and text of each, its id, its pictures and the files they were saved as."""
    screen = console()
    if not memories:
        screen.print("no memories")
    for place, (memory, saved) in enumerate(zip(memories, files, strict=True), start=1):
        own = (line for line in memory.text.splitlines() if not line.startswith((BEFORE, AFTER)))
        head = f"{place:<{INDENT - 1}} {memory.score:.3f}  {_minute(memory.created_at)}  "
        _print(screen, head, printable(_untimed(" ".join(own), memory.created_at)))
        screen.print(Padding(Text(printable(memory.id), style="dim"), (0, 0, 0, INDENT), expand=False))
        _pictures(screen, memory.image_files, saved, draw, INDENT)


def show_listed(memories: Sequence[StoredMemory], *, more: bool) -> None:
    """Time, role, text and number of pictures of each, and its id."""
    screen = console()
    if not memories:
        screen.print("no memories")
    for memory in memories:
        noted = f"({told(memory.image_count, 'picture')}) " if memory.image_count else ""
        _print(screen, f"{_minute(memory.created_at)}  ", printable(f"{noted}{memory.role}: {memory.text}"))
        screen.print(Padding(Text(printable(memory.id), style="dim"), (0, 0, 0, INDENT), expand=False))
    if more:
        screen.print("there are more: --limit")


def show_whole(memory: StoredMemory, files: Sequence[Path], draw: Draw | None) -> None:
    """All that is stored of it, its text line by line."""
    screen = console()
    rows = {"id": memory.id, "time": _minute(memory.created_at), "session": memory.session_id, "role": memory.role}
    for name, value in rows.items():
        _print_whole(screen, f"{name:<9}{printable(value)}")
    for line in memory.text.splitlines():
        _print_whole(screen, printable(line))
    _pictures(screen, memory.image_files, files, draw)
    left_out = memory.image_count - len(memory.image_files)
    if left_out:
        screen.print(f"({told(left_out, 'picture')} more than an answer has room for)")


def show_usage(usage: Usage) -> None:
    """A line for each figure."""
    screen = console()
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for name, count in (("memories", usage.memories), ("pictures", usage.images), ("sessions", usage.sessions)):
        table.add_row(name, f"{count:,}")
    table.add_row("on disk", f"{usage.bytes / 1000:,.1f} kB")
    for name, moment in (("first", usage.first), ("last", usage.last)):
        table.add_row(name, _minute(moment) if moment else "–")
    screen.print(table)


def _print(screen: Console, head: str, text: str) -> None:
    row = Table.grid()
    row.add_row(Text(head, style="bold"), clipped(text, screen, screen.width - len(head)))
    screen.print(row)


def _print_whole(screen: Console, line: str) -> None:
    screen.print(Text(line), soft_wrap=True)


def _pictures(
    screen: Console, pictures: Sequence[ImageFile], files: Sequence[Path], draw: Draw | None, indent: int = 0
) -> None:
    """A line for each: what it is, and where it was saved; below that the picture, where it can be drawn."""
    for number, picture in enumerate(pictures):
        where = f": {files[number]}" if files else ""
        _print_whole(screen, " " * indent + printable(f"picture {number + 1}: {described(picture)}{where}"))
        drawn = draw(picture) if draw else ""
        if drawn:
            screen.file.write(f"{' ' * indent}{drawn}\n")
            screen.file.flush()


def _minute(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(" ", "minutes")[:16]


def _untimed(text: str, moment: datetime) -> str:
    """Without the time in front, which is shown already."""
    return text.removeprefix(f"[{_minute(moment)}] ")
