#!/usr/bin/env python3
"""Whether what was said is found as well among pictures: conversations as they are, and with pictures mixed in.

    python scripts/bench_mixed.py --data FILE [--pictures 200] [--markdown FILE]

FILE holds conversations in LoCoMo's format (scripts/benchmark_data.py). Each is told to a user three times over: as it is; with the
pictures in sessions of their own, at the same times; and with the pictures as messages between its turns, which is harder, since an
answer no longer follows its question. The pictures are the photos, screenshots, charts and patterns of scripts/bench_images.py,
the same for all, and nobody asks for one. hit@k: an answer's evidence is among the first k, read strictly. MMMEM_* settings apply.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from threading import Lock

from benchmark_alterations import ALTERATIONS, jpeg, opened
from benchmark_data import (
    BESIDE,
    Conversation,
    Evidence,
    console,
    decimal,
    message_count,
    progress,
    read,
    step,
    table,
    tell,
    told,
    write_markdown,
)
from benchmark_pictures import MADE_UP, others, photo, screens

from mmmem.memory import MemoryService
from mmmem.pictures import PictureEncoder, PreparedPicture
from mmmem.settings import Settings
from mmmem.types import AddRequest, ImageEncoding, ImagePart, Message

MIXES = ("as it is", "pictures beside", "pictures between")
KS = (1, 3, 10)
HEADER = "data:image/png;base64"  # the bytes decide


def pictures(count: int) -> list[ImagePart]:
    """That many files, first those of bench_images.py, then altered copies of its photos."""
    kept = chain(others().values(), screens().values(), (photo(name) for name in MADE_UP["photos"]))
    altered = (jpeg(change(opened(photo(name)))) for change in ALTERATIONS.values() for name in MADE_UP["photos"])
    return [ImagePart(HEADER, data) for data in islice(chain(kept, altered), count)]


def mixed(conversation: Conversation, shown: Sequence[ImagePart], mix: str) -> Conversation:
    """The conversation with the pictures strewn over it, each before a turn that chance picks, by chance's speaker."""
    if mix == MIXES[0]:
        return conversation
    chance = random.Random(conversation.user_id)
    turns = sum(len(add.messages) for add in conversation.adds)
    strewn: dict[int, list[ImagePart]] = {}
    for part in chance.sample(shown, len(shown)):
        strewn.setdefault(chance.randrange(turns), []).append(part)
    place = 0
    adds: list[AddRequest] = []
    for add in conversation.adds:
        said: list[Message] = []
        seen: list[Message] = []
        for message in add.messages:
            found = [
                Message(chance.choice(("user", "assistant")), (part,), message.timestamp)
                for part in strewn.get(place, [])
            ]
            (said if mix == MIXES[2] else seen).extend(found)
            said.append(message)
            place += 1
        adds.append(replace(add, messages=tuple(said)))
        if seen:
            adds.append(
                AddRequest(f"{add.request_id} pictures", add.user_id, f"{add.session_id} pictures", tuple(seen))
            )
    return replace(conversation, adds=tuple(adds))


class Once(PictureEncoder):
    """Decodes, reads and encodes each picture once, however many users are told it: the same outcome in a tenth of the time."""

    def __init__(self, pictures: PictureEncoder, before: Once | None) -> None:
        self._pictures = pictures
        self._lock = Lock()
        self._prepared: dict[bytes, PreparedPicture] = before._prepared if before else {}
        self._encoded: dict[int, ImageEncoding] = before._encoded if before else {}

    def prepare(self, images: Iterable[tuple[str, ImagePart]]) -> list[PreparedPicture]:
        """As PictureEncoder."""
        with self._lock:
            return [self._one(field, part) for field, part in images]

    def encode(self, prepared: Sequence[PreparedPicture]) -> list[ImageEncoding]:
        """As PictureEncoder."""
        with self._lock:
            new = [one for one in prepared if id(one) not in self._encoded]
            self._encoded |= zip(map(id, new), self._pictures.encode(new), strict=True)
        return [self._encoded[id(one)] for one in prepared]

    def _one(self, field: str, part: ImagePart) -> PreparedPicture:
        if part.data not in self._prepared:
            [self._prepared[part.data]] = self._pictures.prepare([(field, part)])
        return self._prepared[part.data]


def ranks(
    service: MemoryService, conversations: Sequence[Conversation], advance: Callable[[int], None]
) -> Iterator[float]:
    """For each question the rank of its first evidence; inf for none."""
    evidence = {conversation.user_id: Evidence(conversation.turns) for conversation in conversations}
    asked = [question for conversation in conversations for question in conversation.questions]
    with ThreadPoolExecutor(BESIDE) as pool:
        for question, hits in zip(asked, pool.map(lambda one: service.search(one.query), asked), strict=True):
            texts = [hit.memory.text for hit in hits]
            yield min(evidence[question.user_id].ranks(texts, question.evidence))
            advance(1)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="conversations in LoCoMo's format")
    parser.add_argument("--pictures", type=int, default=200, metavar="N", help="for each conversation; default: 200")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file too")
    options = parser.parse_args()
    screen = console()
    conversations = read(options.data)
    shown = pictures(options.pictures)
    rows = []
    once: Once | None = None
    for mix in MIXES:
        of_mix = [mixed(conversation, shown, mix) for conversation in conversations]
        with tempfile.TemporaryDirectory(prefix="mmmem-mixed-") as folder, progress(screen) as bars:
            settings = Settings(data_dir=folder, context_turns=0)
            adding, asking = (
                step(bars, f"{mix}: add", message_count(of_mix)),
                step(bars, f"{mix}: search", sum(len(one.questions) for one in of_mix)),
            )
            with told(settings, [], adding) as service:
                once = Once(service._ingest._pictures, once)  # wiring makes it and hands it to nobody else
                service._ingest._pictures = once
                tell(service, of_mix, adding)
                found = list(ranks(service, conversations, asking))
        hits = [sum(rank <= k for rank in found) / len(found) for k in KS]
        rows.append((mix, str(len(found)), *map(decimal, hits), decimal(sum(1 / rank for rank in found) / len(found))))
    made = table(("", "questions", *(f"hit@{k}" for k in KS), "MRR"), rows)
    screen.print(made)
    if options.markdown:
        write_markdown([made], options.markdown)


if __name__ == "__main__":
    main()
