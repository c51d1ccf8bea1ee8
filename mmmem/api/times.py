"""Time on the wire: Unix milliseconds in, ISO 8601 out, always UTC."""

from __future__ import annotations

from datetime import datetime, timedelta

from mmmem.errors import InvalidInput
from mmmem.types import FIRST_MOMENT, LAST_MOMENT

_EPOCH = datetime(1970, 1, 1)  # UTC, as all times here: one that says so takes three times as long to write
_MILLISECOND = timedelta(milliseconds=1)

# From 1973 on, the same moment in seconds lies in this range and in milliseconds above it. Only milliseconds between
# 2 January 1970 and 3 March 1973 are mistaken for seconds.
SECONDS = range(10**8, 10**11)


def read_timestamp(value: int | None, field: str) -> int | None:
    """Unix milliseconds, from milliseconds or from seconds. Raises InvalidInput beyond the years 1 to 9999."""
    if value is None:
        return None
    if value in SECONDS:
        value *= 1000
    if not FIRST_MOMENT <= value <= LAST_MOMENT:
        raise InvalidInput(field, "must be Unix milliseconds within the years 1 to 9999")
    return value


def write_timestamp(milliseconds: int) -> str:
    """ISO 8601, for example ``2024-01-01T00:00:00Z``; milliseconds are written only when there are any."""
    moment = _EPOCH + milliseconds * _MILLISECOND
    precision = "milliseconds" if milliseconds % 1000 else "seconds"
    return f"{moment.isoformat(timespec=precision)}Z"
