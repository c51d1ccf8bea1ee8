"""Days, weeks, months, seasons and years as windows of time: [start, end) in Unix ms, UTC.

All raise ValueError or OverflowError (`OUTSIDE`) for what lies outside the years 1 to 9999 or does not exist.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from datetime import date

Window = tuple[int, int]

OUTSIDE = (ValueError, OverflowError)
DAY = 86_400_000  # ms
_EPOCH = date(1970, 1, 1).toordinal()


def day_of(moment: int) -> date:
    return date.fromordinal(_EPOCH + moment // DAY)


def years_around(year: int) -> range:
    """Near enough for the last and the next of a date, 29 February too (but for 1900 and 2100)."""
    return range(year - 4, year + 5)


def days(first: date, last: date | None = None) -> Window:
    """From the first to the last of these days, both whole; without a last day, the first alone."""
    return (first.toordinal() - _EPOCH) * DAY, ((last or first).toordinal() - _EPOCH + 1) * DAY


def months(year: int, month: int, number: int = 1) -> Window:
    """So many whole months; those after December are of the next year."""
    first = date(year, month, 1)
    last = months_later(first, number - 1)
    return days(first, last.replace(day=monthrange(last.year, last.month)[1]))


def months_later(day: date, number: int) -> date:
    """The same day of the month, or the last one of a shorter month."""
    year, month = divmod(12 * day.year + day.month - 1 + number, 12)
    return date(year, month + 1, 1).replace(day=min(day.day, monthrange(year, month + 1)[1]))


def occurrence(which: int, windows: Iterable[Window], today: date) -> Window | None:
    """Of a time that comes again: the last one that is over (-1), the next that begins (1), or the one of now, else of this year (0)."""
    start, end = days(today)
    if which < 0:
        return max((window for window in windows if window[1] <= start), default=None)
    if which > 0:
        return min((window for window in windows if window[0] >= end), default=None)
    year = days(date(today.year, 1, 1), date(today.year, 12, 31))
    of_year = [window for window in windows if window[1] > start >= window[0] or year[0] <= window[0] < year[1]]
    return min(of_year, default=None)


def nearest(windows: Iterable[Window], moment: int) -> Window | None:
    """The one that the moment is in or nearest to; of two as near, the earlier."""
    return min(windows, key=lambda window: (max(window[0] - moment, moment - window[1], 0), window), default=None)
