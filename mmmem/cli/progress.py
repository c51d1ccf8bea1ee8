"""How far a long command has come: a bar with its rate, on stderr where that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mmmem.backup.counts import Advance, Counts


@contextmanager
def progress(task: str, total: int | None) -> Iterator[Advance]:
    """`total` is what Counts.done reaches at the end, None where nobody knows."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    screen = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[memories]:,} memories, {task.fields[rate]:,.0f}/s", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as bar:
        shown = bar.add_task(task, total=total, memories=0, rate=0.0)

        def advance(counts: Counts) -> None:
            elapsed = bar.tasks[0].elapsed or 0
            rate = counts.memories / elapsed if elapsed else 0.0
            bar.update(shown, completed=counts.done, memories=counts.memories, rate=rate)

        yield advance


def told(number: int, noun: str) -> str:
    """`3 users`, `1 user`, `2 memories`."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"
