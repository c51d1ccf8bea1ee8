"""Parts of a year and its feasts: "summer of 2023", "early 2023", "Q2 2023", "Christmas", 2023年底, 国庆节."""

from __future__ import annotations

import re

from mmmem.dates.reading import YEAR_MARK, Reading
from mmmem.dates.times import NamedDate, Range, Time
from mmmem.dates.words import END, START, any_of, compiled

# First and last month. Early, middle and late are thirds of a year, here and in Chinese; winter begins in December.
_THIRDS, _QUARTERS = ((1, 4), (5, 8), (9, 12)), ((1, 3), (4, 6), (7, 9), (10, 12))
_HALVES, _SEASONS = ((1, 6), (7, 12)), ((3, 5), (6, 8), (9, 11), (12, 2))
_ENGLISH_PARTS = {
    **dict(zip(("early", "mid", "late"), _THIRDS, strict=True)),
    **dict(zip(("beginning", "middle", "end"), _THIRDS, strict=True)),
    "start": _THIRDS[0],
    **dict(zip(("first half", "second half"), _HALVES, strict=True)),
    **dict(zip(("first quarter", "second quarter", "third quarter", "fourth quarter"), _QUARTERS, strict=True)),
    **dict(zip(("q1", "q2", "q3", "q4"), _QUARTERS, strict=True)),
    **dict(zip(("spring", "summer", "autumn", "winter"), _SEASONS, strict=True)),
    "fall": _SEASONS[2],
}
_CHINESE_PARTS = {
    **dict(zip(("初", "年中", "底"), _THIRDS, strict=True)),
    **dict(zip(("春", "夏", "秋", "冬"), _SEASONS, strict=True)),
}
_CHINESE_ALONE = {  # these stand without a year too
    **dict(zip(("年初", "年底", "年末"), (*_THIRDS[::2], _THIRDS[2]), strict=True)),
    **dict(zip(("上半年", "下半年"), _HALVES, strict=True)),
    **dict(zip(("第一季度", "第二季度", "第三季度", "第四季度"), _QUARTERS, strict=True)),
}
_MONTHS = _ENGLISH_PARTS | _CHINESE_PARTS | _CHINESE_ALONE

# First and last day, as month and day.
_ENGLISH_FEASTS = {
    "christmas eve": ((12, 24), (12, 24)),
    "christmas day": ((12, 25), (12, 25)),
    "christmas": ((12, 25), (12, 25)),
    "new year's eve": ((12, 31), (12, 31)),
    "new year's day": ((1, 1), (1, 1)),
    "new year's": ((1, 1), (1, 1)),
    "halloween": ((10, 31), (10, 31)),
    "valentine's day": ((2, 14), (2, 14)),
}
_CHINESE_FEASTS = {
    "平安夜": ((12, 24), (12, 24)),
    "圣诞节": ((12, 25), (12, 25)),
    "圣诞": ((12, 25), (12, 25)),
    "元旦": ((1, 1), (1, 1)),
    "情人节": ((2, 14), (2, 14)),
    "万圣节": ((10, 31), (10, 31)),
    "国庆节": ((10, 1), (10, 7)),
    "国庆": ((10, 1), (10, 7)),
}
_DAYS = _ENGLISH_FEASTS | _CHINESE_FEASTS

FEAST = rf"(?P<feast>{any_of(_ENGLISH_FEASTS)})".replace("'", "['’]")
# A Christmas tree may stand in any month.
NO_FEAST = (
    rf"{END}(?! (?:tree|present|gift|card|carol|song|movie|film|light|decoration|ornament|sweater|jumper|cookie|list"
    r"|costume|candy|chocolate|pudding|resolution)s?\b)"
)
_CHINESE_THING = "(?![树卡帽老歌袜])"
_OF_YEAR = rf"(?: of| in|,| \(|)[\s-]?(?P<after>{YEAR_MARK})"
_FEAST_SIGNS = ("christmas", "year", "halloween", "valentine", "圣", "元", "情", "国", "平")
_PART_SIGNS = frozenset("年季初底春夏秋冬q") | {word for part in _ENGLISH_PARTS for word in part.split()}
_FEASTS = tuple(
    compiled(pattern)
    for pattern in (
        rf"(?:(?P<before>{YEAR_MARK})\s?[的の]?\s?)?(?P<feast>{any_of(_CHINESE_FEASTS)}){_CHINESE_THING}",
        rf"{START}{FEAST}{NO_FEAST}(?:{_OF_YEAR})?",
    )
)
_PARTS = tuple(
    compiled(pattern)
    for pattern in (
        rf"(?P<before>{YEAR_MARK})\s?[的の]?\s?(?P<part>{any_of(_CHINESE_PARTS | _CHINESE_ALONE)})(?![一二三中夏春秋冬级薪节奥])[天季]?",
        rf"(?<![\d成少新童年每全多百千一二三四五六七八九十两几])(?P<part>{any_of(_CHINESE_ALONE)})(?![中级薪])",
        rf"{START}(?P<part>{any_of(_ENGLISH_PARTS)}){_OF_YEAR}",
    )
)


def read_parts(reading: Reading) -> None:
    """Mark the parts of years, and feasts, where the years that go with them are marked."""

    def year_of(match: re.Match[str]) -> int | None:
        groups = match.groupdict()
        mark = groups.get("before") or groups.get("after")
        return reading.at(mark).years[0] if mark else None

    def feast(match: re.Match[str]) -> Time:
        return feast_of(match["feast"], year_of(match))

    def part(match: re.Match[str]) -> Time:
        year = year_of(match)
        first, last = _MONTHS[" ".join(match["part"].lower().split())]
        return Range(NamedDate(year, first, None), NamedDate(year if first < last else None, last, None))

    if reading.says(_FEAST_SIGNS):
        for pattern in _FEASTS:
            reading.read(pattern, feast)
    if reading.says(_PART_SIGNS):
        for pattern in _PARTS:
            reading.read(pattern, part)


def feast_of(name: str, year: int | None) -> Time:
    """A feast of this year, or of any."""
    first, last = _DAYS[" ".join(name.lower().replace("’", "'").split())]
    return NamedDate(year, *first) if first == last else Range(NamedDate(year, *first), NamedDate(year, *last))
