"""Who says a memory, and by what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mmmem.terms import hashed, terms
from mmmem.texts import named_speaker

if TYPE_CHECKING:
    from mmmem.types import Int64, Memory

CHAT_ROLES = frozenset(
    {"user", "human", "assistant", "ai", "agent", "bot", "chatbot", "model", "system", "tool", "developer", "function"}
)


def speaker(memory: Memory) -> str:
    """Who says a memory: whom its text names, else its role where that is a name and not a part in a chat."""
    return named_speaker(memory.text) or ("" if memory.role.lower() in CHAT_ROLES else memory.role)


def first_name(name: str) -> Int64:
    """The distinct terms of a first name, int64 [t]; in a script without spaces of the whole name, not of a character of it."""
    return np.unique(hashed(terms(name.partition(" ")[0])))
