"""Times told from other times: "from May to July", "two weeks before Christmas", "since March", 2023年之前."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from mmmem.dates import rules
from mmmem.dates.periods import OUTSIDE, Window, day_of, days
from mmmem.dates.reading import MARK, Reading
from mmmem.dates.times import NamedDate, Range, Time, TimeFrom
from mmmem.dates.words import AFTER_DAY, CHINESE_COUNT, CHINESE_NUMBER, END, ENGLISH_COUNT, START, compiled, number

_FROM, _TO = rf"(?:(?:{START}from )?(?:the )?|从)", r"\s*(?:-|–|—|~|～|到|至)"
_FIRST, _LAST = rf"(?P<first>{MARK})", rf"(?P<last>{MARK})"
_BETWEEN = rf"{START}between (?:the )?"
_ORDINAL = r"(?:st|nd|rd|th)?"
_DAY = rf"(?P<day>\d{{1,2}}){_ORDINAL}"
_RANGES = tuple(
    compiled(pattern)
    for pattern in (
        rf"{_BETWEEN}{_FIRST} and (?:the )?{_LAST}",
        rf"{_FROM}{_FIRST}(?:{_TO}| (?:to|until|till|through|thru) (?:the )?){_LAST}",
        # The day or the month of one end alone: "from 3 to 9 June", "June 3-9", 6月3日到9日, 5到7月.
        rf"{_BETWEEN}(?:the )?{_DAY} and (?:the )?{_LAST}",
        rf"(?:{START}from (?:the )?|从)?(?<![\d./:-])(?P<day>{CHINESE_NUMBER}){_ORDINAL}(?:{_TO}\s*| to (?:the )?){_LAST}",
        rf"{_FROM}{_FIRST}(?:{_TO}\s*| (?:to|through) (?:the )?)(?P<day>{CHINESE_NUMBER})(?:[日号](?!线)|{_ORDINAL}{AFTER_DAY})",
    )
)
_AWAY = tuple(
    compiled(pattern)
    for pattern in (
        rf"(?<!\d[.,]){START}(?:(?P<count>{ENGLISH_COUNT})|the) (?P<unit>day|week|fortnight|month|year)s? (?P<way>before|after) (?:the )?(?P<of>{MARK})",
        rf"(?P<of>{MARK})[的之]?(?P<way>前|后)(?P<count>{CHINESE_COUNT})\s?个?(?P<unit>天|周|星期|礼拜|(?<=个)月|年)",
    )
)
_ENGLISH_ENDS = (
    ("since", "since"), ("after", "after"), ("before", "before"), ("until", "until"), ("till", "until"), ("prior to", "before"),
)  # fmt: skip
_CHINESE_ENDS = (
    ("以来", "since"), ("起", "since"), ("开始", "since"), ("以后", "after"), ("之后", "after"),
    ("以前", "before"), ("之前", "before"), ("为止", "until"),
)  # fmt: skip
_ENDS = dict((*_ENGLISH_ENDS, *_CHINESE_ENDS))
_ENGLISH_END, _CHINESE_END = ("|".join(word for word, _ in ends) for ends in (_ENGLISH_ENDS, _CHINESE_ENDS))
_OPEN = tuple(
    compiled(pattern)
    for pattern in (
        rf"{START}from (?:the )?(?P<of>{MARK}) (?:on|onwards?){END}",
        rf"(?:[从自]|自从)?(?P<of>{MARK})(?P<end>{_CHINESE_END})",
        rf"(?P<end>直到|截至|截止到?)(?P<of>{MARK})",
        rf"{START}(?P<end>{_ENGLISH_END}) (?:the )?(?P<of>{MARK})",
    )
)
_ENDS |= {"直到": "until", "截至": "until", "截止": "until", "截止到": "until"}


def read_ranges(reading: Reading) -> None:
    """Mark what lies between two times that are marked, and what lies some days, weeks, months or years from one."""
    for pattern in _RANGES:
        reading.read(pattern, partial(_range, reading))
    for pattern in _AWAY:
        reading.read(pattern, partial(_away, reading))


def read_open_ends(reading: Reading, now: int) -> None:
    """Mark what lies before or after a time that is marked: from the epoch, and up to the day of now (Unix ms, UTC).

    Of a time of any year it is the latest that lies so; since March is since the latest March that has begun.
    """
    try:
        end = days(day_of(now))[1]
    except OUTSIDE:
        return

    def opened(match: re.Match[str]) -> Time:
        return TimeFrom(reading.at(match["of"]), partial(_OPENED[_kind(match)], end))

    for pattern in _OPEN:
        reading.read(pattern, opened)


def leave_open_ends(reading: Reading) -> None:
    """Forget the times before or after which something was: in a memory "after October" says no time. "Since May" says May."""

    def left(match: re.Match[str]) -> Time | None:
        return TimeFrom(reading.at(match["of"]), _nothing) if _kind(match) in {"before", "after"} else None

    for pattern in _OPEN:
        reading.read(pattern, left)


def _kind(match: re.Match[str]) -> str:
    end = match.groupdict().get("end")
    return _ENDS[" ".join(end.lower().split())] if end else "since"  # "from March on"


def _range(reading: Reading, match: re.Match[str]) -> Time | None:
    groups = match.groupdict()
    first = reading.at(groups["first"]) if "first" in groups else None
    last = reading.at(groups["last"]) if "last" in groups else None
    first, last = first or _like(last, groups.get("day")), last or _like(first, groups.get("day"))
    if not first or not last:
        return None
    found = Range(first, last)
    return None if first.years and last.years and not found.windows(()) else found


def _like(time: Time | None, figure: str | None) -> Time | None:
    """The day of the same month, or the month of the same year: the other end of "3 to 9 June" and of 5到7月."""
    if not isinstance(time, NamedDate) or not time.month or not figure:
        return None
    if time.day:
        return NamedDate(time.year, time.month, number(figure)) if number(figure) <= 31 else None
    return NamedDate(time.year, number(figure), None) if number(figure) < time.month else None


def _away(reading: Reading, match: re.Match[str]) -> Time:
    words = {name: " ".join(word.lower().split()) for name, word in match.groupdict().items() if word}
    time = reading.at(words.pop("of"))

    def turned(windows: list[Window]) -> list[Window]:
        found = []
        for window in windows:
            try:
                found.append(rules.away(words, window))
            except OUTSIDE:
                continue
        return found

    return TimeFrom(time, turned, time.years)


def _since(end: int, windows: list[Window]) -> list[Window]:
    return [(max(begun), end)] if (begun := [start for start, _ in windows if start < end]) else []


def _after(end: int, windows: list[Window]) -> list[Window]:
    return [(max(over), end)] if (over := [last for _, last in windows if last < end]) else []


def _before(end: int, windows: list[Window]) -> list[Window]:
    return _up_to([start for start, _ in windows], end)


def _until(end: int, windows: list[Window]) -> list[Window]:
    return _up_to([last for _, last in windows], end)


def _up_to(moments: list[int], end: int) -> list[Window]:
    moment = max((moment for moment in moments if moment <= end), default=min(moments, default=0))
    return [(0, moment)] if moment > 0 else []


def _nothing(windows: list[Window]) -> list[Window]:
    return []


_OPENED: dict[str, Callable[[int, list[Window]], list[Window]]] = {
    "since": _since,
    "after": _after,
    "before": _before,
    "until": _until,
}
