"""Times as a text names them: they become windows of time once it is known which years may be meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from mmmem.dates.periods import OUTSIDE, Window, day_of, days, months


class Time(Protocol):
    @property
    def years(self) -> tuple[int, ...]:
        """Those that are named with it; none for a time of any year."""

    def windows(self, years: Iterable[int]) -> list[Window]:
        """[start, end) in Unix ms, UTC: in its own year, or in each of these years where the time exists."""


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A year, a month, a day, or a month or day of any year; what is not named is None."""

    year: int | None
    month: int | None
    day: int | None

    @property
    def years(self) -> tuple[int, ...]:
        return () if self.year is None else (self.year,)

    def windows(self, years: Iterable[int]) -> list[Window]:
        of_date = years if self.year is None else (self.year,)
        return [window for year in of_date if (window := self._window(year))]

    def _window(self, year: int) -> Window | None:
        try:
            if self.month is None:
                return months(year, 1, 12)
            return days(date(year, self.month, self.day)) if self.day else months(year, self.month)
        except OUTSIDE:
            return None


@dataclass(frozen=True, slots=True)
class ToldTime:
    """A time told from the present: "last week"."""

    window: Window

    @property
    def years(self) -> tuple[int, ...]:
        return (day_of(self.window[0]).year,)

    def windows(self, years: Iterable[int]) -> list[Window]:
        return [self.window]


@dataclass(frozen=True, slots=True)
class EitherDate:
    """5/6/2023 is 5 June or 6 May."""

    dates: tuple[NamedDate, ...]

    @property
    def years(self) -> tuple[int, ...]:
        return self.dates[0].years

    def windows(self, years: Iterable[int]) -> list[Window]:
        return [window for date in self.dates for window in date.windows(years)]


@dataclass(frozen=True, slots=True)
class Range:
    """From the start of the first to the end of the last, both of the same year where that can be: of "November to February" it can't."""

    first: Time
    last: Time

    @property
    def years(self) -> tuple[int, ...]:
        return self.first.years + self.last.years

    def windows(self, years: Iterable[int]) -> list[Window]:
        wanted = set(self.years or years)
        starts = self.first.years or sorted(wanted | {year - 1 for year in wanted})
        found: dict[Window, Window] = {}  # by the end: of two starts the later
        for year in starts:
            for first in self.first.windows((year,)):
                last = min((last for last in self.last.windows((year, year + 1)) if last >= first), default=None)
                if last and not wanted.isdisjoint((year, day_of(last[0]).year)):
                    found[last] = (first[0], last[1])
        return list(found.values())


@dataclass(frozen=True, slots=True)
class TimeFrom:
    """What lies so from another time: before it, since it, two weeks after it."""

    time: Time
    turned: Callable[[list[Window]], list[Window]]
    years: tuple[int, ...] = ()

    def windows(self, years: Iterable[int]) -> list[Window]:
        return self.turned(self.time.windows(years))
