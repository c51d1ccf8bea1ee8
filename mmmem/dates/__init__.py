"""Times that questions and memories speak of, as windows [start, end) in Unix ms, UTC; in English and Chinese.

Keys for the time that a memory speaks of, beside the time it was told: Wu et al., LongMemEval (2024), "time-aware query expansion".
Own small tables and no library: rankings hang on how each phrase is read, so it must be read the same way for ever.
"""

from __future__ import annotations

from collections.abc import Iterable

from mmmem.dates.absolute import NamedDate, named_dates
from mmmem.dates.asking import asks_when
from mmmem.dates.periods import OUTSIDE, Window, day_of, nearest, years_around
from mmmem.dates.relative import read_relative

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

    now: when it was asked, Unix ms; without it nothing relative is read, and "last May" is May. years: those in which a
    month or a day without a year may be meant.
    """
    windows, rest = ([], text) if now is None else read_relative(text, now)
    of_any_year = list(years)
    windows += [window for date in named_dates(rest) for window in date.windows(of_any_year)]
    return list(dict.fromkeys(windows))[:MOST]


def event_windows(text: str, told: int) -> list[Window]:
    """The times of which a memory speaks, MOST_EVENTS at most. told: when it was told, Unix ms.

    A month or day without a year is the one nearest to the telling.
    """
    windows, rest = read_relative(text, told)
    try:
        years = years_around(day_of(told).year)
    except OUTSIDE:
        years = range(0)
    windows += [window for date in named_dates(rest) if (window := nearest(date.windows(years), told))]
    return list(dict.fromkeys(windows))[:MOST_EVENTS]
