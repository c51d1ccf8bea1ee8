#!/usr/bin/env python3
"""What an Add costs beside its encoding.

    python scripts/bench_add.py [--requests 30] [--messages 20] [--callers 4] [--check] [--json FILE]

The real service, in a temporary folder, is told a conversation: first by one caller, whose time is split by stage, then as much
again by several at once, each with a user of its own. HTTP and the parsing of JSON are not part of it. MMMEM_* settings apply.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial, wraps
from itertools import accumulate, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table
from tokenizers import Tokenizer

from mmmem import wiring
from mmmem.encoders.batched import BatchedTextEncoder
from mmmem.encoders.weights import verified_folder
from mmmem.ingest import Ingest
from mmmem.memory import MemoryService
from mmmem.settings import Settings
from mmmem.store import folder_place, index, lance, users
from mmmem.types import AddRequest, Message, TextPart

MOST = 1 / 3  # of the encoder's time, that everything else may take
WIDTH_OF_A_LOG = 120

SPEAKERS = (("user", "Mara"), ("assistant", "Tobias"))
LISTS = {
    "speaker": "Mara, Tobias",
    "person": "Amira, Bao, Carla, Dmitri, Elif, Femi, Greta, Hugo, Ines, Jonas, Kofi, Lena, Mateo, Nadia, Oskar, Priya, Rosa",
    "place": "Lisbon, Oslo, Kyoto, Quito, Ghent, Tbilisi, Leeds, Accra, Turin, the library, the office, the harbour, school",
    "thing": "bicycle, contract, guitar, passport, recipe, laptop, garden, invoice, novel, camera, sofa, ticket, puppy, violin",
    "verb": "bought, sold, painted, lost, found, repaired, borrowed, promised, cancelled, moved, planned, finished, sent",
    "month": "January, February, March, April, May, June, July, August, September, October, November, December",
}
STATEMENTS = (
    "{person} {verb} the {word} {thing} in {place} on {date}.",
    "I {verb} {number} {word} {thing}s, {words}.",
    "We were in {place} with {person}: {words}.",
    "It {words}, and {person} {verb} it.",
    "The {word} {thing} is {words}.",
    "{person} says {words}; see {name}.",
)
QUESTIONS = ("Did {person} {words}?", "When was the {word} {thing} {verb}?", "What about {place}, {words}?")
ANSWERS = ("Yes, on {date}: {words}.", "No, {person} {verb} it, {words}.", "{number}, {words}.", "In {place}, {words}.")
SEARCHES = (
    "What did {speaker} say about the {word} {thing}?",
    "Where was {person} when the {thing} was {verb}?",
    "Who {verb} the {word} {thing} in {place}?",
    "How many {word} {thing}s has {speaker} {verb}?",
    "Why did {person} mention {word} and {word}?",
    "When was {speaker} in {place}?",
    "What happened on {date}?",
    "Which {thing} belongs to {name}?",
)


class Turn(NamedTuple):
    """One message. `timestamp` is in Unix ms."""

    session_id: str
    role: str
    text: str
    timestamp: int


class Conversation:
    """Two people talk, without end and without sense; the same for the same seed.

    Most words are drawn by Zipf's law (Mandelbrot's form) from the 20,000 of the encoder's vocabulary, which is sorted by
    frequency: so few words are in nearly every memory and most are in a handful, and they are tokens as a language's are.
    """

    SESSION_TURNS = 20
    SESSION_MS, TURN_MS = 6 * 3_600_000, 40_000
    BEGIN_MS = 1_672_567_200_000  # 1 January 2023

    def __init__(self, seed: int) -> None:
        pick = self._random = random.Random(seed)
        ids = Tokenizer.from_file(str(verified_folder(wiring.light.MINILM) / "tokenizer.json")).get_vocab()
        letters = [word for word in sorted(ids, key=lambda word: ids[word]) if word.isascii() and word.isalpha()]
        words = [word for word in letters if len(word) > 1 or word in "ai"]
        weights = list(accumulate(1 / (rank + 2.7) for rank in range(1, len(words) + 1)))

        def drawn(least: int, most: int) -> str:
            return " ".join(pick.choices(words, cum_weights=weights, k=pick.randint(least, most)))

        self._fields: dict[str, Callable[[], str]] = {
            **{kind: partial(pick.choice, choices.split(", ")) for kind, choices in LISTS.items()},
            "word": lambda: drawn(1, 1),
            "words": lambda: drawn(5, 18),
            "number": lambda: str(pick.randint(2, 90)),
            "date": lambda: f"{pick.randint(1, 28)} {self._fields['month']()} {pick.choice((2023, 2024))}",
            "name": lambda: f"{pick.choice(('ERR', 'PR', 'INV'))}-{pick.randint(100, 4_000)}",
        }

    def turns(self) -> Iterator[Turn]:
        """Turn after turn, in sessions of twenty. Every third or so asks, and the next one answers."""
        number, asked = 0, False
        while True:
            session, place = divmod(number, self.SESSION_TURNS)
            role, speaker = SPEAKERS[number % 2]
            openings = ANSWERS if asked and place else STATEMENTS
            asked = self._random.random() < 0.3
            templates = [openings, *[STATEMENTS] * self._random.randrange(2), *[QUESTIONS] * asked]
            text = " ".join(self._fill(self._random.choice(kind)) for kind in templates)
            began = self.BEGIN_MS + session * self.SESSION_MS
            yield Turn(f"session {session}", role, f"{speaker}: {text}", began + place * self.TURN_MS)
            number += 1

    def search(self) -> str:
        """A question about all that; one in eight names a day, one in eight something like a ticket's number."""
        return self._fill(self._random.choice(SEARCHES))

    def _fill(self, template: str) -> str:
        return re.sub(r"{(\w+)}", lambda field: self._fields[field[1]](), template)


