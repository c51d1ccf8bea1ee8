#!/usr/bin/env python3
"""What each channel and switch of the ranking brings: all questions, with each of them off in turn.

    python scripts/ablate.py --data FILE [--only NAME ...] [--store FOLDER] [--json FILE] [--markdown FILE]

FILE holds conversations in LoCoMo's format (scripts/benchmark_data.py). They are told to a real service once, and every question
is encoded once; then each variant's own Search answers all of them, with MMMEM_CONTEXT_TURNS=0 and top_k=100. A memory counts as evidence
when it holds that turn and no other one. hit@k and MRR look at a question's first piece of evidence, recall@10 at every piece.
`chars` is what a search returns on average; `p50 ms` is a search without the encoding of its question, one at a time.

Beside a figure stands its difference from the first row's; beside the MRR also the standard error of that difference, over the same
questions: less than about two of those is luck. MMMEM_* settings apply to all rows, a variant's own on top.

--store keeps the told conversations for the next run. Take another folder after a change in how memories are encoded.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmark_data import (
    DEFAULT,
    Conversation,
    Evidence,
    console,
    decimal,
    encode,
    message_count,
    progress,
    read,
    step,
    table,
    told,
    write_markdown,
)
from rich.progress import Progress
from rich.table import Table

from mmmem.channels import EncodedQuery
from mmmem.encoders.device import choose_device
from mmmem.memory import MemoryService
from mmmem.questions import QuestionEncoder
from mmmem.search import Search
from mmmem.settings import Settings
from mmmem.types import Query, TextPart
from mmmem.wiring import rerankers

if TYPE_CHECKING:
    from mmmem.pictures import PreparedPicture

KS = (1, 3, 10, 50)
QUALITY = (*(f"hit@{k}" for k in KS), "mrr", "recall@10")

NO_LATE: dict[str, Any] = {"weight_maxsim": 0, "reranker": "none"}
BARE: dict[str, Any] = NO_LATE | {
    **dict.fromkeys(("weight_lexical", "weight_identifiers", "weight_entities", "weight_dense"), 0),
    **dict.fromkeys(("weight_speaker", "weight_date", "weight_when"), 0),
    **dict.fromkeys(("answer_share", "question_share", "neighbour_share", "recency", "need_places"), 0),
    "deduplicate": False,
}

# Each variant, and the settings that make it one.
VARIANTS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "maxsim off": NO_LATE,
    "lexical off": {"weight_lexical": 0},
    "identifiers off": {"weight_identifiers": 0},
    "speaker off": {"weight_speaker": 0},
    "date off": {"weight_date": 0},
    "event times off": {"event_times": False},
    "when off": {"weight_when": 0},
    "answers off": {"answer_share": 0},
    "questions off": {"question_share": 0},
    "neighbours off": {"neighbour_share": 0},
    "recency off": {"recency": 0},
    "need places off": {"need_places": 0},
    "deduplicate off": {"deduplicate": False},
    "reranker off": {"reranker": "none"},
    "token idf off": {"token_idf": False},
    "background texts off": {"background_texts": 0},
    "previous turn off": {"previous_chars": 0},
    "dense .1": {"weight_dense": 0.1},
    "dense .3": {"weight_dense": 0.3},
    "entities .25": {"weight_entities": 0.25},
    "fusion by rank": {"fusion": "rrf"},
    "50 candidates": {"exact_memories": 1, "candidates": 50},
    "150 candidates": {"exact_memories": 1, "candidates": 150},
    "lexical for maxsim": NO_LATE | {"weight_lexical": 1},
    "dense for maxsim": NO_LATE | {"weight_dense": 1},
    "maxsim reranks lexical": {"weight_maxsim": 0, "weight_lexical": 1, "reranker": "maxsim"},
    "maxsim alone": BARE | {"weight_maxsim": 1},
    "lexical alone": BARE | {"weight_lexical": 1},
    "dense alone": BARE | {"weight_dense": 1},
}
AT_ADD = ("previous_chars",)  # settings that change what is stored: a variant of them needs a store of its own


@dataclass(frozen=True, slots=True)
class Row:
    """A variant's figures. reciprocals: float64 [questions], 1 / rank of the first evidence, 0 for none."""

    name: str
    figures: Mapping[str, float]
    reciprocals: np.ndarray[Any, np.dtype[np.float64]] = field(repr=False)


class EncodedBefore(QuestionEncoder):
    """In the question encoder's place: no search waits for an encoder."""

    def __init__(self, encoded: Mapping[str, EncodedQuery]) -> None:
        self._encoded = encoded

    def prepare(self, query: Query) -> list[PreparedPicture]:
        """See QuestionEncoder."""
        return []

    def encode(self, query: Query, prepared: Sequence[PreparedPicture], *, pictured: bool) -> EncodedQuery:
        """See QuestionEncoder."""
        [part] = query.parts
        assert isinstance(part, TextPart)
        return self._encoded[part.text]


