"""Conversations with questions in LoCoMo's format (Maharana et al., 2024), told to a real service; no text of theirs is in here.

A turn becomes one message, `Speaker: text`, a second after the one before it in its session; a session is told in Adds of at
most 20 messages; a conversation is one user. Questions without evidence are left out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

from rich.box import MARKDOWN
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from mmmem import wiring
from mmmem.channels import EncodedQuery
from mmmem.memory import MemoryService
from mmmem.settings import Settings
from mmmem.types import AddRequest, Message, Query, TextPart

MESSAGES = 20  # of an Add, at most
TOP_K = 100
DEFAULT = "default"  # the store that the default settings write, in a folder of stores
BESIDE = 8  # questions, or users, on their way to the encoder at a time
WIDTH_OF_A_LOG = 160


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one conversation. `evidence` are the ids of the turns that answer it, at least one."""

    user_id: str
    text: str
    evidence: tuple[str, ...]
    category: int

    @property
    def query(self) -> Query:
        """The question as it is searched."""
        return Query(self.user_id, (TextPart(self.text),), TOP_K)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one user said, and what is asked about it. `turns` are the texts by id."""

    user_id: str
    adds: tuple[AddRequest, ...]
    turns: Mapping[str, str]
    questions: tuple[Question, ...]


def read(file: Path) -> list[Conversation]:
    """The file's conversations, in order."""
    return [_conversation(sample) for sample in json.loads(file.read_text(encoding="utf-8"))]


def _conversation(sample: Mapping[str, Any]) -> Conversation:
    user_id, talk = str(sample["sample_id"]), sample["conversation"]
    adds: list[AddRequest] = []
    turns: dict[str, str] = {}
    for name, start, session in _sessions(talk):
        turns |= {turn["dia_id"]: f"{turn['speaker']}: {turn['text']}" for turn in session}
        messages = [
            Message(
                "user" if turn["speaker"] == talk["speaker_a"] else "assistant",
                (TextPart(turns[turn["dia_id"]]),),
                start + place * 1_000,
            )
            for place, turn in enumerate(session)
        ]
        adds += [
            AddRequest(f"{name}:{first}", user_id, name, tuple(messages[first : first + MESSAGES]))
            for first in range(0, len(messages), MESSAGES)
        ]
    asked = [
        Question(user_id, one["question"], tuple(e for e in one.get("evidence", []) if e in turns), one["category"])
        for one in sample["qa"]
    ]
    return Conversation(user_id, tuple(adds), turns, tuple(question for question in asked if question.evidence))


def _sessions(talk: Mapping[str, Any]) -> Iterator[tuple[str, int, Sequence[Mapping[str, str]]]]:
    """Each session's name, its start in Unix ms ("1:56 pm on 8 May, 2023" names no zone: UTC), its turns."""
    number = 1
    while (name := f"session_{number}") in talk:
        start = datetime.strptime(talk[f"{name}_date_time"].strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        yield name, int(start.timestamp() * 1_000), talk[name]
        number += 1


def message_count(conversations: Sequence[Conversation]) -> int:
    """How many messages there are to tell."""
    return sum(len(add.messages) for conversation in conversations for add in conversation.adds)


class Evidence:
    """Of which turns of one conversation a returned text is evidence, read strictly: it holds that turn and no other one.

    So a longer memory buys nothing. Turns that say the same count as one; one that is part of another that is held does not
    count as held.
    """

    def __init__(self, turns: Mapping[str, str]) -> None:
        self._turns = {turn: _squashed(text) for turn, text in turns.items()}
        self._known: dict[str, frozenset[str]] = {}

    def of(self, text: str) -> frozenset[str]:
        """The ids of those turns."""
        if text not in self._known:
            squashed = _squashed(text)
            held = {turn: said for turn, said in self._turns.items() if said in squashed}
            longest = {
                said for said in held.values() if not any(said != other and said in other for other in held.values())
            }
            own = (turn for turn, said in held.items() if said in longest)
            self._known[text] = frozenset(own) if len(longest) == 1 else frozenset()
        return self._known[text]

    def ranks(self, texts: Sequence[str], evidence: Collection[str]) -> list[float]:
        """For each piece of evidence the rank, from 1, of the first of these texts that counts for it; inf for none."""
        found = [self.of(text) for text in texts]
        return [next((float(rank) for rank, of in enumerate(found, 1) if e in of), math.inf) for e in evidence]


def _squashed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()


@contextmanager
def told(
    settings: Settings, conversations: Sequence[Conversation], advance: Callable[[int], None]
) -> Iterator[MemoryService]:
    """A service that knows the conversations. What its folder has of them already is not encoded again."""
    service = wiring.build_service(settings)
    try:
        tell(service, conversations, advance)
        yield service
    finally:
        service.close()


def tell(service: MemoryService, conversations: Sequence[Conversation], advance: Callable[[int], None]) -> None:
    """Several conversations at a time, each in its order."""

    def one(conversation: Conversation) -> None:
        for add in conversation.adds:
            service.add(add)
            advance(len(add.messages))

    with ThreadPoolExecutor(BESIDE) as pool:
        list(pool.map(one, conversations))


def encode(
    service: MemoryService, questions: Sequence[Question], advance: Callable[[int], None]
) -> dict[str, EncodedQuery]:
    """Each question's text encoded, as the service would when it searches."""
    encoder = service._search._questions  # wiring makes it and hands it to nobody else

    def encoded(question: Question) -> tuple[str, EncodedQuery]:
        found = encoder.encode(question.query, [], pictured=True)
        advance(1)
        return question.text, found

    with ThreadPoolExecutor(BESIDE) as pool:
        return dict(pool.map(encoded, questions))


class RateColumn(ProgressColumn):
    """Steps a second."""

    def render(self, task: Task) -> Text:
        """See ProgressColumn."""
        return Text(f"{task.finished_speed or task.speed or 0:,.0f}/s", style="progress.data.speed")


def console() -> Console:
    """For the terminal, or wide enough for a table in a log."""
    made = Console(highlight=False)
    if not made.is_terminal:
        made.width = WIDTH_OF_A_LOG
    return made


def progress(shown_on: Console) -> Progress:
    """How far each step is, how fast it goes and what time is left."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(), TimeRemainingColumn())
    return Progress(*columns, console=shown_on)


def step(shown: Progress, name: str, total: int) -> Callable[[int], None]:
    """A new line of the progress; call it with what was done."""
    task = shown.add_task(name, total=total)
    return lambda done: shown.advance(task, done)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """The first column is text, the others are figures."""
    made = Table()
    for place, name in enumerate(header):
        made.add_column(name, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        made.add_row(*row)
    return made


def write_markdown(tables: Sequence[Table], file: Path) -> None:
    """The tables, one below the other, as Markdown."""
    written = []
    for one in tables:
        paper = Console(file=StringIO(), width=10_000, color_system=None)
        one.box = MARKDOWN
        with paper.capture() as capture:
            paper.print(one)
        written.append(capture.get().strip())
    file.write_text("\n\n".join(written) + "\n", encoding="utf-8")


def decimal(value: float) -> str:
    """A share with three digits: .575."""
    return f"{value:.3f}".removeprefix("0")
