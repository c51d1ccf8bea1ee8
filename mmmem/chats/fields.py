"""Values of JSON that anybody may have written: each is what it should be, or as if it were not there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mmmem.errors import InvalidInput

MOST_ID = 200  # characters


def a_dict(value: Any) -> dict[str, Any]:
    """An object; an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    """An array; an empty one for what is none."""
    return value if isinstance(value, list) else []


def a_text(value: Any) -> str:
    """A string; an empty one for what is none."""
    return value if isinstance(value, str) else ""


def an_id(value: Any, name: str, place: str) -> str:
    """An id, which must be there: without it the same export twice would be kept twice. Raises InvalidInput."""
    if isinstance(value, str | int) and not isinstance(value, bool) and 0 < len(str(value)) <= MOST_ID:
        return str(value)
    raise InvalidInput(name, f"{place} has no id, or none that can be one")


def milliseconds(seconds: Any) -> int | None:
    """Unix milliseconds of seconds, as a number or in a string; None for what is no moment of the years 1 to 9999."""
    try:
        moment = float(seconds) if not isinstance(seconds, bool) else None
        return None if moment is None else round(datetime.fromtimestamp(moment, UTC).timestamp() * 1000)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def moment(written: Any) -> int | None:
    """Unix milliseconds of a time in ISO 8601; None for what is none."""
    try:
        return milliseconds(datetime.fromisoformat(a_text(written)).timestamp())
    except (ValueError, OverflowError):
        return None
