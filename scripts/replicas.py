#!/usr/bin/env python3
"""Two replicas of the service on one bucket, told through both at once, and everything that must hold, counted.

    python scripts/replicas.py [--adds 600] [--threads 8] [--seed 7] [--data-dir s3://bucket/prefix]

Starts an S3 API on this machine (scripts/s3_server.py) and two `mmmem serve` on one bucket of it. Threads add to a few users, each
time through either replica; a third of the requests go through both at the same time, an eighth race with another body under
the same request_id. After each 200 the *other* replica is asked for what was told. Meanwhile some of the users are deleted, again
and again, and tables are compacted every few commits. At the end all is compared with what was acknowledged.

With --data-dir it runs on your own bucket, under a prefix that must hold no store: credentials and endpoint come from the
environment, and what it wrote stays there. Search is by words only: the models are not what is tried. Exit code: 1 when anything
was lost, doubled, torn, wrongly answered, not found by the next search, or found after its deletion. Needs the `test` extra.
"""

from __future__ import annotations

import argparse
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from demo_service import Service, ServiceError
from s3_server import BUCKET, S3Server

from mmmem.encoders.absent import NoImageEncoder, NoTextEncoder
from mmmem.media.colours import NAMES
from mmmem.media.fingerprints import LENGTH
from mmmem.settings import Settings
from mmmem.store import Dimensions
from mmmem.store.users import LanceStore, locate

# Search by words only, which starts in half the time: the store is the same.
ENVIRONMENT = {f"MMMEM_WEIGHT_{channel}": "0" for channel in ("MAXSIM", "DENSE", "IMAGE", "LABELS")} | {
    "MMMEM_RERANKER": "none",
    "MMMEM_OCR": "off",
    "MMMEM_COMPACT_FRAGMENTS": "4",
    "MMMEM_CONTEXT_TURNS": "0",
}
KEPT = ("kept 0", "kept 1", "kept 2")
DELETED = ("deleted 0", "deleted 1")
ATTEMPTS = 5
RETRIED = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class Told:
    """An Add that was answered 200: its memories, and when it was sent and answered."""

    texts: tuple[str, ...]
    sent: float
    answered: float


@dataclass
class Findings:
    """What was seen. For many threads."""

    told: dict[str, list[Told]] = field(default_factory=lambda: {user: [] for user in KEPT + DELETED})
    refused: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    deletions: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {user: [] for user in DELETED})
    statuses: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    searches: int = 0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def fault(self, kind: str, count: int = 1) -> None:
        """Something that must not be."""
        with self._lock:
            self.faults[kind] += count

    def answered(self, status: int) -> None:
        """An Add's answer."""
        with self._lock:
            self.statuses[status] += 1


class Adder:
    """Sends Adds through both replicas and looks for each through the other one."""

    def __init__(self, replicas: tuple[Service, Service], findings: Findings, seed: int) -> None:
        self._replicas = replicas
        self._findings = findings
        self._seed = seed
        self._both = ThreadPoolExecutor(64)

    def __call__(self, number: int) -> None:
        """One request: to one replica, to both, or to both with two bodies."""
        chance = random.Random(f"{self._seed} {number}")
        user = chance.choice(KEPT + DELETED)
        first = chance.randrange(2)
        kind = chance.random()
        bodies = [self._body(user, number, "a", chance.randint(1, 4))]
        if kind < 1 / 8:
            bodies.append(self._body(user, number, "b", chance.randint(1, 4)))
        elif kind < 1 / 8 + 1 / 3:
            bodies.append(bodies[0])
        sent = time.monotonic()
        replicas = [self._replicas[first], self._replicas[1 - first]]
        statuses = list(self._both.map(self._add, replicas, bodies))
        answered = time.monotonic()
        kept = {texts_of(body): None for body, status in zip(bodies, statuses, strict=False) if status == 200}
        right = len(kept) == 1 and set(statuses) <= ({200, 422} if kind < 1 / 8 else {200})
        if not right and (
            user in KEPT or kind >= 1 / 8
        ):  # one who is deleted in between knows no request, and keeps both
            self._findings.fault("wrong answers")
        for texts in kept:
            self._findings.told[user].append(Told(texts, sent, answered))
        if user in KEPT:
            self._findings.refused += [
                (user, texts_of(body)) for body, status in zip(bodies, statuses, strict=False) if status == 422
            ]
            for texts in kept:
                self._find(replicas[1], user, texts)

    def close(self) -> None:
        """End its threads."""
        self._both.shutdown()

    def _add(self, replica: Service, body: Mapping[str, Any]) -> int:
        status = 0
        for attempt in range(ATTEMPTS):
            status, _ = replica.call("POST", "/add", body)
            self._findings.answered(status)
            if status not in RETRIED:
                break
            time.sleep(0.2 * 2**attempt)
        return status

    def _find(self, replica: Service, user: str, texts: tuple[str, ...]) -> None:
        query = " ".join(text.split()[0] for text in texts)
        _, answer = replica.call("POST", "/search", {"query": query, "user_id": user, "top_k": 20})
        found = str(answer)
        self._findings.searches += 1
        if not all(text in found for text in texts):
            self._findings.fault("not found by the next search")

    @staticmethod
    def _body(user: str, number: int, body: str, messages: int) -> dict[str, Any]:
        texts = [f"n{number}{body}{place} was told to {user}" for place in range(messages)]
        return {
            "request_id": f"request {number}",
            "user_id": user,
            "session_id": "session",
            "messages": [{"role": "user", "content": text} for text in texts],
        }


