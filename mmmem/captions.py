"""A question as the caption of a picture: whether it asks for one, whether it may be one, and what it says of it.

"Can you find the photo of the red cup?" asks for a picture, and "the red cup" is its caption. "a red cup on a table" asks nothing:
it may describe a picture. "Who took the photo of the cup?" asks about one, and most likely words answer. "Where did I leave the cup?"
does nothing of it.
"""

from __future__ import annotations

import re

_PICTURE = r"(?:pictures?|photos?|photographs?|images?|pics?|snapshots?|screen[ -]?shots?|selfies?)"
_NAMED = re.compile(rf"(?<![\w-]){_PICTURE}(?![\w-])|图片|圖片|照片|相片|图像|圖像|截图|截圖|写真|画像", re.IGNORECASE)
# How one asks for a picture, before what it shows: "do you still have", "show me", "which".
_FRAME = re.compile(
    r"^\W*(?:(?:please|and|so|hey|hi|ok|okay)\b\W*)*"
    r"(?:(?:can|could|would|will) you\s+(?:please\s+)?|(?:do|did) (?:you|we|i)\s+(?:still\s+)?|i(?:'m| am) looking for\s+"
    r"|i (?:want|need)\s+(?:to see\s+)?|(?:is|are) there\s+|where(?:'s| is| are| was)\s+|which(?: one)?\s+(?:is\s+)?|what(?:'s| is| was)\s+)?"
    r"(?:(?:find|show|get|give|bring|send|have|remember|see|recall|look for|search for)\s+)?(?:me\s+|us\s+)?(?:again\s+)?",
    re.IGNORECASE,
)
_LINK = re.compile(
    rf"(?:\b(?:the|a|an|that|this|my|our|any|some|one)\s+)?(?<![\w-]){_PICTURE}(?![\w-])"
    r"(?:\s+(?:of|with|that|which|where|from|in|shows?|showing|about|is|are|looks?|like)\b)*",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^\W*(?:what|when|where|who|whom|whose|which|why|how|did|does|do|is|are|was|were|has|have|had|can|could|will|would|should"
    r"|tell|show|find|list|give|remind)\b|[?？؟]|谁|誰|什么|什麼|哪|几|幾|多少|怎么|怎麼|为什么|為什麼|何|吗|嗎|か[。\s]*$",
    re.IGNORECASE,
)
# Who, when and why, and what somebody did, is not in a picture, and where it was taken hardly ever; what is there, of what colour and
# how many, is. Looked for once the frame is gone: "did Ann say about the photo".
_ABOUT = re.compile(
    r"^\W*(?:who|whom|whose|when|why)\b|\bdid\b|谁|誰|为什么|為什麼|什么时候|什麼時候|何时|何時|いつ|なぜ",
    re.IGNORECASE,
)
_MADE = re.compile(r"^\W*(?:where|is|are|was|were)\b.*\b(?:taken|made|shot|painted|drawn)\W*$", re.IGNORECASE)
_SHOWN = re.compile(
    rf"(?<![\w-]){_PICTURE}\s+(?:of|with|showing|that shows?|which shows?)\s+(?!(?:on|in|at|by|to|that|which|when)\b)",
    re.IGNORECASE,
)
MOST_WORDS = 30  # of a caption


def asks_for_picture(question: str) -> bool:
    """Whether a question names a picture as what it looks for."""
    return bool(_NAMED.search(question)) and not asks_about_picture(question)


def asks_about_picture(question: str) -> bool:
    """Whether a question names a picture and asks what none shows, who took it, or what was said of it: words answer, most likely."""
    asked = _ABOUT.search(_FRAME.sub("", question, count=1)) or _MADE.search(question)
    return bool(_NAMED.search(question) and asked)


def may_describe(question: str) -> bool:
    """Whether a question asks nothing and is short enough to describe a picture, or words that were said: there is no telling."""
    return not _ASKING.search(question) and 0 < len(question.split()) <= MOST_WORDS


def caption(question: str) -> str:
    """What the picture that a question asks for, or about, shows, in its words; all of them where it asks for none."""
    if asks_about_picture(question):
        shown = _SHOWN.search(question)
        return question[shown.end() :].strip(" ?？.!,，。") if shown else question
    if not asks_for_picture(question):
        return question
    left = _LINK.sub(" ", _FRAME.sub("", question, count=1))
    return " ".join(left.split()).strip(" ?？.!,，。") or question
