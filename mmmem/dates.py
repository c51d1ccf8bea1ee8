"""Dates that a question names, so that memories of that time come forward: "on 7 June 2023", "in May", "2023-06", "6月7日"."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_ENGLISH = (
    "january|jan", "february|feb", "march|mar", "april|apr", "may", "june|jun", "july|jul", "august|aug",
    "september|sept|sep", "october|oct", "november|nov", "december|dec",
)  # fmt: skip
_CHINESE = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_MONTHS = {name: number for number, names in enumerate(_ENGLISH, 1) for name in names.split("|")} | {
    name: number for number, name in enumerate(_CHINESE, 1)
}
# Words as well as months: read as months with a capital, beside a number, or after a word that goes before times.
_ORDINARY = {"may", "march", "mar", "dec", "sep", "jan", "jun"}

_MONTH = rf"(?P<month>{'|'.join(name for names in _ENGLISH for name in names.split('|'))})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\w.]){_YEAR}[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?(?![\d\w])",
        rf"(?:{_YEAR}年)?(?P<month>\d{{1,2}}|十[一二]?|[一二三四五六七八九])月(?:(?P<day>\d{{1,2}})[日号])?",
        rf"\b{_DAY}(?:\s+of)?\s+{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR}\b)?",
        rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
        rf"(?P<lead>\b(?:in|last|this|of|since|early|late|mid|during|until|before|after|next)\s+)?\b{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR}\b)?",
        rf"(?<![\w.]){_YEAR}(?![\d\w])|{_YEAR.replace('year', 'year2')}年",
    )
)

MOST = 16  # dates of one question
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A year, a month, a day, or a month or day of any year; what is not named is None."""

    year: int | None
    month: int | None
    day: int | None

    def windows(self, years: Iterable[int]) -> list[tuple[int, int]]:
        """[start, end) in Unix ms, UTC: in its year, or in each of these years where the date exists."""
        of_date = years if self.year is None else (self.year,)
        return [window for year in of_date if (window := self._window(year))]

    def _window(self, year: int) -> tuple[int, int] | None:
        if self.month is None:
            start, days = datetime(year, 1, 1, tzinfo=UTC), 366 if monthrange(year, 2)[1] == 29 else 365
        else:
            length = monthrange(year, self.month)[1]
            if (self.day or 1) > length:
                return None
            start, days = datetime(year, self.month, self.day or 1, tzinfo=UTC), 1 if self.day else length
        return _milliseconds(start - _EPOCH), _milliseconds(start + timedelta(days=days) - _EPOCH)


def named_dates(text: str) -> list[NamedDate]:
    """The dates that a text names, each once, MOST at most. A month without a year takes the text's only year, if it names one."""
    found: list[NamedDate] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            date = _read(match)
            if date:
                found.append(date)
                start, end = match.span()
                text = text[:start] + "\n" * (end - start) + text[end:]  # read once, and of the same length
    years = {date.year for date in found if date.year}
    if len(years) == 1 and any(date.month for date in found):
        found = [NamedDate(min(years), date.month, date.day) for date in found if date.month]
    return list(dict.fromkeys(found))[:MOST]


def _read(match: re.Match[str]) -> NamedDate | None:
    groups = match.groupdict()
    year, name, day = groups.get("year") or groups.get("year2"), groups.get("month"), groups.get("day")
    month = None
    if name:
        month = int(name) if name.isdecimal() else _MONTHS[name.lower()]
        plain = name.lower() in _ORDINARY and not (name[0].isupper() or year or day or groups.get("lead"))
        if plain or not 1 <= month <= 12:
            return None
    if day and not 1 <= int(day) <= 31:
        return None
    return NamedDate(int(year) if year else None, month, int(day) if day else None)


def _milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)