def texts_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts of a body's messages."""
    return tuple(message["content"] for message in body["messages"])


def delete_until(done: threading.Event, store: LanceStore, findings: Findings, seed: int) -> None:
    """Delete users, again and again, as a third process would."""
    chance = random.Random(seed)
    while not done.wait(chance.uniform(0.2, 1)):
        user, began = chance.choice(DELETED), time.monotonic()
        store.delete_user(user)
        findings.deletions[user].append((began, time.monotonic()))


def compare(findings: Findings, store: LanceStore, replicas: tuple[Service, Service]) -> None:
    """Count what is lost, doubled, torn or there after all, through the store and both replicas."""
    for user, told in findings.told.items():
        counts = Counter(memory.text for memory in store.arrays(user).memories)
        findings.fault("doubled memories", sum(count - 1 for count in counts.values()))
        began, ended = findings.deletions[user][-1] if findings.deletions.get(user) else (0.0, 0.0)
        for each in told:
            there = sum(text in counts for text in each.texts)
            findings.fault("torn requests", int(0 < there < len(each.texts)))
            findings.fault("lost requests", int(there == 0 and each.sent > ended))
            findings.fault("requests there after their deletion", int(there > 0 and each.answered < began))
        expected = {text for each in told for text in each.texts}
        findings.fault("memories that nobody was answered 200 for", len(set(counts) - expected))
        for replica in replicas:
            _, answer = replica.call("POST", "/search", {"query": "told", "user_id": user, "top_k": 1000})
            shown = Counter(memory["content"].partition("user: ")[2] for memory in answer["data"])
            findings.fault("replicas that show something else", int(shown != counts))
    for user, texts in findings.refused:
        kept = {memory.text for memory in store.arrays(user).memories}
        findings.fault("refused requests that are there", int(not kept.isdisjoint(texts)))


@contextmanager
def bucket(data_dir: str | None) -> Iterator[tuple[str, S3Server | None]]:
    """Where the store is to lie, and the server that it lies on."""
    if data_dir:
        yield data_dir, None
        return
    with S3Server() as server:
        os.environ.update(server.environment)
        yield f"s3://{BUCKET}/replicas", server


def main() -> int:
    """Tell, delete and compare; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adds", type=int, default=600, help="requests, through one replica or both")
    parser.add_argument("--threads", type=int, default=8, help="that send them")
    parser.add_argument("--seed", type=int, default=7, help="the same requests again")
    parser.add_argument("--data-dir", help="your own bucket; by default one on this machine")
    arguments = parser.parse_args()
    os.environ.update(ENVIRONMENT)
    findings = Findings()
    with ExitStack() as stack:
        data_dir, server = stack.enter_context(bucket(arguments.data_dir))
        if locate(Settings(data_dir=data_dir)).exists():
            raise ServiceError("there is a store at this data_dir already; name an empty prefix")
        replicas = (stack.enter_context(Service(data_dir)), stack.enter_context(Service(data_dir)))
        for replica in replicas:
            replica.wait_until_healthy()
        store = open_store(data_dir)
        stack.callback(store.close)
        adder = Adder(replicas, findings, arguments.seed)
        stack.callback(adder.close)
        done = threading.Event()
        stack.callback(done.set)
        began = time.monotonic()
        with ThreadPoolExecutor(arguments.threads + 1) as pool:
            deleting = pool.submit(delete_until, done, store, findings, arguments.seed)
            try:
                for _ in pool.map(adder, range(arguments.adds)):
                    pass
            finally:
                done.set()
            deleting.result()
        seconds = time.monotonic() - began
        compare(findings, store, replicas)
        asked = dict(server.asked) if server else {}
    deletions = sum(map(len, findings.deletions.values()))
    print(f"{arguments.adds} requests in {seconds:.0f} s; answers {dict(findings.statuses)}")
    print(f"{findings.searches} searches through the other replica; {deletions} deletions meanwhile")
    if asked:
        print(f"requests to the bucket: {asked}")
    for kind, count in sorted(findings.faults.items()):
        print(f"{count:>6} {kind}")
    return int(findings.faults.total() > 0)


def open_store(data_dir: str) -> LanceStore:
    """The store as a third process has it, with the models that the replicas name."""
    text, image = NoTextEncoder(), NoImageEncoder()
    widths = (text.dimensions, text.token_dimensions, image.dimensions, image.appearance_dimensions)
    store = LanceStore(
        Settings(data_dir=data_dir),
        models={"text": text.name, "image": image.name},
        dimensions=Dimensions(*widths, LENGTH, len(NAMES)),
    )
    store.open()
    return store


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(str(error)) from None