def search_with(settings: Settings, service: MemoryService, encoded: Mapping[str, EncodedQuery]) -> Search:
    """The service's Search, as it would be with these settings."""
    made = service._search
    threads = made._threads
    reranker = rerankers.load(settings, choose_device(settings), threads)
    return Search(settings, service._store, made._text, EncodedBefore(encoded), threads=threads, reranker=reranker)


def measure(
    name: str,
    search: Search,
    asked: Sequence[tuple[Conversation, Evidence]],
    advance: Callable[[int], None],
) -> Row:
    """Ask everything, one question at a time."""
    ranks, seconds, chars = [], [], []
    for conversation, evidence in asked:
        for question in conversation.questions:
            began = time.perf_counter()
            hits = search(question.query)
            seconds.append(time.perf_counter() - began)
            texts = [hit.memory.text for hit in hits]
            chars.append(sum(map(len, texts)))
            ranks.append(evidence.ranks(texts, question.evidence))
            advance(1)
    first = np.array([min(of_question) for of_question in ranks])
    every = np.concatenate(ranks)
    figures = {
        **{f"hit@{k}": float((first <= k).mean()) for k in KS},
        "mrr": float((1 / first).mean()),
        "recall@10": float((every <= 10).mean()),
        "chars": float(np.mean(chars)),
        "p50_ms": 1_000 * float(np.median(seconds)),
    }
    return Row(name, figures, 1 / first)


def ablate(
    conversations: Sequence[Conversation], variants: Mapping[str, dict[str, Any]], folder: Path, shown: Progress
) -> Iterator[Row]:
    """A row a variant, those that share a store after each other."""
    asked = [(conversation, Evidence(conversation.turns)) for conversation in conversations]
    questions = [question for conversation in conversations for question in conversation.questions]
    encoded: dict[str, EncodedQuery] = {}
    for store, sharing in by_store(variants).items():
        settings = {
            name: Settings(**{"data_dir": str(folder / store), "context_turns": 0, **variants[name]})
            for name in sharing
        }
        adding = step(shown, f"add: {store}", message_count(conversations))
        with told(settings[sharing[0]], conversations, adding) as service:
            encoded = encoded or encode(service, questions, step(shown, "encode questions", len(questions)))
            for name in sharing:
                search = search_with(settings[name], service, encoded)
                yield measure(name, search, asked, step(shown, name, len(questions)))


def by_store(variants: Mapping[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Names of variants by the name of the store that they search."""
    stores: dict[str, list[str]] = {}
    for name, overrides in variants.items():
        stored = [f"{setting}={overrides[setting]}" for setting in AT_ADD if setting in overrides]
        stores.setdefault(",".join(stored) or DEFAULT, []).append(name)
    return stores


def report(rows: Sequence[Row]) -> Table:
    """A line a row, with differences from the first."""
    first, *_ = rows
    header = ("", "hit@1", "hit@3", "hit@10", "hit@50", "MRR", "recall@10", "chars", "p50 ms")
    return table(header, [_cells(row, None if row is first else first) for row in rows])


def _cells(row: Row, beside: Row | None) -> list[str]:
    quality = [decimal(row.figures[name]) for name in QUALITY]
    if beside:
        differences = {name: signed(row.figures[name] - beside.figures[name]) for name in QUALITY}
        changes = row.reciprocals - beside.reciprocals
        differences["mrr"] += f" ±{decimal(float(changes.std() / len(changes) ** 0.5))}"
        quality = [f"{figure} {difference}" for figure, difference in zip(quality, differences.values(), strict=True)]
    return [row.name, *quality, f"{row.figures['chars']:,.0f}", f"{row.figures['p50_ms']:.1f}"]


def signed(difference: float) -> str:
    """+.012, -.012 or, where it shows nothing, 0."""
    shown = decimal(abs(difference))
    return "0" if shown == ".000" else f"{'+' if difference > 0 else '-'}{shown}"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="conversations in LoCoMo's format")
    parser.add_argument(
        "--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="NAME", help="these beside the default"
    )
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="keep the told conversations here, and use them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file too")
    options = parser.parse_args()
    variants = {name: settings for name, settings in VARIANTS.items() if name in (DEFAULT, *options.only)}
    screen = console()
    kept = nullcontext(options.store) if options.store else tempfile.TemporaryDirectory()
    with kept as folder, progress(screen) as shown:
        measured = {row.name: row for row in ablate(read(options.data), variants, Path(folder), shown)}
    rows = [measured[name] for name in variants]
    screen.print(report(rows))
    if options.markdown:
        write_markdown([report(rows)], options.markdown)
    if options.json:
        figures = {row.name: {"settings": variants[row.name], **row.figures} for row in rows}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
