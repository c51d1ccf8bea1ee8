"""The evidence needs of a question that has several: each clause that asks, for each person or thing it asks about together.

"Where does Ann live, and what does Bob cook?" needs two memories, and so does "What do Ann and Bob cook?". Ranked as one question, the
half that matches better fills the first places.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 4  # needs of one question: each is ranked by itself

_ASKING = r"(?:what|when|where|who|whom|whose|which|why|how|did|does|do|is|are|was|were|has|have|had|can|could|will|would|should)\b"
_EAST_ASKING = "谁|誰|什么|什麼|哪|几|幾|多少|怎么|怎麼|为什么|為什麼|何时|何時|吗|嗎"
_BETWEEN = re.compile(
    r"[?？!！;；\n]+\s*"
    rf"|,?\s+(?:and|or|but|then|also)\s+(?={_ASKING})"
    rf"|,\s+(?={_ASKING})"
    rf"|[，、,]?\s*(?:以及|还有|還有|并且|並且|和)\s*(?=[^，。？]*(?:{_EAST_ASKING}))"
    rf"|[，、]\s*(?=[^，。？]*(?:{_EAST_ASKING}))",
    re.IGNORECASE,
)
_NAME = r"[^\W\d_a-z][\w'’-]*(?:[ ]+[^\W\d_a-z][\w'’-]*)*"
_THING = r"(?:the|a|an|my|your|his|her|its|our|their)[ ]+[\w'’-]+(?:[ ]+(?!and\b|or\b)[\w'’-]+)?"
_PREPOSITION = r"(?:(?:about|at|by|for|from|in|of|on|to|with)[ ]+)?"
_TOGETHER = tuple(
    re.compile(
        rf"(?:\b[Bb]oth\s+)?\b(?P<first>{kind})(?P<more>(?:,\s+{kind})*),?\s+(?:and|or|&)\s+{_PREPOSITION}(?P<last>{kind})"
    )
    for kind in (_NAME, _THING)
)
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_WORDS, _LEAST_EAST = 3, 4  # a shorter clause asks nothing by itself


def needs(question: str) -> list[str]:
    """A question for each need, in order, `MOST` at most; none where there is but one."""
    found = [need for clause in _clauses(question) for need in _for_each(clause)]
    return found[:MOST] if len(found) > 1 else []


def _clauses(question: str) -> Iterator[str]:
    for clause in map(str.strip, _BETWEEN.split(question)):
        if len(clause.split()) >= _LEAST_WORDS or len(_EAST.findall(clause)) >= _LEAST_EAST:
            yield clause


def _for_each(clause: str) -> Iterator[str]:
    """The clause with one name, or one thing, at a time in place of several that are asked about together."""
    found = next(filter(None, (kind.search(clause) for kind in _TOGETHER)), None)
    if not found:
        yield clause
        return
    more = (name.strip() for name in found["more"].split(","))
    for name in (found["first"], *filter(None, more), found["last"]):
        yield clause[: found.start()] + name + clause[found.end() :]
