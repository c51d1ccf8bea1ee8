"""Adds whose memories are recognised when they come back, and what became of each: for the scripts that crash a service."""

from __future__ import annotations

import io
import random
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any, Literal

from demo_sample import data_url, image_part
from PIL import Image

State = Literal["whole", "absent", "doubled", "torn"]

# Search by words only, which starts in half the time: the store is the same.
NO_MODELS = {f"MMMEM_WEIGHT_{channel}": "0" for channel in ("MAXSIM", "DENSE", "IMAGE", "LABELS")} | {
    "MMMEM_RERANKER": "none"
}
USERS = 4  # told at the same time
MOST = 800  # messages of a user, so that one search brings all of them
BEGIN_MS = 1_704_067_200_000
WORDS = (
    "the",
    "train",
    "leaves",
    "a",
    "quarter",
    "to",
    "eight",
    "tea",
    "was",
    "cold",
    "again",
    "Ann",
    "paints",
    "cellar",
)


@dataclass(frozen=True)
class Told:
    """One Add. No text of its messages is like another's, in any Add."""

    body: Mapping[str, Any]

    @property
    def user_id(self) -> str:
        """Whose it is."""
        user_id: str = self.body["user_id"]
        return user_id

    @cached_property
    def said(self) -> tuple[str, ...]:
        """What `shown` is to give for each of its memories."""
        return tuple(shown(message["content"]) for message in self.body["messages"])

    @property
    def altered(self) -> dict[str, Any]:
        """Another body under the same ids."""
        return {**self.body, "messages": [{"role": "user", "content": "something else"}]}


@dataclass
class Teller:
    """Makes Adds of 1 to 5 messages for some users at a time, one in `picture_every` with a small photo. For many threads.

    A user who was told enough is followed by a new one, so that arrays stay small and each search brings all.
    """

    seed: int
    picture_every: int = 8
    messages: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._chance = random.Random(self.seed)
        self._number = 0
        self._users = [f"crash:{number}" for number in range(USERS)]
        with Image.open(io.BytesIO(files("skimage").joinpath("data", "chelsea.png").read_bytes())) as photo:
            self._photo = photo.convert("RGB")

    def __call__(self) -> Told:
        """The next Add."""
        with self._lock:
            place = self._chance.randrange(USERS)
            if self.messages[self._users[place]] > MOST:
                self._users[place] = f"crash:{self._number}:{place}"
            return self._told(self._users[place], (self._number + 1) % self.picture_every == 0)

    def told(self, user: str, *, picture: bool = False) -> Told:
        """An Add of this user."""
        with self._lock:
            return self._told(user, picture)

    def _told(self, user: str, picture: bool) -> Told:
        self._number += 1
        messages = [self._message(position) for position in range(self._chance.randint(1, 5))]
        if picture:
            messages[-1]["content"] = [{"type": "text", "text": messages[-1]["content"]}, self._picture()]
        self.messages[user] += len(messages)
        ids = {"request_id": f"{self.seed}:{self._number}", "user_id": user, "session_id": f"s{self._number % 3}"}
        return Told({**ids, "messages": messages})

    def _message(self, position: int) -> dict[str, Any]:
        words = " ".join(self._chance.choices(WORDS, k=self._chance.randint(3, 30)))
        timestamp = BEGIN_MS + self._number * 60_000
        return {"role": "user", "timestamp": timestamp, "content": f"{self._number}.{position} {words}"}

    def _picture(self) -> dict[str, Any]:
        left, top = (self._chance.randrange(size - 64) for size in self._photo.size)
        file = io.BytesIO()
        self._photo.crop((left, top, left + 64, top + 64)).save(file, "JPEG", quality=80)
        return image_part(data_url(file.getvalue(), "jpeg"))


def shown(content: Any) -> str:
    """All that a content says and shows, without the time and the role that a returned memory has in front."""
    parts: list[dict[str, Any]] = [{"text": content}] if isinstance(content, str) else content
    said = "\n".join(part.get("text") or part["image_url"]["url"] for part in parts)
    _, header, text = said.partition("] user: ")
    return text if header else said


@dataclass
class Fate:
    """What became of Adds, counted. `faults` says what must not be, in words."""

    kills: int = 0
    acknowledged: int = 0
    unacknowledged: int = 0
    whole: int = 0  # of the unacknowledged
    absent: int = 0
    lost: int = 0
    doubled: int = 0
    torn: int = 0
    refused: int = 0  # retries that were not 200, other bodies that were not 422
    faults: list[str] = field(default_factory=list)

    def look(self, found: Sequence[str], acknowledged: Iterable[Told], others: Iterable[Told] = ()) -> None:
        """Compare all memories of one user, as `shown` gives them, with what was told and when it was acknowledged."""
        counts = Counter(found)
        for told in acknowledged:
            state = state_of(told, counts)
            self.lost += state == "absent"
            self._note(told, state, {"whole"})
        for told in others:
            state = state_of(told, counts)
            self.whole += state == "whole"
            self.absent += state == "absent"
            self._note(told, state, {"whole", "absent"})
        if counts:
            self.faults.append(f"{len(counts)} memories that nobody told")

    def expect(self, what: str, status: int, wanted: int) -> None:
        """Compare the answer to a retry."""
        if status != wanted:
            self.refused += 1
            self.faults.append(f"{what} was answered {status}")

    def _note(self, told: Told, state: State, allowed: set[State]) -> None:
        self.doubled += state == "doubled"
        self.torn += state == "torn"
        if state not in allowed:
            self.faults.append(f"request {told.body['request_id']} is {'lost' if state == 'absent' else state}")


def state_of(told: Told, counts: Counter[str]) -> State:
    """How much of an Add is among these memories; takes them out."""
    copies = [counts.pop(said, 0) for said in told.said]
    if max(copies) > 1:
        return "doubled"
    return "torn" if len(set(copies)) > 1 else "whole" if copies[0] else "absent"
