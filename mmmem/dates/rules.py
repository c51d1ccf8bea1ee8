"""What the phrases of relative time mean: one rule each, from a phrase's words and the day of today (UTC).

Where the calendar has no such time they raise one of `periods.OUTSIDE`, or return None.
"""

from __future__ import annotations

from datetime import date, timedelta

from mmmem.dates.parts import feast_of
from mmmem.dates.periods import Window, day_of, days, months, months_later, occurrence, years_around
from mmmem.dates.times import NamedDate
from mmmem.dates.words import (
    CHINESE_YEARS,
    DAYS,
    HALF_OF,
    HALVES,
    MONTHS,
    SEASONS,
    UNITS,
    WEEKDAYS,
    WEEKEND,
    WHICH,
    count,
    number,
)

Words = dict[str, str]  # a pattern's groups that matched, in lower case
WEEK_SLACK, MONTH_SLACK = timedelta(3), timedelta(15)


def day(words: Words, today: date) -> Window:
    """A day is a day; "this morning" is today, and "last night" yesterday."""
    return days(today + timedelta(DAYS[words["day"]]))


def ago(words: Words, today: date) -> Window | None:
    """N days ago: that day. N weeks: 3 days around it. N months: half a month around it. N years: that calendar
    year, which is read with the dates (`relative._years_named`), so that "in May two years ago" is a month.

    "A couple of" spans 2 to 3 of them, "a few" 2 to 6; of years, these calendar years.
    """
    low, high, unit = _quantity(words)
    if unit == "year":
        return months(today.year - high, 1, 12 * (high - low + 1)) if high > low else None
    return _away(today, -high, -low, unit)


def away(words: Words, window: Window) -> Window:
    """Two weeks before or after a time: from its first day or its last, with the same days around it as `ago`."""
    low, high, unit = _quantity(words)
    if unit == "year":
        low, high, unit = 12 * low, 12 * high, "month"
    if words["way"] in {"before", "前"}:
        return _away(day_of(window[0]), -high, -low, unit)
    return _away(day_of(window[1] - 1), low, high, unit)


def _away(day: date, least: int, most: int, unit: str) -> Window:
    if unit == "month":
        return days(months_later(day, least) - MONTH_SLACK, months_later(day, most) + MONTH_SLACK)
    length, slack = (7, WEEK_SLACK) if unit == "week" else (1, timedelta(0))
    return days(day + timedelta(length * least) - slack, day + timedelta(length * most) + slack)


def rolling(words: Words, today: date) -> Window:
    """In the last N of them: from the day N units ago to today."""
    _, high, unit = _quantity(words)
    if unit in {"month", "year"}:
        return days(months_later(today, -high * (12 if unit == "year" else 1)), today)
    return days(today - timedelta(high * (7 if unit == "week" else 1)), today)


def week(words: Words, today: date) -> Window:
    """The ISO week; its weekend is Saturday and Sunday; 上周三 is the Wednesday of the previous week."""
    monday = today + timedelta(7 * WHICH[words["which"]] - today.weekday())
    part = words.get("part")
    if part is None or part == "week":
        return days(monday, monday + timedelta(6))
    if part in WEEKEND:
        return days(monday + timedelta(5), monday + timedelta(6))
    return days(monday + timedelta(WEEKDAYS[part]))


def weekday(words: Words, today: date) -> Window:
    """Last: the latest before today. Next: the first after today. This: of this ISO week. On Friday, 星期五: the nearest."""
    weekday, which = WEEKDAYS[words["weekday"]], WHICH.get(words.get("which", ""))
    if which is None:
        return days(today + timedelta((weekday - today.weekday() + 3) % 7 - 3))
    if which < 0:
        return days(today - timedelta((today.weekday() - weekday) % 7 or 7))
    if which > 0:
        return days(today + timedelta((weekday - today.weekday()) % 7 or 7))
    return days(today + timedelta(weekday - today.weekday()))


def weekdays_ago(words: Words, today: date) -> Window:
    """Two Fridays ago: the one before the latest before today."""
    latest = today - timedelta((today.weekday() - WEEKDAYS[words["weekday"]]) % 7 or 7)
    return days(latest - timedelta(7 * (number(words["count"]) - 1)))


def weekend(words: Words, today: date) -> Window:
    """Over the weekend, 周末: the latest that has begun."""
    saturday = today - timedelta((today.weekday() - 5) % 7)
    return days(saturday, saturday + timedelta(1))


def day_of_month(words: Words, today: date) -> Window | None:
    """On the 7th: the latest that is not after today."""
    of_month = number(words["day"])
    firsts = (months_later(today.replace(day=1), -before) for before in range(3))
    dates = [window for first in firsts for window in NamedDate(first.year, first.month, of_month).windows(())]
    return next((window for window in dates if window <= days(today)), None)


def feast(words: Words, today: date) -> Window | None:
    """Last Christmas: as `named_month`."""
    return occurrence(WHICH[words["which"]], feast_of(words["feast"], None).windows(years_around(today.year)), today)


def month(words: Words, today: date) -> Window:
    """The calendar month, or a day of it: 上个月5号."""
    first = months_later(today.replace(day=1), WHICH[words["which"]])
    if "day" in words:
        return days(first.replace(day=number(words["day"])))
    return months(first.year, first.month)


def season(words: Words, today: date) -> Window | None:
    """Three months of the north: spring from March; winter from December, of the year in which it begins. Else as `named_month`."""
    month = SEASONS[words["season"]]
    if "of_year" in words:
        return months(today.year + CHINESE_YEARS[words["of_year"]], month, 3)
    seasons = [months(today.year + offset, month, 3) for offset in (-2, -1, 0, 1)]
    return occurrence(WHICH[words["which"]], seasons, today)


def named_month(words: Words, today: date) -> Window | None:
    """Last May: the latest that is over. Next: the first that has not begun. This: of this year. With a day, the same of the day."""
    month, which = MONTHS[words["month"]], WHICH[words["which"]]
    of_year = NamedDate(None, month, number(words["day"]) if "day" in words else None)
    return occurrence(which, of_year.windows(years_around(today.year)), today)


def _quantity(words: Words) -> tuple[int, int, str]:
    unit = words.get("unit", "天")
    unit = UNITS.get(unit, unit)
    if unit == "fortnight":
        low, high = count(words.get("count", "one"))
        return 2 * low, 2 * high, "week"
    if words.get("count") in HALVES:
        number_of, part = HALF_OF[unit]
        return number_of, number_of, part
    return *count(words.get("count", "one")), unit
