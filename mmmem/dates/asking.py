"""Whether a question asks for a time."""

from __future__ import annotations

import re

_ASKS_WHEN = re.compile(
    r"\b(?:when|(?:what|which) (?:date|day|month|year|time|season)|how long ago|how recently)\b"
    r"|什么时候|什么时间|何时|啥时候|哪[一]?[天年月日]|几[号月点]|多久(?:之|以)?前",
    re.IGNORECASE,
)


def asks_when(text: str) -> bool:
    """Whether a question asks when something was or will be."""
    return bool(_ASKS_WHEN.search(text))
