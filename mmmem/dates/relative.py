"""Times that a text tells from its own present: "yesterday", "last May", "two weeks ago", "上周三", "最近三天", "先週"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from functools import partial

from mmmem.dates import rules
from mmmem.dates.absolute import DAY, MONTH, YEAR
from mmmem.dates.parts import FEAST, NO_FEAST
from mmmem.dates.periods import OUTSIDE, Window, day_of
from mmmem.dates.reading import Reading
from mmmem.dates.times import ToldTime
from mmmem.dates.words import (
    AFTER_DAY,
    CHINESE_COUNT,
    CHINESE_DAYS,
    CHINESE_NUMBER,
    CHINESE_YEARS,
    END,
    ENGLISH_COUNT,
    ENGLISH_DAYS,
    ENGLISH_NUMBER,
    ENGLISH_WHICH,
    MONTH_NAMES,
    ORDINARY,
    START,
    WEEKDAY_NAMES,
    WHICH,
    any_of,
    compiled,
    number,
)

Rule = Callable[[rules.Words, date], Window | None]
Row = tuple[Iterable[str], str, Rule]  # cues of which one must be there, pattern, rule

_WHICH = rf"{START}(?P<which>{any_of(ENGLISH_WHICH)})"
_COUNT = rf"(?<!\d[.,]){START}(?P<count>{ENGLISH_COUNT})"
_NUMBER = rf"(?<!\d[.,]){START}(?P<count>{ENGLISH_NUMBER})"
_UNIT = r"(?P<unit>day|week|fortnight|month|year)s?"
_NOT_OF = rf"{END}(?! (?:of|rolls?){END})"  # "the last week of May", "the last spring roll"
_ENGLISH: tuple[Row, ...] = (
    (
        ("yesterday", "today", "tonight", "tomorrow", "night", "morning", "afternoon", "evening"),
        rf"{START}(?P<day>{any_of(ENGLISH_DAYS)}){END}",
        rules.day,
    ),
    (("ago",), rf"{_COUNT} {_UNIT} ago{END}", rules.ago),
    (("last", "past"), rf"{START}(?:the|these|over|in) (?:last|past) {_COUNT} {_UNIT}{_NOT_OF}", rules.rolling),
    (
        ("last", "past"),
        rf"{START}(?:in|over|during|within|for) the (?:last|past) (?P<unit>week|month|year){_NOT_OF}",
        rules.rolling,
    ),
    (
        ("weekend",),
        rf"{START}(?:over|at|on|during) the weekend{END}(?! (?:of|before|after){END})",
        rules.weekend,
    ),
    (("week", "weekend"), rf"{_WHICH} (?P<part>week(?:end)?){_NOT_OF}", rules.week),
    (("month",), rf"{_WHICH} month{_NOT_OF}", rules.month),
    (
        ("spring", "summer", "autumn", "fall", "winter"),
        rf"{_WHICH} (?P<season>spring|summer|autumn|fall|winter){_NOT_OF}",
        rules.season,
    ),
    (("ago",), rf"{_NUMBER} (?P<weekday>{any_of(WEEKDAY_NAMES)})s? ago{END}", rules.weekdays_ago),
    (WEEKDAY_NAMES, rf"(?:{_WHICH}|{START}on) (?P<weekday>{any_of(WEEKDAY_NAMES)}){_NOT_OF}", rules.weekday),
    (
        MONTH_NAMES,
        rf"(?!this (?-i:{any_of(ORDINARY)}){END}){_WHICH} {MONTH}(?: {DAY}{END})?(?!,? {YEAR}{END})",
        rules.named_month,
    ),
    (("christmas", "year", "halloween", "valentine"), rf"{_WHICH} {FEAST}{NO_FEAST}", rules.feast),
    (("th", "st", "nd", "rd"), rf"{START}on the (?P<day>\d{{1,2}})(?:st|nd|rd|th){AFTER_DAY}", rules.day_of_month),
)
# What stands before or after these makes other words of them: 目前天气, 马上周末, 上周围, 上周一直, 每周三, 一周三次.
_CHINESE_UNIT = r"个?(?P<unit>天|周|星期|礼拜|(?<=个)月|年)"
_CHINESE_WEEK = r"个?(?:周|星期|礼拜)"
_CHINESE_WEEKDAY = r"(?:[二三四五六](?![次个天遍])|一(?![次个天遍直起共定样下些家边点])|日(?!本)|天(?!气))"
_CHINESE_WHICH = r"(?<![马早晚以天楼日根])(?P<which>上{1,2}|这|本|下{1,2})"
_JAPANESE_WHICH = r"(?<![首原事优祖从后本带])(?P<which>先|今|来)"
_AFTER_CHINESE_DAY = r"\s*(?:$|[,.，。！？?!、]|[我你他她它咱早晚]|上午|下午|中午|那天)"
_NEW_NUMBER = r"(?<![\d第零百千万.一二两三四五六七八九十])"
_WEEK, _SEASON = ("周", "期", "拜"), ("春", "夏", "秋", "冬")
_CHINESE: tuple[Row, ...] = (
    (("前",), rf"{_NEW_NUMBER}(?P<count>{CHINESE_COUNT})\s?{_CHINESE_UNIT}[以之]?前(?![后往])", rules.ago),
    (("前",), r"(?<![目以之])前(?P<count>几|些)天", rules.ago),
    (("近", "过"), rf"(?:最近|过去|(?<!附)近)的?\s?(?P<count>{CHINESE_COUNT})\s?{_CHINESE_UNIT}", rules.rolling),
    (("这",), r"这(?P<count>几|些)天", rules.rolling),
    (
        ("天", "日", "晚", "夜", "早"),
        rf"(?<![目以之从今然如文])(?P<day>{any_of(CHINESE_DAYS)})(?!(?<=[前后]天)[气性])",
        rules.day,
    ),
    (_WEEK, rf"{_CHINESE_WHICH}{_CHINESE_WEEK}(?P<part>末|{_CHINESE_WEEKDAY})?(?![围年边刊])", rules.week),
    (("月",), rf"{_CHINESE_WHICH}个?月(?:的?\s?(?P<day>{CHINESE_NUMBER})[号日])?(?![球亮台光色])", rules.month),
    (_SEASON, rf"(?P<of_year>{any_of(CHINESE_YEARS)})的?(?P<season>[春夏秋冬])[天季]", rules.season),
    (_SEASON, rf"(?P<of_year>{any_of(CHINESE_YEARS)})の(?P<season>[春夏秋冬])", rules.season),
    (_SEASON, r"(?P<which>上|这|下)个(?P<season>[春夏秋冬])[天季]", rules.season),
    (
        _WEEK,
        rf"(?<![每半几\d一二两三四五六七八九十])(?:周|星期|礼拜)(?P<weekday>{_CHINESE_WEEKDAY})",
        rules.weekday,
    ),
    (("周",), r"(?<![上下每这本个半天马到快有度])周末(?![了愉快都通一常经版])", rules.weekend),
    (("号",), rf"(?<![月\d.:第]){_NEW_NUMBER}(?P<day>{CHINESE_NUMBER})号(?={_AFTER_CHINESE_DAY})", rules.day_of_month),
)
_JAPANESE: tuple[Row, ...] = (
    (
        ("前",),
        rf"(?<!月)(?<!月\s){_NEW_NUMBER}(?P<count>{CHINESE_COUNT})(?P<unit>日|週間|[かヶカケ]月)前(?![后後])",
        rules.ago,
    ),
    (("週",), rf"{_JAPANESE_WHICH}週(?:の?(?P<part>末|(?<=の)[月火水木金土日](?=曜)))?(?:曜日?)?(?!刊)", rules.week),
    (("月",), rf"{_JAPANESE_WHICH}月(?:の?(?P<day>{CHINESE_NUMBER})日)?(?![曜光])", rules.month),
    (("曜",), r"(?<![毎の])(?P<weekday>[月火水木金土日])曜", rules.weekday),
)
_RULES = [(signs, compiled(pattern), rule) for signs, pattern, rule in (*_CHINESE, *_JAPANESE, *_ENGLISH)]
_ANY_SIGN = frozenset(sign for signs, _, _ in _RULES for sign in signs)
_YEARS = compiled(
    rf"{START}(?P<which>last|this|next) year{_NOT_OF}"
    rf"|(?<!\d[.,]){START}(?P<ago>{ENGLISH_NUMBER}) years? ago{END}"
    rf"|(?<![过出以之目从如])(?P<of_year>{any_of(CHINESE_YEARS)})(?![代轻龄纪])"
    rf"|{_NEW_NUMBER}(?P<chinese_ago>{CHINESE_NUMBER})\s?年[以之]?前(?![后往])"
)


def read_relative(reading: Reading, now: int) -> None:
    """Mark such times in a text; years told so become numbers in it. now: Unix ms, UTC."""
    try:
        today = day_of(now)
    except OUTSIDE:
        return
    for signs, pattern, rule in _RULES if reading.says(_ANY_SIGN) else ():
        if reading.says(signs):
            reading.read(pattern, partial(_told, rule, today))
    if reading.says(("year", "years", "年")):
        reading.text = _years_named(reading.text, today)
        reading.cues.update("12年")


def _told(rule: Rule, today: date, match: re.Match[str]) -> ToldTime | None:
    try:
        window = rule(_words(match), today)
    except OUTSIDE:
        return None
    return ToldTime(window) if window else None


def _years_named(text: str, today: date) -> str:
    """Years by their number, "last year" and "two years ago" alike: "in May last year", 去年五月 are dates like any other."""

    def name(match: re.Match[str]) -> str:
        words = _words(match)
        if "which" in words:
            offset = WHICH[words["which"]]
        elif "of_year" in words:
            offset = CHINESE_YEARS[words["of_year"]]
        else:
            offset = -number(words.get("ago") or words["chinese_ago"])
        return f" {today.year + offset}年 "

    return _YEARS.sub(name, text)


def _words(match: re.Match[str]) -> rules.Words:
    return {name: " ".join(word.lower().split()) for name, word in match.groupdict().items() if word}
