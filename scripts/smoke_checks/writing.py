"""Text in every script, and text that is hardly any: it comes back as it was sent."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from smoke_checks.crowd import at_once
from smoke_checks.reading import text_of
from smoke_checks.target import Target, add_body, require

CALLERS = 4
TEXTS = {
    "combining marks": "cafe\u0301 Z\u0351\u036b\u0343\u032a\u0353A\u0338\u0321L\u034f\u0334G\u0317O\u032e end",
    "composed and not": "\u00e9 e\u0301 \u212b \u00c5 A\u030a \ufb01 fi",
    "right to left": "שלום עולם — مرحبا بالعالم — ۱۲۳",
    "bidi controls": "a \u202ereversed\u202c \u2066isolated\u2069 \u200fmark\u200e b",
    "ZWJ emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇧🇪 ❤️‍🔥 1️⃣",
    "astral planes": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠜎𠜱𠝹 🂡 \U000e0041 \U0010fffd",
    "noncharacters": "a \ufffe \uffff \U0001ffff b",
    "a null": "before\0after",
    "control characters": "a \x01\x08\x0b\x0c\x1b[31m\x7f\x85 b",
    "a high surrogate alone": "before \ud83d after",
    "a low surrogate alone": "before \udc00 after",
    "surrogates in the wrong order": "before \udd8a\ud83e after",
    "zero width": "a\u200b\u200c\u200d\u2060\ufeffb\u00adc",
    "white space": "\u3000  a\u00a0\u2003b\t\tc\u2028d\u2029e  ",
    "line ends": "a\nb\r\nc\rd\n\n\ne\n",
    "Chinese": "我的猫叫小白,今年三岁了。「你好」……",
    "Devanagari, Thai, Hangul": "नमस्ते ไม่เป็นไร 안녕 안녕",
    "a very long word": "Donaudampfschiff" * 60,
    "a long word without end": "㊙" * 900,
    "markup": "<script>alert('x')</script> &amp; %00 \\u0041 ${x} {{y}}",
    "JSON": '{"a": [1, "\\"", null]} \\\\ \\/',
    "SQL": "x' OR '1'='1'; DROP TABLE memories; -- %_*",
}
LONG = "".join(f"{number:05d}" for number in range(2_000))


def torture(target: Target) -> str:
    """Byte for byte, sent as escapes and, where that is possible, as UTF-8."""
    user = target.user("unicode")
    ways = {"escaped": True, "as UTF-8": False}
    cases = [(name, how) for name, text in TEXTS.items() for how in ways if how == "escaped" or is_well_formed(text)]

    def tell(case: tuple[str, str]) -> None:
        name, how = case
        body = add_body(target.user(f"unicode {how}"), TEXTS[name], request=name, session=name)
        target.remember(body["user_id"])
        answer = target.call("POST", "/add", json.dumps(body, ensure_ascii=ways[how]).encode())
        require(answer.status == 200, f"{name}, {how}: the Add was answered {answer}")

    at_once([partial(tell, case) for case in cases], CALLERS)
    returned = {
        how: [text_of(item) for item in target.search(target.user(f"unicode {how}"), "before a")] for how in ways
    }
    changed = [f"{name} ({how})" for name, how in cases if not any(TEXTS[name] in text for text in returned[how])]
    require(not changed, f"did not come back as sent: {', '.join(changed)}")
    target.add(user, LONG)
    require_whole(LONG, target.search(user, LONG[:500]))
    return f"{len(cases)} texts, and one word of {len(LONG):,} characters"


def require_whole(word: str, found: list[dict[str, Any]]) -> None:
    """Raises Failed unless the pieces that were found are the whole word."""
    covered = 0
    for start, end in sorted(map(partial(stretch, word), found)):
        require(start <= covered, f"a long word came back without its characters from {covered:,}")
        covered = max(covered, end)
    require(covered == len(word), f"a long word came back without its characters from {covered:,}")


def stretch(word: str, item: dict[str, Any]) -> tuple[int, int]:
    """From where to where in the word a memory's own digits are; (0, 0) where they are not of it."""
    own = text_of(item).partition("user: ")[2].split("\n")[0]
    start = word.find(own)
    return (start, start + len(own)) if own and start >= 0 else (0, 0)


def is_well_formed(text: str) -> bool:
    """Whether it has an encoding in UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