class Stopwatch:
    """Counts the wall time in a function, from now on, for one caller at a time: `seconds`."""

    def __init__(self, owner: object, name: str) -> None:
        """`owner` is the class or module in which the function is looked up."""
        self.seconds = 0.0
        timed = getattr(owner, name)

        @wraps(timed)
        def run(*args: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return timed(*args, **named)
            finally:
                self.seconds += time.perf_counter() - began

        setattr(owner, name, run)


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured. Times in seconds of the run by one caller; `stages` are what `everything_else` is made of."""

    cores: int
    messages: int
    seconds: float
    encoder: float
    everything_else: float
    stages: dict[str, float]
    callers: int
    concurrent_seconds: float

    @property
    def share(self) -> float:
        """Everything else, as a share of the encoder's time."""
        return self.everything_else / self.encoder


def adds(turns: Iterator[Turn], messages: int, users: Sequence[str]) -> Iterator[AddRequest]:
    """The turns as Adds of so many messages, the users taking turns."""
    for user_id in cycle(users):
        told = list(islice(turns, messages))
        if not told:
            return
        content = tuple(Message(turn.role, (TextPart(turn.text),), turn.timestamp) for turn in told)
        yield AddRequest(f"request at {told[0].timestamp}", user_id, told[0].session_id, content)


def measure(service: MemoryService, count: int, messages: int, callers: int) -> Figures:
    """Both runs, after an Add that warms up what is made on first use."""
    turns = Conversation(seed=0).turns()
    service.add(next(adds(turns, messages, ["warm up"])))
    alone = list(islice(adds(turns, messages, ["one"]), count))
    together = list(islice(adds(turns, messages, [f"caller {number}" for number in range(callers)]), count))

    encoder, ingest = Stopwatch(BatchedTextEncoder, "encode_memories"), Stopwatch(Ingest, "encode")
    arrays, store = Stopwatch(users.LanceStore, "arrays"), Stopwatch(users.LanceStore, "add")
    inside = {  # the store's add, in the order of what happens there
        "rows": Stopwatch(users, "to_rows"),
        "commit": Stopwatch(lance.Version, "append"),
        "fsync": Stopwatch(folder_place, "sync_table"),
        "index": Stopwatch(index.UserIndex, "extend"),
    }
    began = time.perf_counter()
    for request in track(alone, "One caller", transient=True):
        service.add(request)
    seconds = time.perf_counter() - began
    stages = {
        "look-up of the request and the session": arrays.seconds,
        "cutting, ids, terms": ingest.seconds - encoder.seconds,
        **{f"store: {name}": watch.seconds for name, watch in inside.items()},
        "store: the rest": store.seconds - sum(watch.seconds for watch in inside.values()),
    }
    stages["the rest"] = seconds - encoder.seconds - sum(stages.values())
    waited = encoder.seconds

    began = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(service.add, together))
    concurrent = time.perf_counter() - began
    return Figures(
        cores=len(os.sched_getaffinity(0)),
        messages=count * messages,
        seconds=seconds,
        encoder=waited,
        everything_else=seconds - waited,
        stages=stages,
        callers=callers,
        concurrent_seconds=concurrent,
    )


def report(figures: Figures) -> Table:
    """A row a stage, then messages a second."""
    columns = Table(title=f"{figures.messages} messages on {figures.cores} cores")
    columns.add_column("")
    for name in ("seconds", "ms a message", "of the encoder's time"):
        columns.add_column(name, justify="right")

    def row(name: str, seconds: float, style: str = "") -> None:
        share = f"{seconds / figures.encoder:.1%}"
        columns.add_row(name, f"{seconds:.2f}", f"{1_000 * seconds / figures.messages:.2f}", share, style=style)

    row("encoder", figures.encoder, "bold")
    row("everything else", figures.everything_else, "bold")
    for name, seconds in figures.stages.items():
        row(f"  {name}", seconds)
    columns.add_section()
    row("one caller", figures.seconds)
    row(f"{figures.callers} callers", figures.concurrent_seconds)
    return columns


def main() -> int:
    """Measure and print; 1 with --check when everything else takes too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=30, help="Adds in each of the two runs")
    parser.add_argument("--messages", type=int, default=20, help="messages of an Add")
    parser.add_argument("--callers", type=int, default=4, help="callers at a time in the second run")
    parser.add_argument("--check", action="store_true", help="fail when everything else exceeds a third of the encoder")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        service = wiring.build_service(Settings(data_dir=folder))
        try:
            figures = measure(service, options.requests, options.messages, options.callers)
        finally:
            service.close()
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_LOG
    console.print(report(figures))
    rates = (figures.messages / seconds for seconds in (figures.encoder, figures.seconds, figures.concurrent_seconds))
    console.print(
        "messages a second: {:.0f} by the encoder alone, {:.0f} by one caller, {:.0f} by {}".format(
            *rates, figures.callers
        )
    )
    console.print(f"everything else is {figures.share:.1%} of the encoder's time; {MOST:.1%} is allowed")
    if options.json:
        options.json.write_text(
            json.dumps(asdict(figures) | {"share": figures.share}, indent=2) + "\n", encoding="utf-8"
        )
    return int(options.check and figures.share > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
