#!/usr/bin/env python3
"""Where the evidence of missed questions went: was it in no channel, lost in fusion, or dropped by what comes after?

    python scripts/audit_recall.py --data FILE [--k 10] [--depth 50] [--each] [--show N] [--store FOLDER] [--json FILE] [--markdown FILE]

FILE holds conversations in LoCoMo's format (scripts/benchmark_data.py). A question is missed when none of its evidence is among the
first k memories; with --each every piece of evidence counts on its own. A memory is evidence of a turn when it holds that turn and no
other one. A miss is one of

    cut      no memory holds the whole turn: it was longer than one may be
    none     no channel that is on had it among its first `depth`
    near     some channel had it among those, none among its first k
    fusion   some channel had it among its first k, the fusion did not
    after    the fusion had it among its first k; reranker, recency, needs or repeats moved it back

A channel's place counts equal scores as ahead: being one of hundreds by the right speaker is no find. Questions and evidence are
printed with --show only. MMMEM_* settings apply. --store keeps the told conversations for the next run, as in scripts/ablate.py.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmark_data import (
    DEFAULT,
    TOP_K,
    Conversation,
    Evidence,
    Question,
    console,
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
from mmmem.memory import MemoryService
from mmmem.ranking import Ranking
from mmmem.retrieval.fusion import Scores, best_first
from mmmem.settings import Settings

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
KINDS = ("cut", "none", "near", "fusion", "after")


@dataclass(frozen=True, slots=True)
class Trace:
    """How far one question's evidence came, its best piece at each step. Places count from 1, inf is nowhere.

    channels: by name. fused: the place after fusion. final: the place in what is returned.
    """

    user_id: str
    category: int
    evidence: tuple[str, ...]
    channels: Mapping[str, float]
    fused: float
    final: float
    question: str

    def kind(self, k: int, depth: int) -> str | None:
        """What kind of miss this is; None when it was found."""
        best = min(self.channels.values(), default=math.inf)
        if self.final <= k:
            return None
        if self.fused <= k:
            return "after"
        if best <= k:
            return "fusion"
        if best <= depth:
            return "near"
        return "none" if self.fused < math.inf else "cut"


def trace(question: Question, evidence: Sequence[str], rows: Mapping[str, Sequence[int]], ranking: Ranking) -> Trace:
    """Follow the evidence through a ranking. rows: by turn, the memories that are evidence of it."""
    wanted = [row for turn in evidence for row in rows.get(turn, ())]
    return Trace(
        question.user_id,
        question.category,
        tuple(evidence),
        # One that only takes away finds nothing.
        {channel.name: place(channel.scores, wanted) for channel in ranking.channels if not channel.demotes},
        in_order(best_first(ranking.fused, len(ranking.fused)).tolist(), wanted),
        in_order(ranking.rows.tolist(), wanted),
        question.text,
    )


def place(scores: Scores, wanted: Sequence[int]) -> float:
    """The best place of these rows by their scores, equal ones counted as ahead; inf where nothing is said of any."""
    known = scores[wanted][~np.isnan(scores[wanted])]
    return float((scores >= known.max()).sum()) if len(known) else math.inf


def in_order(order: Sequence[int], wanted: Sequence[int]) -> float:
    """The place of the first of these rows in an order; inf where it has none of them."""
    return next((float(rank) for rank, row in enumerate(order, 1) if row in wanted), math.inf)


def traces(
    conversation: Conversation,
    service: MemoryService,
    encoded: Mapping[str, EncodedQuery],
    top_k: int,
    *,
    each: bool,
    advance: Callable[[int], None],
) -> Iterator[Trace]:
    """Of every question about a conversation, or of each of its pieces of evidence."""
    arrays = service._store.arrays(conversation.user_id)
    rows: dict[str, list[int]] = {}
    counts = Evidence(conversation.turns)
    for row, memory in enumerate(arrays.memories):
        for turn in counts.of(memory.text):
            rows.setdefault(turn, []).append(row)
    for question in conversation.questions:
        ranking = service._search._rank(encoded[question.text], arrays, top_k)
        for evidence in [(turn,) for turn in question.evidence] if each else [question.evidence]:
            yield trace(question, evidence, rows, ranking)
        advance(1)


def run(
    conversations: Sequence[Conversation], folder: Path, top_k: int, each: bool, shown: Progress
) -> Iterator[Trace]:
    """The traces of all conversations."""
    questions = [question for conversation in conversations for question in conversation.questions]
    settings = Settings(data_dir=str(folder))
    with told(settings, conversations, step(shown, "add", message_count(conversations))) as service:
        encoded = encode(service, questions, step(shown, "encode questions", len(questions)))
        following = step(shown, "follow", len(questions))
        for conversation in conversations:
            yield from traces(conversation, service, encoded, top_k, each=each, advance=following)


def by_category(found: Sequence[Trace], k: int, depth: int) -> Table:
    """How many of each category are missed and, of those, are of which kind."""
    header = ("category", "asked", f"not in {k}", *KINDS, f"returned in {depth}")
    categories = sorted({one.category for one in found})
    lines = [
        (CATEGORIES.get(category, str(category)), [one for one in found if one.category == category])
        for category in categories
    ]
    return table(header, [_counts(name, some, k, depth) for name, some in [*lines, ("all", found)]])


def _counts(name: str, some: Sequence[Trace], k: int, depth: int) -> list[str]:
    missed = [one for one in some if one.kind(k, depth)]
    kinds = Counter(one.kind(k, depth) for one in missed)
    late = sum(one.final <= depth for one in missed)
    cells = [share(kinds[kind], len(missed)) for kind in KINDS]
    return [name, str(len(some)), share(len(missed), len(some)), *cells, share(late, len(missed))]


def by_channel(found: Sequence[Trace], k: int, depth: int) -> Table:
    """Which channels had what was missed."""
    missed = [one for one in found if one.kind(k, depth)]
    lost = [one for one in missed if one.kind(k, depth) == "fusion"]
    header = ("channel", f"lost in fusion, had in {k}", "only it", f"missed, had in {depth}", "only it")
    rows = []
    for name in dict.fromkeys(name for one in found for name in one.channels):
        counts = [count for some, limit in ((lost, k), (missed, depth)) for count in having(name, some, limit)]
        totals = (len(lost), len(lost), len(missed), len(missed))
        rows.append([name, *(share(count, total) for count, total in zip(counts, totals, strict=True))])
    return table(header, rows)


def having(name: str, some: Sequence[Trace], limit: int) -> tuple[int, int]:
    """Of how many a channel had the evidence among its first `limit`, and of how many no other did."""
    had = [{channel for channel, rank in one.channels.items() if rank <= limit} for one in some]
    return sum(name in names for names in had), sum(names == {name} for names in had)


def share(count: int, total: int) -> str:
    """12 (34%)."""
    return f"{count} ({count / total:.0%})" if total else "0"


def examples(
    found: Sequence[Trace], turns: Mapping[str, Mapping[str, str]], k: int, depth: int, n: int
) -> Iterator[str]:
    """The n misses that came least far, in words."""
    missed = [one for one in found if one.kind(k, depth)]
    for one in sorted(missed, key=lambda one: (one.final, one.fused), reverse=True)[:n]:
        ranks = ", ".join(f"{name} {rank:.0f}" for name, rank in one.channels.items())
        yield f"\n{one.kind(k, depth)}: {one.question}\n    fused {one.fused:.0f}, final {one.final:.0f}; {ranks}"
        yield from (f"    {turns[one.user_id][turn]}" for turn in one.evidence)


def without_text(one: Trace, k: int, depth: int) -> dict[str, object]:
    """A miss for a file: no question in it; null for nowhere."""
    places = {**one.channels, "fused": one.fused, "final": one.final}
    known = {name: int(rank) if rank < math.inf else None for name, rank in places.items()}
    about = {"user_id": one.user_id, "category": one.category, "evidence": one.evidence}
    return {**about, "kind": one.kind(k, depth), "places": known}


def main() -> None:
    """Follow the evidence, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="conversations in LoCoMo's format")
    parser.add_argument("--k", type=int, default=10, help="memories among which the evidence should be")
    parser.add_argument("--depth", type=int, default=50, help="memories of a channel beyond which nothing was found")
    parser.add_argument("--each", action="store_true", help="count every piece of evidence on its own")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the N worst misses, with their texts")
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="keep the told conversations here, and use them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the misses, without texts, to this file too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to this file too")
    options = parser.parse_args()
    limits = options.k, options.depth
    conversations = read(options.data)
    screen = console()
    kept = nullcontext(options.store) if options.store else tempfile.TemporaryDirectory()
    with kept as folder, progress(screen) as shown:
        found = list(run(conversations, Path(folder) / DEFAULT, max(TOP_K, *limits), options.each, shown))
    tables = by_category(found, *limits), by_channel(found, *limits)
    for one in tables:
        screen.print(one)
    turns = {conversation.user_id: conversation.turns for conversation in conversations}
    for text in examples(found, turns, *limits, options.show):
        screen.print(text, markup=False, soft_wrap=True)
    if options.markdown:
        write_markdown(tables, options.markdown)
    if options.json:
        misses = [without_text(one, *limits) for one in found if one.kind(*limits)]
        asked = {"k": options.k, "depth": options.depth, "asked": len(found), "misses": misses}
        options.json.write_text(json.dumps(asked, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
