"""A text while times are read in it: each that is found is kept, and leaves a mark in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from mmmem.dates.times import NamedDate, Time
from mmmem.dates.words import FIRST_MARK, FIRST_YEAR, LAST_MARK, cues, plain

MARK, YEAR_MARK = f"[{FIRST_MARK}-{LAST_MARK}]", f"[{FIRST_YEAR}-{LAST_MARK}]"
_MARKS = ord(FIRST_YEAR) - ord(FIRST_MARK)  # of each kind
_ANY_MARK = re.compile(MARK)
_READ = "|"  # for what is read when there are no marks left; no pattern of a date matches across it, or across a mark
Rule = Callable[[re.Match[str]], Time | None]


class Reading:
    """Marks stand for times, so that "since" and "from ... to" read alike whatever the time is; those of bare years are of their own kind."""

    def __init__(self, text: str) -> None:
        self.text = plain(text)
        self.cues = cues(self.text)
        self._times: list[Time | None] = []

    @property
    def times(self) -> list[Time]:
        """In the order in which they were read, which is not the text's."""
        return [time for time in self._times if time]

    def says(self, signs: Iterable[str]) -> bool:
        """Whether one of these cues is in the text."""
        return not self.cues.isdisjoint(signs)

    def read(self, pattern: re.Pattern[str], rule: Rule) -> None:
        """Put a mark for each match of which the rule makes a time; a group "lead" before it stays in the text."""

        def take(match: re.Match[str]) -> str:
            time = rule(match)
            if time is None:
                return match[0]
            for mark in _ANY_MARK.findall(match[0]):
                self._times[_place(mark)] = None
            return (match.groupdict().get("lead") or "") + self._mark(time)

        self.text = pattern.sub(take, self.text)

    def at(self, mark: str) -> Time:
        time = self._times[_place(mark)]
        assert time  # a mark that was read into another time is no longer in the text
        return time

    def _mark(self, time: Time) -> str:
        place = len(self._times)
        if place >= _MARKS:
            return _READ
        self._times.append(time)
        is_year = isinstance(time, NamedDate) and not time.month
        return chr(ord(FIRST_YEAR if is_year else FIRST_MARK) + place)


def _place(mark: str) -> int:
    return (ord(mark) - ord(FIRST_MARK)) % _MARKS
