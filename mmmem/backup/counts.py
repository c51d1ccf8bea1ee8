"""How much went through, and who wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mmmem.types import ImagePart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mmmem.types import Memory

Advance = Callable[["Counts"], object]
"""Told from time to time how far it has come."""


@dataclass(slots=True)
class Counts:
    """known: requests that were there before. done: how far it has come of the whole, in whatever the whole is counted in.

    left_out: names of the tables that could not be read, or not to their end.
    """

    users: int = 0
    requests: int = 0
    memories: int = 0
    images: int = 0
    known: int = 0
    done: int = 0
    left_out: list[str] = field(default_factory=list)

    def add(self, memories: Iterable[Memory]) -> None:
        """Count one request."""
        self.requests += 1
        for memory in memories:
            self.memories += 1
            self.images += sum(isinstance(part, ImagePart) for part in memory.parts)
