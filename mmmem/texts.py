"""Text as it comes: made well-formed for the encoders, and cut into memories with nothing lost between them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mmmem.types import TextPart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mmmem.types import Part

# Where a text may be cut, best first: after an empty line, a line, a sentence, a word. Code and logs end at lines.
_BOUNDARIES = tuple(re.compile(p) for p in (r"\n\s*\n", r"\n", r"[.!?…]['\")\]]*\s+|[。！？；]['”』」）]*", r"\s+"))

_ENDS_ASKING = re.compile(r"[?？؟][^\w.…]*\Z")
_AFTER_ASKING = 32  # characters of brackets, quotes and emoji at most

# Han, kana, Hangul: a name is a few characters, and what is not one has no small letter to tell
_EAST = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_SPEAKER = re.compile(
    rf"(?P<name>[{_EAST}]{{1,6}}(?:[ ·・][{_EAST}]{{1,6}}){{0,2}}"
    rf"|(?![{_EAST}])[^\W\d_a-z][\w.'’-]{{1,30}}(?: [^\W\d_a-z][\w.'’-]{{0,30}}){{0,2}})"
    r"(?:：|:(?=\s|[^\x00-\x7f]|\Z))"
)
_PHRASE = re.compile(rf"(?=[{_EAST}])(?:[我你您他她它这那這此]|.*[的是了说說]|.*(?:清单|清單|列表)$)")
# What stands before a colon and speaks for nobody. May, April, June, Jan and Sun are people too, and so not in it.
_ENGLISH_LABELS = """
action actions address agenda answer attention background bug caution cause caveat changelog code comment comments
conclusion contact context date deadline debug definition description details disclaimer draft due edit email error
errors example examples explanation fact facts fatal file filename fix fixed fixme format from fw fwd goal goals
heads-up hint http https idea ideas important info ingredients input instruction instructions issue issues item items
language link links list location log message name n.b nb news note notes notice objective option options output
overview p.s phone plan plot points prerequisites problem prompt pros cons ps question questions re reason recap
recipe reference references reminder reply response result results sent sincerely solution source sources spoiler
status step steps subject subtitle suggestion summary tags task tasks tip tips title tldr to todo topic topics total
traceback translation type update updates url usage user version via warn warning website
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat january february
march july august september october november december feb mar apr jun jul aug sep sept oct nov dec today tomorrow
yesterday tonight morning afternoon evening weekend
a also and at because btw but by finally first firstly for fyi hello hey hi how i'd i'll i'm i've if in it it's
last lastly lol my next no now of oh ok okay on one or our please second secondly so sorry thank thanks that the then
there these third this those two we well what when where which who why with yeah yep yes you your
agent ai assistant bot chatbot developer function human model system tool
"""
_EASTERN_LABELS = """
注 注意 备注 備註 标题 標題 问 问题 問題 答 答案 回答 总结 總結 摘要 时间 時間 地点 地點 日期 今天 明天
昨天 后天 提醒 警告 错误 錯誤 待办 待辦 更新 链接 網址 网址 来源 來源 结论 結論 原因 价格 價格 地址 电话
電話 姓名 名字 主题 主題 回复 回覆 附 例 例如 比如 另外 所以 但是 首先 其次 最后 最後 第一 第二 第三
步骤 步驟 计划 計劃 清单 清單 内容 內容 说明 說明 建议 建議 用户 用戶 助手 系统 系統 星期一 星期二 星期三
星期四 星期五 星期六 星期日 星期天 周一 周二 周三 周四 周五 周六 周日 一月 二月 三月 四月 五月 六月 七月
八月 九月 十月 十一月 十二月 注記 件名 質問 メモ エラー 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日
"""
_LABELS = frozenset(f"{_ENGLISH_LABELS} {_EASTERN_LABELS}".split())


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD: what an encoder reads. What is stored and returned keeps them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def beginning_and_end(text: str, limit: int) -> str:
    """The text, or of one longer than `limit` characters its first and last halves of that: where a question says what it wants."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}\n{text[-half:]}"


def says(text: str) -> bool:
    """Whether there are words in it."""
    return bool(text.strip())


def asks(text: str) -> bool:
    """Whether a turn ends with a question: in a conversation, the next one is likely to answer it."""
    return bool(_ENDS_ASKING.search(text, max(0, len(text) - _AFTER_ASKING)))


def named_speaker(text: str) -> str:
    """Who says it, where a turn says so itself, as transcripts do: ``Ann Lee: I am late`` gives Ann Lee; else "".

    Labels such as ``Note:``, days, and parts in a chat such as ``User:`` are nobody. Nor is what begins in lower case:
    ``summary:``, ``nginx:`` and any key of a file look like ``john:``, and of those there are more than a list can hold.
    """
    found = _SPEAKER.match(text)
    return found["name"] if found and not _is_label(found["name"]) else ""


def split_text(text: str, limit: int) -> list[str]:
    """Pieces of at most `limit` characters that put together are the text again.

    Each cut takes the best kind of boundary in the second half of the window, the last one there; where a window has no
    boundary at all it is cut at the limit.
    """
    pieces = []
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, start + limit)
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces


def split_parts(parts: tuple[Part, ...], limit: int) -> list[tuple[Part, ...]]:
    """A message's parts as the parts of its memories, in order; an image stays with the text before it."""
    memories: list[list[Part]] = [[]]
    room = limit
    for part in _short_parts(parts, limit):
        length = len(part.text) if isinstance(part, TextPart) else 0
        if length > room and memories[-1]:
            memories.append([])
            room = limit
        memories[-1].append(part)
        room -= length
    return [tuple(memory) for memory in memories]


def _short_parts(parts: tuple[Part, ...], limit: int) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, TextPart):
            yield from (TextPart(piece) for piece in split_text(part.text, limit))
        else:
            yield part


@lru_cache(maxsize=4_096)
def _is_label(name: str) -> bool:
    if name[0].islower() or name.endswith(("Error", "Exception", "Warning")) or _PHRASE.match(name):
        return True
    words = name.casefold().replace("’", "'").split()
    return any(word.rstrip(".") in _LABELS for word in words)


def _cut(text: str, start: int, end: int) -> int:
    for boundary in _BOUNDARIES:
        ends = [match.end() for match in boundary.finditer(text, start + (end - start) // 2, end)]
        if ends:
            return ends[-1]
    return end
