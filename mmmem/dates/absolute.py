"""Dates that a text names by the calendar: "on 7 June 2023", "in May", "2023-06", "18/6/2023", "6月7日"."""

from __future__ import annotations

import re

from mmmem.dates.reading import Reading
from mmmem.dates.times import EitherDate, NamedDate, Time
from mmmem.dates.words import (
    CHINESE_NUMBER,
    END,
    MONTH_NAMES,
    MONTHS,
    ORDINARY,
    START,
    any_of,
    compiled,
    number,
)

MONTH = rf"(?P<month>{any_of(MONTH_NAMES)}){END}\.?"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?P<year>(?:19|20)\d\d)"
# What follows "may" where it is no month: "this may be", "May I".
_VERB = rf"(?=(?P<verb> (?:be|have|not|also|well|still|need|i|we|you|he|she|it|they){END})?)"
_DIGITS = ("1", "2")  # one of them is in every year
_PATTERNS = tuple(
    (signs, compiled(pattern))
    for signs, pattern in (
        (
            _DIGITS,
            rf"(?<![-/.]){START}(?P<one>\d{{1,2}})(?P<sign>[-/.])(?P<two>\d{{1,2}})(?P=sign){YEAR}{END}(?![-/.]\d)",
        ),
        (_DIGITS, rf"(?<!\.){START}{YEAR}[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?(?:{END}|(?=T\d))"),
        (
            ("月",),
            rf"(?:{YEAR}\s?年\s?的?\s?)?(?P<month>\d{{1,2}}|十[一二]?|[一二三四五六七八九])\s?月(?:\s?(?P<day>{CHINESE_NUMBER})\s?[日号])?",
        ),
        (MONTH_NAMES, rf"{START}{DAY}(?: of)? {MONTH}(?:,? (?:of )?{YEAR}{END})?{_VERB}"),
        (MONTH_NAMES, rf"{START}{MONTH} {DAY}{END}(?:,? {YEAR}{END})?{_VERB}"),
        (
            MONTH_NAMES,
            rf"(?P<lead>{START}(?:in|last|of|since|early|late|mid|during|until|before|after|next|from|between|through) )?"
            rf"{START}{MONTH}(?:,? (?:of )?{YEAR}{END})?{_VERB}",
        ),
        (_DIGITS, rf"(?<!\.){START}{YEAR}(?:\s?年|{END})|{YEAR.replace('year', 'year2')}\s?年"),
    )
)
MOST = 16  # dates of one text


def read_absolute(reading: Reading) -> None:
    """Mark the dates of a text."""
    for signs, pattern in _PATTERNS:
        if reading.says(signs):
            reading.read(pattern, _read)


def named_dates(text: str) -> list[NamedDate]:
    """The dates that a text names, each once, MOST at most. A month without a year takes the text's only year, if it names one."""
    reading = Reading(text)
    read_absolute(reading)
    found = [date for date in reading.times if isinstance(date, NamedDate)]
    years = {date.year for date in found if date.year}
    if len(years) == 1 and any(date.month for date in found):
        found = [NamedDate(min(years), date.month, date.day) for date in found if date.month]
    return list(dict.fromkeys(found))[:MOST]


def _read(match: re.Match[str]) -> Time | None:
    groups = match.groupdict()
    if groups.get("sign"):
        return _read_figures(int(groups["one"]), int(groups["two"]), int(groups["year"]), groups["sign"])
    year, name, day = groups.get("year") or groups.get("year2"), groups.get("month"), groups.get("day")
    month = None
    if name:
        month = int(name) if name.isdecimal() else MONTHS[name.lower()]
        if not 1 <= month <= 12 or (name.lower() in ORDINARY and not _means_month(groups)):
            return None
    if day and not 1 <= number(day) <= 31:
        return None
    return NamedDate(int(year) if year else None, month, number(day) if day else None)


def _read_figures(one: int, two: int, year: int, sign: str) -> Time | None:
    """Day and month, or month and day where no dot stands between them; both where both can be."""
    readings = [(one, two)] if sign == "." else [(one, two), (two, one)]
    dates = dict.fromkeys(NamedDate(year, month, day) for day, month in readings if 1 <= day <= 31 and 1 <= month <= 12)
    if len(dates) > 1:
        return EitherDate(tuple(dates))
    return next(iter(dates), None)


def _means_month(groups: dict[str, str | None]) -> bool:
    """Whether a word like "may" is the month here."""
    capital = (groups["month"] or "")[0].isupper()
    if groups["verb"]:
        return bool(groups["year"] or groups.get("lead") or (capital and groups.get("day")))
    return bool(capital or groups["year"] or groups.get("day") or groups.get("lead"))
