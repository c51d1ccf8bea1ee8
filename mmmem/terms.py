"""Text cut into the terms of the lexical channel.

Words are case-folded and stemmed (Snowball English), and no stop words are removed: IDF makes them light, and "to be or not
to be" stays a query. Identifiers, paths, codes and versions are findable whole, by part, and by a few parts that follow each
other, in any spelling: ``getUserById``, ``get_user_by_id`` and ``get-user-by-id`` are one term. Scripts that are written
without spaces become overlapping pairs of characters, and single ones where a character is a word. Emoji are terms too.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import snowballstemmer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mmmem.types import Int64

LONGEST_WORD = 256  # characters; stemming is quadratic too
_LONGEST_KEPT = 48  # characters of a run whose terms are remembered; those of longer ones take too much room
_MOST_PIECES = 12  # of one word in mixed case; what has more is no name but Base64
_FOLLOWING = 3  # pieces of an identifier that follow each other make a term of their own
_MOST_FOLLOWED = 32  # pieces; what has more is a list
_SLICE = 1_024

# Kana, Han, Hangul, Thai, Lao, Myanmar, Khmer: few or no spaces between words
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\uac00-\ud7af"
_UNSPACED = rf"{_HAN}{_HANGUL}\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_PICTOGRAM = "[\u231a-\u23ff\u2600-\u27bf\u2b1b-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001faff]"
_VARIANT = "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"  # how it is drawn, skin tones, tags of flags
_EMOJI = rf"[\U0001f1e6-\U0001f1ff]{{2}}|{_PICTOGRAM}{_VARIANT}{{0,8}}(?:\u200d{_PICTOGRAM}{_VARIANT}{{0,8}}){{0,8}}"
_LETTERS = rf"[^\W{_UNSPACED}]+"
_RUN = re.compile(
    rf"(?P<number>\d{{1,3}}(?:,\d{{3}})+(?!\d)(?:\.\d+)?)"
    r"|(?:(?<![\w-])--(?=[^\W\d_])|(?<![\w.])\.(?=[^\W\d_])|\#(?=\d))?"  # --no-cache, .NET, #12
    rf"{_LETTERS}(?:(?:::|:\\|[.\-\u2010/:\\'’@&]){_LETTERS})*"
    r"(?:\+\+(?!\+)|[+\#](?![\w+\#]))?"  # C++, C#
    rf"|(?P<unspaced>[{_UNSPACED}]+)|(?P<emoji>{_EMOJI})"
)
_DATE_TIME = re.compile(r"T(?<=\d\dT)(?=\d\d:?\d\d)")
_NAMES = (re.compile(r"[^/\\:@]+"), re.compile(r"[^/\\:@.]+"))  # between the marks of paths, and between dots too
_PART = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]+|(?=\d+[a-fA-F]|[a-fA-F]+\d+[a-fA-F])[0-9a-fA-F]{4,}")
_SHORT_HASHES = (7, 8, 12)  # characters, as git and Docker shorten those of at least twice as many
_PATH_MARK = re.compile(r"[/\\:@]+")
_MOST_ENDS = 8  # of a path
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[-_\u2010]+(?=\d)")
_JOINT = re.compile(r"(?<!\d)[-_\u2010]+|[-_\u2010]+(?!\d)")
_LONG_NUMBER = re.compile(r"\d+(?:-\d+)+")
# A letter beside a digit in any order, letters or digits on both sides of a mark that joins names, five digits, a flag,
# a dotted name, C++, ECONNREFUSED
_IDENTIFIER = re.compile(
    r"\d[_\W]*[^\W\d_]|[^\W\d_][_\W]*\d|\w[_./:\\@]\w|[a-z][A-Z]|(?:\d-?){5}|^(?:--|[.#])|[^\W\d_][+#]+$"
)
_TELEPHONE = re.compile(r"(?<![\w.])\+?\(?[0-9](?:[ ()-]{0,2}[0-9]){6,14}(?![\w.]*\w)")
_LOCAL_DIGITS = 9  # of a telephone number, whether or not a country or a zero stands before them
_CAPITALS = re.compile(r"[A-Z]{6,}")
# Who, what, where, when, how, how many, why, and how a question ends: Chinese in both scripts, Japanese, Korean.
# Their characters are rare in what people tell, so their IDF would decide.
_QUESTION_WORDS = re.compile(
    "为什么|為什麼|什么|什麼|甚麼|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣|哪[里裡裏儿兒个個些]?|[谁誰]|多少|[几幾]|[吗嗎呢]"
    "|どこ|いつ|だれ|なぜ|どうして|どうやって|どんな|なに|何(?=[\u3041-\u3096])|ですか|ますか|ましたか|でしょうか"
    "|어디|누구|언제|무엇|무슨|뭐|왜|어떤|얼마"
)
_WORD_CHARACTER = re.compile(rf"(?![的了是])[{_HAN}{_HANGUL}]")


class _Stemmers(threading.local):
    """A stemmer for each thread: it keeps the word it is at work on in itself."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_STEMMERS = _Stemmers()


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeats kept: ``readFile.py`` gives readfile.py, read, readfil, file, file.py, py."""
    found: list[str] = []
    for match in _runs(text):
        run = match.group()
        kind = match.lastgroup
        if kind is None:
            found.extend(_remembered(run) if len(run) <= _LONGEST_KEPT else _long_word(run))
        elif kind == "number":
            found.extend(_long_word(run.replace(",", "")))
        elif kind == "unspaced":
            found.extend(_pairs(run))
        else:
            found.extend(_emoji(run))
    return [*found, *_telephones(text)]


def identifiers(text: str) -> list[str]:
    """The terms of a text that are names rather than words: ``ERR_42``, ``v1.2.3``, ``src/app.py``, ``XK-7``, and names in them.

    A sub-word vocabulary breaks them into pieces that many of them share, so only their letters tell them apart.
    """
    return list(dict.fromkeys(term for name in named(text) for term in name))


def named(text: str) -> list[tuple[str, ...]]:
    """The same, name by name: the terms of the whole first, then those of the names in it."""
    shouted = text.isupper() and len(text.split()) > 1  # where all is in capitals, they tell nothing
    found: dict[tuple[str, ...], None] = {}
    for match in _runs(text):
        run = match.group()
        if match.lastgroup is None and len(run) <= LONGEST_WORD:
            parts = [part for part in _parts(run) if _IDENTIFIER.search(part)]
            if not parts and not shouted and _CAPITALS.fullmatch(run):
                parts = [run]
            found[tuple(dict.fromkeys(term for part in parts for term in _spellings(part)))] = None
    found |= {(number,): None for number in _telephones(text)}
    return [name for name in found if name]


def hashed(words: Sequence[str]) -> Int64:
    """Terms as int64 [l]: eight bytes of each one's BLAKE2b, so the store and the index hold numbers, not words."""
    return np.fromiter((_hash(word) for word in words), dtype=np.int64, count=len(words))


