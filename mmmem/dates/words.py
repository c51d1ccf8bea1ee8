"""The words of time, in English and Chinese, and the numbers they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Between Latin letters, accents too, there is no word boundary; between Chinese and English there is: "我在May去的", but not "María".
START, END = r"(?<![0-9A-Za-z_À-ɏ])", r"(?![0-9A-Za-z_À-ɏ])"

_ENGLISH_MONTHS = (
    "january|jan", "february|feb", "march|mar", "april|apr", "may", "june|jun", "july|jul", "august|aug",
    "september|sept|sep", "october|oct", "november|nov", "december|dec",
)  # fmt: skip
_CHINESE_MONTHS = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
MONTH_NAMES = {name: number for number, names in enumerate(_ENGLISH_MONTHS, 1) for name in names.split("|")}
MONTHS = MONTH_NAMES | {name: number for number, name in enumerate(_CHINESE_MONTHS, 1)}
# Words as well as months: read as months with a capital, beside a number, or after a word that goes before times.
ORDINARY = {"may", "march", "mar", "dec", "sep", "jan", "jun"}

WEEKDAY_NAMES = {
    name: number
    for number, name in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
}
WEEKDAYS = WEEKDAY_NAMES | {name: number for number, name in enumerate("一二三四五六日")} | {"天": 6}
WEEKDAYS |= {name: number for number, name in enumerate("月火水木金土")}  # Japanese; its Sunday is 日 too
WEEKEND = {"weekend", "末"}
SEASONS = {
    "spring": 3,
    "summer": 6,
    "autumn": 9,
    "fall": 9,
    "winter": 12,
    "春": 3,
    "夏": 6,
    "秋": 9,
    "冬": 12,
}  # first month

# Days from today.
ENGLISH_DAYS = {
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0,
    "this afternoon": 0, "this evening": 0, "tomorrow": 1, "day after tomorrow": 2,
}  # fmt: skip
CHINESE_DAYS = {
    "大前天": -3, "前天": -2, "一昨日": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "今天": 0, "今日": 0, "今晚": 0, "今早": 0,
    "明天": 1, "明日": 1, "明晚": 1, "明早": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
DAYS = ENGLISH_DAYS | CHINESE_DAYS
CHINESE_YEARS = {  # from this year
    "大前年": -3, "前年": -2, "一昨年": -2, "去年": -1, "昨年": -1, "今年": 0, "明年": 1, "来年": 1, "后年": 2,
}  # fmt: skip
# Which one of its kind, from the present one.
ENGLISH_WHICH = {"last": -1, "past": -1, "this past": -1, "this": 0, "next": 1, "coming": 1, "this coming": 1}
CHINESE_WHICH = {"上": -1, "上上": -2, "这": 0, "本": 0, "下": 1, "下下": 2}
JAPANESE_WHICH = {"先": -1, "今": 0, "来": 1}
WHICH = ENGLISH_WHICH | CHINESE_WHICH | JAPANESE_WHICH

UNITS = {"天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
UNITS |= {"日": "day", "週間": "week", "か月": "month", "ヶ月": "month", "カ月": "month", "ケ月": "month"}
HALVES = {"half a", "半", "半个"}
HALF_OF = {"year": (6, "month"), "month": (2, "week"), "week": (3, "day"), "day": (0, "day")}
_FEW, _COUPLE = (2, 6), (2, 3)
_VAGUE = {
    "a couple of": _COUPLE, "a couple": _COUPLE, "couple of": _COUPLE, "couple": _COUPLE,
    "a few": _FEW, "few": _FEW, "several": _FEW, "几": _FEW, "好几": _FEW, "些": _FEW,
}  # fmt: skip
_ENGLISH_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_CHINESE_DIGITS = ("", *"一二三四五六七八九")
NUMBERS = (
    {name: number for number, name in enumerate(_ENGLISH_NUMBERS, 1)}
    | {"a": 1, "an": 1, "两": 2}
    | {ten + "十" + one: 10 * tens + ones  # 十, 十一, 二十, 九十九
       for tens, ten in enumerate(("", *_CHINESE_DIGITS[2:]), 1) for ones, one in enumerate(_CHINESE_DIGITS)}
    | {one: ones for ones, one in enumerate(_CHINESE_DIGITS) if one}
)  # fmt: skip
CHINESE_NUMBER = r"\d{1,3}|[二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九]"


# What may follow a bare day of the month: "on the 7th we met", but not "on the 7th floor".
AFTER_DAY = (
    r"(?=\s*(?:$|[^\w\s/:%$&*'’-]"
    r"|(?:i|we|you|he|she|it|they|my|our|the|and|or|at|but|because|when|for|with|to|was|is|did)\b))"
)

# Marks of what has been read (`reading.Reading`): characters of private use, which mean nothing in a text.
FIRST_MARK, FIRST_YEAR, LAST_MARK = "\ue000", "\uec00", "\uf7ff"

_ENGLISH_WORD = re.compile(r"[a-z]+")
_NOT_PLAIN = re.compile(f"[０-９\u3000\u00a0{FIRST_MARK}-{LAST_MARK}]")
_PLAIN = str.maketrans("０１２３４５６７８９\u3000\u00a0", "0123456789  ")
_PLAIN |= dict.fromkeys(range(ord(FIRST_MARK), ord(LAST_MARK) + 1), ord("?"))


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, the longest that fits."""
    return "|".join(sorted(words, key=len, reverse=True))


ENGLISH_NUMBER = rf"\d{{1,3}}|{any_of([*_ENGLISH_NUMBERS, 'an?'])}"
ENGLISH_COUNT = rf"half a|{any_of(word for word in _VAGUE if word.isascii())}|{ENGLISH_NUMBER}"
CHINESE_COUNT = rf"半个?|好?几|些|{CHINESE_NUMBER}"


def compiled(pattern: str) -> re.Pattern[str]:
    """A blank in the pattern is white space in the text; letters match in either case, those of English alone ("ſ" is no "s")."""
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE | re.ASCII)


def cues(text: str) -> set[str]:
    """Its English words, in lower case, and its characters.

    A pattern is looked for where one of its cues is among them: most texts name no time, and are done with that.
    """
    return {*text, *_ENGLISH_WORD.findall(text.lower())}


def plain(text: str) -> str:
    """With the digits and blanks of ASCII for full-width ones, and without marks."""
    return text.translate(_PLAIN) if _NOT_PLAIN.search(text) else text


def number(word: str) -> int:
    return int(word) if word.isdecimal() else NUMBERS[word]


def count(word: str) -> tuple[int, int]:
    """The least and the most that are meant: "three" is 3 to 3, "a few" 2 to 6."""
    return _VAGUE.get(word) or (number(word), number(word))
