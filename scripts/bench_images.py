#!/usr/bin/env python3
"""Whether the right picture, and the right text among pictures, is found: by words, by altered copies, by both.

    python scripts/bench_images.py [--url URL] [--only KIND ...] [--markdown FILE] [--json FILE]

Everything goes over HTTP: to a service of its own in a temporary folder, to which MMMEM_* settings apply, or to the one at
--url, whose key is read from MMMEM_API_KEY. There it writes four users of its own, named after what they are told; a second
run finds them told. What is told and asked is described in scripts/benchmark_pictures.py; the photos need the `demo` extra.

R@k: the share of questions with an answer among the first k memories. MRR: the mean of 1 / its rank, 0 beyond the tenth.
`picture first`: the share whose first memory shows a picture. Where the turn next to a picture is asked for, the memory of that
very picture is not counted, wherever it is. The JSON file also names each question whose answer is not first, and what was.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import compress, groupby
from operator import not_
from pathlib import Path
from typing import Any

import httpx
from benchmark_data import console, decimal, progress, step, table, write_markdown
from benchmark_pictures import MADE_UP, Question, Turn, corpus, questions
from demo_service import SECONDS_TO_START, Service
from rich.table import Table

KINDS = {
    "text-to-image": "text to image",
    "image-to-image": "image to image",
    "written": "words in pictures",
    "joint": "joint",
    "texts": "texts",
}
TOP_K = 10
BESIDE = 4  # searches, or users, on their way at a time


@dataclass(frozen=True, slots=True)
class Answer:
    """How a question was answered. rank: of the first expected memory, from 1, or None. first: the first memory's key."""

    question: Question
    rank: int | None
    first: str
    picture_first: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    kind: str
    name: str
    questions: int
    r_at_1: float
    r_at_5: float
    r_at_10: float
    mrr: float
    picture_first: float


class Memory:
    """A service's memory over HTTP, to be closed. Calls raise httpx.HTTPError where the answer is not a success."""

    def __init__(self, url: str, key: str | None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=SECONDS_TO_START, trust_env=False)

    def tell(self, turns: Sequence[Turn], advance: Callable[[int], None]) -> None:
        """One Add a session."""
        user_id = named(turns)
        for session, some in groupby(turns, key=lambda turn: turn.session):
            messages = [
                {"role": turn.role, "content": content(turn.text, turn.image), "timestamp": turn.timestamp}
                for turn in some
            ]
            self._post("/add", request_id=session, user_id=user_id, session_id=session, messages=messages)
            advance(len(messages))

    def times(self, user_id: str, question: Question) -> list[int]:
        """The times, in Unix ms, of the memories found, best first."""
        query = content(question.text, question.image)
        found = self._post("/search", user_id=user_id, query=query, top_k=TOP_K)["data"]
        return [round(datetime.fromisoformat(memory["created_at"]).timestamp() * 1_000) for memory in found]

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def _post(self, path: str, **body: Any) -> Any:
        return self._client.post(path, json=body).raise_for_status().json()


def content(text: str, image: bytes) -> list[dict[str, Any]]:
    """Text, picture, or both, as the service takes them."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    if image:
        mime = "image/png" if image.startswith(b"\x89PNG") else "image/jpeg"
        url = f"data:{mime};base64,{base64.b64encode(image).decode('ascii')}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def named(turns: Sequence[Turn]) -> str:
    """The user_id of those who are told just this."""
    digest = hashlib.sha256(repr([(turn.timestamp, turn.role, turn.text) for turn in turns]).encode())
    for turn in turns:
        digest.update(turn.image)
    return f"bench_images {turns[0].user} {digest.hexdigest()[:12]}"


@contextmanager
def memory(url: str | None) -> Iterator[Memory]:
    """Of the service at the URL, or of one that runs as long as this."""
    if url:
        with closing(Memory(url, os.environ.get("MMMEM_API_KEY"))) as made:
            yield made
        return
    with Service() as service:
        service.wait_until_healthy()
        with closing(Memory(service.url, service.key)) as made:
            yield made


def answered(question: Question, times: Sequence[int], keys: dict[int, Turn]) -> Answer:
    """Judge what was found. keys: the user's turns by their times."""
    turns = [keys[time] for time in times]
    counted = [turn.key for turn in turns if turn.key not in question.known]
    rank = next((place for place, key in enumerate(counted, 1) if key in question.expected), None)
    first = turns[0] if turns else None
    return Answer(question, rank, first.key if first else "", bool(first and first.image))


