"""Text cut into the terms of the lexical channel.

Words are case-folded and stemmed (Snowball English). Identifiers, paths and versions are findable whole and by part. Scripts
that are written without spaces become single characters and overlapping pairs. No stop words are removed: IDF
makes them light, and "to be or not to be" stays a query.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import snowballstemmer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mmmem.types import Int64

LONGEST_WORD = 256  # characters; stemming is quadratic too
_SLICE = 1_024

# Kana, Han, Hangul, Thai, Lao, Myanmar, Khmer: few or no spaces between words
_UNSPACED = (
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
_LETTERS = rf"(?:(?![{_UNSPACED}])\w)+"
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|{_LETTERS}(?:[.\-/:\\'’]{_LETTERS})*")
_SEGMENT = re.compile(r"[^/\\:]+")
_PART = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# A letter beside a digit in any order, or letters or digits on both sides of a mark that joins names
_IDENTIFIER = re.compile(r"\d[_\W]*[^\W\d_]|[^\W\d_][_\W]*\d|\w[_./:\\]\w|[a-z][A-Z]")


class _Stemmers(threading.local):
    """A stemmer for each thread: it keeps the word it is at work on in itself."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_STEMMERS = _Stemmers()


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeats kept: ``readFile.py`` gives readfile.py, readfile, read, file, py."""
    found: list[str] = []
    for match in _RUN.finditer(_compatible(text)):
        run = match.group()
        if match["unspaced"]:
            found.extend(_pairs(run))
        elif len(run) <= LONGEST_WORD:
            found.extend(_word(run))
        else:  # no word, but there may be some in it
            found.extend(term for part in _PART.findall(run) for term in _word(part[:LONGEST_WORD]))
    return found


def identifiers(text: str) -> list[str]:
    """The whole terms of a text that are names rather than words: ``ERR_42``, ``v1.2.3``, ``src/app.py``, ``XK-7``.

    A sub-word vocabulary breaks them into pieces that many of them share, so only their letters tell them apart.
    """
    runs = (match.group() for match in _RUN.finditer(_compatible(text)) if not match["unspaced"])
    return [_stem(run.casefold()) for run in runs if len(run) <= LONGEST_WORD and _IDENTIFIER.search(run)]


def hashed(words: Sequence[str]) -> Int64:
    """Terms as int64 [l]: eight bytes of each one's BLAKE2b, so the store and the index hold numbers, not words."""
    return np.fromiter((_hash(word) for word in words), dtype=np.int64, count=len(words))


def _compatible(text: str) -> str:
    """NFKC, a slice at a time: Python sorts a run of combining marks in quadratic time, and holds up all threads."""
    slices = (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
    return "".join(unicodedata.normalize("NFKC", part) for part in slices)


def _pairs(run: str) -> Iterator[str]:
    yield from run
    yield from (run[i : i + 2] for i in range(len(run) - 1))


@lru_cache(maxsize=65_536)
def _word(run: str) -> tuple[str, ...]:
    """The whole word first, then a path's names, then the parts of those, each once."""
    names = _SEGMENT.findall(run)
    parts = _PART.findall(run)
    camel = [piece for part in parts if part.isascii() and part.isalnum() for piece in _CAMEL.findall(part)]
    return tuple(dict.fromkeys(_stem(piece.casefold()) for piece in (run, *names, *parts, *camel)))


def _stem(word: str) -> str:
    """A word's stem without accents, ``Cafés`` and ``cafe`` meet; a name that is more than letters stays as it is."""
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c)).replace("’", "'")
    return str(_STEMMERS.english.stemWord(plain)) if plain.isascii() and plain.replace("'", "").isalpha() else plain


@lru_cache(maxsize=65_536)
def _hash(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)
