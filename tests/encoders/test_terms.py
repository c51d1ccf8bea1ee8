"""What the lexical channel makes of text: words in any form, identifiers whole and by part, scripts without spaces."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmmem.encoders import terms as module
from mmmem.encoders.terms import hashed, identifiers, terms


def found(query, text):
    """Whether every term of the query is in the text."""
    return set(terms(query)) <= set(terms(text))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("run", "She was RUNNING late"),
        ("Caroline", "Caroline's birthday"),
        ("cafe", "Das Café"),
        ("don't", "Don’t do that"),
        ("read_file", "def read_file(path):"),
        ("read", "def read_file(path):"),
        ("readFile", "const x = readFile(y)"),
        ("file", "const x = readFile(y)"),
        ("parser", "class HTTPParser2:"),
        ("errors.py", "see mmmem/api/errors.py:42"),
        ("api", "see mmmem/api/errors.py:42"),
        ("ERR_CONN_42", "failed with ERR_CONN_42."),
        ("v1.2.3", "upgrade to v1.2.3 now"),
        ("北京", "我两周前去了北京出差"),
        ("张伟", "张伟 said hello to Anna"),
        ("東京タワー", "昨日東京タワーに行った"),
        ("서울", "나는 서울에 산다"),
        ("to be or not to be", "To be, or not to be"),
        ("ｆｕｌｌ", "full width"),
    ],
)
def test_is_found(query, text):
    assert found(query, text)


@pytest.mark.parametrize(("query", "text"), [("京北", "北京"), ("cat", "concatenate"), ("v1.2.4", "v1.2.3")])
def test_is_not_found(query, text):
    assert not found(query, text)


def test_a_plain_word_is_one_term():
    assert terms("The cat sat") == ["the", "cat", "sat"]


def test_repeats_are_kept():
    assert terms("tea, tea and tea").count("tea") == 3


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What failed with ERR_CONN_42?", ["err_conn_42"]),
        ("in src/app.py since v1.2.3", ["src/app.py", "v1.2.3"]),
        ("does readFile close x2y?", ["readfil", "x2y"]),
        ("When did she go to the well-known Café in 2023, on May 7?", []),
        ("我去了北京 with 12 friends", []),
    ],
)
def test_identifiers_are_told_from_words(text, names):
    assert identifiers(text) == names


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_any_text_has_terms_or_none(text):
    assert len(hashed(terms(text))) == len(terms(text))
    assert set(identifiers(text)) <= set(terms(text))


@pytest.mark.parametrize("text", ["a" + "\u0315\u0327" * 50_000, "ay" * 50_000, "x." * 50_000, "漢" * 50_000])
def test_text_made_to_be_slow_is_bounded(text):
    """Counted in calls, not seconds: no word that reaches the stemmer is long, and no normalisation sees a long run."""
    assert all(len(term) <= module.LONGEST_WORD for term in terms(text))
    assert len(module._compatible(text)) <= 2 * len(text)


def test_many_threads_at_once_get_the_terms_that_one_gets():
    """A stemmer that threads share mixes up their words, rarely and in silence."""
    texts = [f"the {stem}{ending} of nation{ending} {stem}ational{n}" for n in range(60) for stem in ("relat", "condit", "vibrat")
             for ending in ("ing", "ed", "ations", "ational", "fulness", "ization")]  # fmt: skip
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            clear_caches()
            together = list(pool.map(terms, texts * 2))
    finally:
        sys.setswitchinterval(interval)
    clear_caches()
    assert together == [terms(text) for text in texts * 2]


def clear_caches():
    module._word.cache_clear()