def _runs(text: str) -> Iterator[re.Match[str]]:
    """Words, identifiers, numbers, runs of unspaced script and emoji; ``2024-01-13T10:12`` is a date and a time."""
    return _RUN.finditer(_DATE_TIME.sub(" ", _compatible(text)))


def _telephones(text: str) -> Iterator[str]:
    """Telephone and other long numbers written in groups, as one, and without what is in front of their last digits."""
    for match in _TELEPHONE.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if any(mark in match.group() for mark in " ()"):
            yield digits
        if len(digits) > _LOCAL_DIGITS:
            yield digits[-_LOCAL_DIGITS:]


def _compatible(text: str) -> str:
    """NFKC, a slice at a time: Python sorts a run of combining marks in quadratic time, and holds up all threads."""
    if text.isascii():
        return text
    slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
    return "".join(unicodedata.normalize("NFKC", part) for part in slices)


def _pairs(run: str) -> list[str]:
    """Of what lies between question words, which an answer has not: the characters that are words, and all pairs."""
    told = _QUESTION_WORDS.split(run)
    found = [term for part in told for term in (*_WORD_CHARACTER.findall(part), *map("".join, pairwise(part)))]
    return found or [*map("".join, pairwise(run))] or [run]


def _emoji(run: str) -> Iterator[str]:
    """An emoji however it is drawn, and the one that it is a variant of: a thumb of any colour is a thumb."""
    plain = run.replace("\ufe0f", "").replace("\ufe0e", "")
    yield plain
    base = plain[:2] if "\U0001f1e6" <= plain[0] <= "\U0001f1ff" else plain[0]
    if base != plain:
        yield base


def _word(run: str) -> tuple[str, ...]:
    """The terms of one word or identifier, each once."""
    return tuple(dict.fromkeys(term for part in _parts(run) for term in _spellings(part)))


_remembered = lru_cache(maxsize=65_536)(_word)


def _long_word(run: str) -> Iterator[str]:
    """Beyond LONGEST_WORD it is no word, but there may be some in it."""
    for part in [run] if len(run) <= LONGEST_WORD else _PART.findall(run):
        yield from _word(part[:LONGEST_WORD])


def _parts(run: str) -> Iterator[str]:
    """The whole; up to three pieces in a row; a path's names, and its ends. As they are spelt, some more than once."""
    yield run
    if run.isalpha() and run[1:].islower():
        return
    spans = [span for part in _PART.finditer(run) for span in _pieces(part)]
    following = _FOLLOWING if len(spans) <= _MOST_FOLLOWED else 1
    for first, (start, _) in enumerate(spans):
        for _, end in spans[first : first + following]:
            yield run[start:end]
    if len(spans) > _FOLLOWING:
        for names in _NAMES:
            yield from names.findall(run)
        yield from (run[mark.end() :] for mark in list(_PATH_MARK.finditer(run))[-_MOST_ENDS:])
    for part in _PART.findall(run):
        if len(part) > 2 * _SHORT_HASHES[-1] and _HEXADECIMAL.fullmatch(part):
            yield from (part[:length] for length in _SHORT_HASHES)


def _pieces(part: re.Match[str]) -> list[tuple[int, int]]:
    """Where the words of ``readFile`` begin and end; anything else is one piece."""
    word = part.group()
    if word.isascii() and word.isalnum() and not _HEXADECIMAL.fullmatch(word):
        pieces = [(part.start() + piece.start(), part.start() + piece.end()) for piece in _CAMEL.finditer(word)]
        if len(pieces) <= _MOST_PIECES:
            return pieces
    return [part.span()]


def _spellings(part: str) -> Iterator[str]:
    """A part as a term, whatever case and joints it is written with; a long number without its joints too."""
    folded = part.casefold().replace("\\", "/")
    term = _JOINT.sub("", _BETWEEN_DIGITS.sub("-", folded))
    if term:
        yield _stem(term)
    if _LONG_NUMBER.fullmatch(term) and len(term) > 6:
        yield term.replace("-", "")


def _stem(word: str) -> str:
    """A word's stem without accents, ``Cafés`` and ``cafe`` meet; a name that is more than letters stays as it is."""
    plain = word
    if not word.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c)).replace("’", "'")
    return str(_STEMMERS.english.stemWord(plain)) if plain.isascii() and plain.replace("'", "").isalpha() else plain


@lru_cache(maxsize=65_536)
def _hash(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)
