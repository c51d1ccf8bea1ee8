"""Times that questions and memories speak of, as windows [start, end) in Unix ms, UTC; in English and Chinese, and some in Japanese.

Keys for the time that a memory speaks of, beside the time it was told: Wu et al., LongMemEval (2024), "time-aware query expansion".
Own small tables and no library: rankings hang on how each phrase is read, so it must be read the same way for ever.
"""

from __future__ import annotations

from collections.abc import Iterable

from mmmem.dates.absolute import named_dates, read_absolute
from mmmem.dates.asking import asks_when
from mmmem.dates.parts import read_parts
from mmmem.dates.periods import OUTSIDE, Window, day_of, nearest, years_around
from mmmem.dates.reading import Reading
from mmmem.dates.relative import read_relative
from mmmem.dates.spans import leave_open_ends, read_open_ends, read_ranges
from mmmem.dates.times import EitherDate, NamedDate, Time, ToldTime

__all__ = [
    "MOST",
    "MOST_EVENTS",
    "NamedDate",
    "Window",
    "asks_when",
    "event_windows",
    "named_dates",
    "question_windows",
]

MOST = 64  # windows of a question: a month may be meant of any year that its memories are of
MOST_EVENTS = 4  # windows of a memory


def question_windows(text: str, now: int | None, years: Iterable[int]) -> list[Window]:
    """The times that a question names, MOST at most.

    now: when it was asked, Unix ms; without it nothing relative is read, "last May" is May, and so is "since May".
    years: those in which a month or a day without a year may be meant; looked at only when a time is named.
    """
    reading = Reading(text)
    _read(reading, now)
    if now is not None and reading.times:
        read_open_ends(reading, now)
    dated = _dated(reading)
    of_any_year = list(years) if dated else []
    windows = [window for time, year in dated for window in time.windows([year] if year else of_any_year)]
    return list(dict.fromkeys(windows))[:MOST]


def event_windows(text: str, told: int) -> list[Window]:
    """The times of which a memory speaks, MOST_EVENTS at most. told: when it was told, Unix ms.

    A month or day without a year is the one nearest to the telling.
    """
    reading = Reading(text)
    _read(reading, told)
    if reading.times:
        leave_open_ends(reading)
    try:
        years = years_around(day_of(told).year)
    except OUTSIDE:
        years = range(0)
    windows: list[Window] = []
    for time, year in _dated(reading):
        found = time.windows([year] if year else years)
        windows += found if isinstance(time, EitherDate) else filter(None, [nearest(found, told)])
    return list(dict.fromkeys(windows))[:MOST_EVENTS]


def _read(reading: Reading, now: int | None) -> None:
    if now is not None:
        read_relative(reading, now)
    read_absolute(reading)
    read_parts(reading)
    if reading.times:
        read_ranges(reading)


def _dated(reading: Reading) -> list[tuple[Time, int | None]]:
    """The times of a text, and for those of any year its only year, if it names one; then that year is no time of its own."""
    times = list(dict.fromkeys(reading.times))
    named = [time for time in times if not isinstance(time, ToldTime)]
    years = {year for time in named for year in time.years}
    bare = {time for time in named if isinstance(time, NamedDate) and not time.month}
    if len(years) != 1 or len(bare) == len(named):
        return [(time, None) for time in times]
    return [(time, min(years)) for time in times if time not in bare]