def summed(kind: str, name: str, answers: Sequence[Answer]) -> Row:
    """A row of these answers."""
    ranks = [answer.rank or float("inf") for answer in answers]

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    return Row(
        kind,
        name,
        len(answers),
        r_at_1=mean([rank <= 1 for rank in ranks]),
        r_at_5=mean([rank <= 5 for rank in ranks]),
        r_at_10=mean([rank <= 10 for rank in ranks]),
        mrr=mean([1 / rank for rank in ranks]),
        picture_first=mean([answer.picture_first for answer in answers]),
    )


def rows(answers: Sequence[Answer]) -> list[Row]:
    """A row for each of the questions' rows, and sums where there is something to sum up."""
    made = []
    for kind, of_kind in groupby(answers, key=lambda answer: answer.question.kind):
        some = list(of_kind)
        made += [summed(kind, row, list(of_row)) for row, of_row in groupby(some, key=lambda a: a.question.row)]
        if kind == "image-to-image":
            of_photos = [answer.question.name in MADE_UP["photos"] for answer in some]
            made += [summed(kind, "all of photos", list(compress(some, of_photos)))]
            made += [summed(kind, "all of screenshots", list(compress(some, map(not_, of_photos))))]
        if kind in {"image-to-image", "written"}:
            made += [summed(kind, "all", some)]
    return made


def report(measured: Sequence[Row]) -> Table:
    """The rows as a table."""
    header = ("", "questions", "R@1", "R@5", "R@10", "MRR", "picture first")
    cells = []
    for row in measured:
        figures = (row.r_at_1, row.r_at_5, row.r_at_10, row.mrr, row.picture_first)
        cells.append((f"{KINDS[row.kind]}: {row.name}", str(row.questions), *map(decimal, figures)))
    return table(header, cells)


def misses(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """The questions whose answer is not first."""
    return [
        {
            "kind": answer.question.kind,
            "row": answer.question.row,
            "name": answer.question.name,
            "text": answer.question.text,
            "rank": answer.rank,
            "first": answer.first,
        }
        for answer in answers
        if answer.rank != 1
    ]


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="a running service, for example http://127.0.0.1:8000")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures and misses to this file")
    options = parser.parse_args()
    screen = console()
    asked = [question for question in questions() if question.kind in options.only]
    told = {user: corpus(user) for user in dict.fromkeys(question.user for question in asked)}
    user_ids = {user: named(turns) for user, turns in told.items()}
    keys = {user: {turn.timestamp: turn for turn in turns} for user, turns in told.items()}
    with memory(options.url) as service, progress(screen) as shown, ThreadPoolExecutor(BESIDE) as pool:
        adding = step(shown, "add", sum(map(len, told.values())))
        list(pool.map(lambda turns: service.tell(turns, adding), told.values()))
        searching = step(shown, "search", len(asked))

        def ask(question: Question) -> Answer:
            times = service.times(user_ids[question.user], question)
            searching(1)
            return answered(question, times, keys[question.user])

        answers = list(pool.map(ask, asked))
    measured = rows(answers)
    screen.print(report(measured))
    if options.markdown:
        write_markdown([report(measured)], options.markdown)
    if options.json:
        figures = {"rows": [asdict(row) for row in measured], "misses": misses(answers)}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
