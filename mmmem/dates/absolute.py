"""Dates that a text names by the calendar: "on 7 June 2023", "in May", "2023-06", "6月7日"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from mmmem.dates.periods import OUTSIDE, Window, days, months
from mmmem.dates.words import (
    CHINESE_NUMBER,
    END,
    MONTH_NAMES,
    MONTHS,
    ORDINARY,
    START,
    any_of,
    compiled,
    cues,
    number,
    plain,
)

MONTH = rf"(?P<month>{any_of(MONTH_NAMES)}){END}\.?"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?P<year>(?:19|20)\d\d)"
# What follows "may" where it is no month: "this may be", "May I".
_VERB = rf"(?=(?P<verb> (?:be|have|not|also|well|still|need|i|we|you|he|she|it|they){END})?)"
_PATTERNS = tuple(
    (signs, compiled(pattern))
    for signs, pattern in (
        (("1", "2"), rf"(?<!\.){START}{YEAR}[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?(?:{END}|(?=T\d))"),
        (
            ("月",),
            rf"(?:{YEAR}\s?年\s?的?\s?)?(?P<month>\d{{1,2}}|十[一二]?|[一二三四五六七八九])\s?月(?:\s?(?P<day>{CHINESE_NUMBER})\s?[日号])?",
        ),
        (MONTH_NAMES, rf"{START}{DAY}(?: of)? {MONTH}(?:,? (?:of )?{YEAR}{END})?{_VERB}"),
        (MONTH_NAMES, rf"{START}{MONTH} {DAY}{END}(?:,? {YEAR}{END})?{_VERB}"),
        (
            MONTH_NAMES,
            rf"(?P<lead>{START}(?:in|last|of|since|early|late|mid|during|until|before|after|next) )?{START}{MONTH}(?:,? (?:of )?{YEAR}{END})?{_VERB}",
        ),
        (("1", "2"), rf"(?<!\.){START}{YEAR}{END}|{YEAR.replace('year', 'year2')}\s?年"),
    )
)
READ = "|"  # stands for what has been read; no pattern matches across it
MOST = 16  # dates of one text


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A year, a month, a day, or a month or day of any year; what is not named is None."""

    year: int | None
    month: int | None
    day: int | None

    def windows(self, years: Iterable[int]) -> list[Window]:
        """[start, end) in Unix ms, UTC: in its year, or in each of these years where the date exists."""
        of_date = years if self.year is None else (self.year,)
        return [window for year in of_date if (window := self._window(year))]

    def _window(self, year: int) -> Window | None:
        try:
            if self.month is None:
                return months(year, 1, 12)
            return days(date(year, self.month, self.day)) if self.day else months(year, self.month)
        except OUTSIDE:
            return None


def named_dates(text: str) -> list[NamedDate]:
    """The dates that a text names, each once, MOST at most. A month without a year takes the text's only year, if it names one."""
    found: list[NamedDate] = []

    def take(match: re.Match[str]) -> str:
        read = _read(match)
        if read:
            found.append(read)
        return READ if read else match[0]

    text = plain(text)
    present = cues(text)
    for signs, pattern in _PATTERNS:
        if not present.isdisjoint(signs):
            text = pattern.sub(take, text)
    years = {date.year for date in found if date.year}
    if len(years) == 1 and any(date.month for date in found):
        found = [NamedDate(min(years), date.month, date.day) for date in found if date.month]
    return list(dict.fromkeys(found))[:MOST]


def _read(match: re.Match[str]) -> NamedDate | None:
    groups = match.groupdict()
    year, name, day = groups.get("year") or groups.get("year2"), groups.get("month"), groups.get("day")
    month = None
    if name:
        month = int(name) if name.isdecimal() else MONTHS[name.lower()]
        if not 1 <= month <= 12 or (name.lower() in ORDINARY and not _means_month(groups)):
            return None
    if day and not 1 <= number(day) <= 31:
        return None
    return NamedDate(int(year) if year else None, month, number(day) if day else None)


def _means_month(groups: dict[str, str | None]) -> bool:
    """Whether a word like "may" is the month here."""
    capital = (groups["month"] or "")[0].isupper()
    if groups["verb"]:
        return bool(groups["year"] or groups.get("lead") or (capital and groups.get("day")))
    return bool(capital or groups["year"] or groups.get("day") or groups.get("lead"))
