"""Who says a memory, and by what they are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mmmem.store.postings import Postings
from mmmem.terms import hashed, terms
from mmmem.texts import named_speaker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mmmem.types import Int64

CHAT_ROLES = frozenset(
    {"user", "human", "assistant", "ai", "agent", "bot", "chatbot", "model", "system", "tool", "developer", "function"}
)


def speaker(text: str, role: str) -> str:
    """Who says a memory: whom its text names, else its role where that is a name and not a part in a chat."""
    return named_speaker(text) or ("" if role.lower() in CHAT_ROLES else role)


@dataclass(frozen=True, slots=True)
class Speakers:
    """Those who say a user's memories, by the numbers that the memories have. Never changes."""

    _first_names: Postings = field(default_factory=Postings)
    _lengths: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))  # distinct terms of each first name

    def named_in(self, terms: Int64) -> NDArray[np.bool_]:
        """bool [speakers]: whether all terms of a first name are among these, int64 [q]."""
        found = np.zeros(len(self._lengths), dtype=np.int64)
        for speakers, _ in self._first_names.of(terms):
            found[speakers] += 1
        named: NDArray[np.bool_] = (found == self._lengths) & (found > 0)
        return named

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._first_names.nbytes + self._lengths.nbytes

    def plus(self, names: Sequence[str]) -> Speakers:
        """With these numbered next."""
        called = [first_name(name) for name in names]
        lengths = np.array([len(words) for words in called], np.int64)
        first = len(self._lengths)
        rows = np.repeat(np.arange(first, first + len(names), dtype=np.int32), lengths)
        terms = np.concatenate([np.zeros(0, np.int64), *called])
        return Speakers(self._first_names.plus(terms, rows), np.concatenate([self._lengths, lengths]))


def first_name(name: str) -> Int64:
    """The distinct terms of a first name, int64 [t]; in a script without spaces of the whole name, not of a character of it."""
    return np.unique(hashed(terms(name.partition(" ")[0])))
