"""Where an error came from, without what it says: messages quote content and paths."""

from __future__ import annotations

import traceback


def stack_of(error: BaseException) -> str:
    """The types of an exception and its causes, and the places in the code, by module, that each went through."""
    lines = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        lines.append(type(current).__qualname__)
        lines += [
            f"  {frame.f_globals.get('__name__', '?')}:{line} in {frame.f_code.co_name}"
            for frame, line in traceback.walk_tb(current.__traceback__)
        ]
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n".join(lines)
