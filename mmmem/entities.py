"""Words of a question that name something: with a capital inside a sentence, or in quotes."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"[\"“«「『](?P<words>[^\"“”«»「」『』\n]{1,100})[\"”»」』]")
_CAPITAL = re.compile(r"(?<![.!?:\n]\s)(?<!^)\b[^\W\d_a-z][\w'’-]+")


def entities(text: str) -> str:
    """Those words, by spaces. The first word of a sentence has a capital anyway, so it is left out."""
    quoted = [match["words"] for match in _QUOTED.finditer(text)]
    named = [match.group() for match in _CAPITAL.finditer(text) if match.group().lower() != match.group()]
    return " ".join([*quoted, *named])
