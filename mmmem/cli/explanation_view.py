"""An explanation as a person reads it on a terminal.

Stored text may hold what a terminal obeys, and what rich takes for markup. All text passes `printable`, and reaches rich as
Text, which has no markup.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.columns import Columns
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mmmem.api.contract import TextContent
from mmmem.cli.ending import printable
from mmmem.presentation import AFTER, BEFORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from mmmem.api.contract import Content, ExplainedMemory, PictureAnswer, RankAnswer, TokenAnswer

LINES = 2  # of text a memory is shown with
INDENT = 4
WORD_STARTS = ("▁", "Ġ")  # SentencePiece, byte-level BPE


def console() -> Console:
    """Standard output; what its encoding has no character for is shown as a question mark."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return Console(markup=False, highlight=False, emoji=False)


def view(place: int, memory: ExplainedMemory, screen: Console, tokens: int) -> RenderableType:
    """One memory: its place, score and text, what each channel said, and at most `tokens` matched tokens."""
    title = f"{place:<{INDENT - 1}} {memory.score:.3f}  "
    head = Table.grid()
    head.add_row(Text(title, style="bold"), clipped(summary(memory), screen, screen.width - len(title)))
    matches = Columns([Text(match) for match in matched(memory.tokens)[:tokens]], padding=(0, 3))
    parts: list[RenderableType] = [
        clipped(taken_for(picture), screen, screen.width - INDENT) for picture in memory.pictures
    ]
    parts += [_channels(memory), matches]
    return Group(head, *(Padding(part, (0, 0, 0, INDENT)) for part in parts))


def summary(memory: ExplainedMemory) -> str:
    """That there are pictures, when and by whom, and the memory's own text without the turns around it."""
    content: Content = memory.content
    texts = [content] if isinstance(content, str) else [part.text for part in content if isinstance(part, TextContent)]
    pictures = 0 if isinstance(content, str) else len(content) - len(texts)
    own = (line for text in texts for line in text.splitlines() if not line.startswith((BEFORE, AFTER)))
    noted = [] if not pictures else ["(picture)"] if pictures == 1 else [f"({pictures} pictures)"]
    # In front, where the end that is cut off cannot take them along.
    return printable(" ".join([*noted, *_received(memory, texts), *own]))


def taken_for(picture: PictureAnswer) -> str:
    """``(picture) espresso: "Caffè Torino"``: what it seems to show, and what is written in it."""
    written = f'"{" ".join(picture.text.split())}"' if picture.text else ""
    return printable(f"(picture) {': '.join(filter(None, [', '.join(picture.labels), written])) or 'nothing known'}")


def asked_with(picture: PictureAnswer) -> Text:
    """What a picture of the question was taken for."""
    return Text(f"asked with {taken_for(picture)}\n")


def matched(tokens: Sequence[TokenAnswer]) -> list[str]:
    """``painted → paint .83 (21 %)`` for each token of the question: its nearest, their cosine, its share of the weight."""
    by_word = any(text.startswith(WORD_STARTS) for match in tokens for text in (match.query, match.memory))
    return [
        f"{word(match.query, by_word)} → {word(match.memory, by_word)} {_cosine(match.similarity)} ({match.weight:.0%})"
        for match in tokens
    ]


def word(piece: str, by_word: bool) -> str:
    """A vocabulary's piece of a word as a reader knows it, ``…ing`` for one that goes on from another.

    WordPiece marks the pieces that go on; vocabularies `by_word` mark those that begin a word.
    """
    if piece.startswith("##") and len(piece) > 2:
        return f"…{printable(piece[2:])}"
    if by_word and not piece.startswith(WORD_STARTS):
        return f"…{printable(piece)}"
    return printable(piece[1:] if by_word and len(piece) > 1 else piece)


def _received(memory: ExplainedMemory, texts: Sequence[str]) -> list[str]:
    """When the memory came, where its message had no time of its own that its text would begin with."""
    minute = memory.created_at[:16].replace("T", " ")
    return [] if any(text.startswith(f"[{minute}]") for text in texts) else [f"[received {minute}]"]


def clipped(text: str, screen: Console, width: int) -> Text:
    """The beginning of a text, on LINES lines at most."""
    width = max(width, 20)
    lines = Text(text[: 2 * LINES * width]).wrap(screen, width)
    shown = [*lines][:LINES]
    if len(lines) > LINES:
        shown[-1].append(" …")
        shown[-1].truncate(width, overflow="ellipsis")
    return Text("\n").join(shown)


def _channels(memory: ExplainedMemory) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("channel")
    for name in ("rank", "score", "weight", "added"):
        table.add_column(name, justify="right")
    for name, said in sorted(memory.channels.items(), key=lambda channel: -abs(channel[1].added)):
        table.add_row(printable(name), *_place(said), f"{said.weight:.2f}", f"{said.added:+.3f}")
    table.add_row("fused", *_place(memory.fused), style="bold")
    table.add_row("reranked", *(_place(memory.reranked) if memory.reranked else "––"), style="bold")
    return table


def _place(place: RankAnswer) -> Iterable[str]:
    return str(place.rank), f"{place.score:.3f}"


def _cosine(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1)
