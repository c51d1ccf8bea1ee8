"""What the lexical channel makes of text: words in any form, identifiers whole and by part, scripts without spaces."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmmem import terms as module
from mmmem.terms import hashed, identifiers, terms


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
        ("猫", "养了一只猫"),
        ("東京タワー", "昨日東京タワーに行った"),
        ("서울", "나는 서울에 산다"),
        ("물", "물을 두 병 마셔요"),
        ("python api v2.1 接口", "用Python写的API接口v2.1上线了"),
        ("to be or not to be", "To be, or not to be"),
        ("ｆｕｌｌ", "full width"),
        ("Straße", "in der STRASSE"),
        ("email", "the e-mail bounced"),
        ("SEARCH_TIMEOUT_MS", "raised env.SEARCH_TIMEOUT_MS to 900"),
        ("search timeout", "raised env.SEARCH_TIMEOUT_MS to 900"),
        ("maxRetries", "set MAX_RETRIES=5"),
        ("get_user_by_id", "getUserById is slow"),
        ("get-user-by-id", "getUserById is slow"),
        ("user_by_id", "getUserById is slow"),
        ("20240113", "parcel ORDER-2024-0113 left"),
        ("2024-0113", "parcel ORDER-2024-0113 left"),
        ("1234", "closed #1234"),
        ("#1234", "closed #1234"),
        ("10:12:57", "2024-01-13T10:12:57Z started"),
        ("2024-01-13", "2024-01-13T10:12:57Z started"),
        ("20240113", "2024-01-13T10:12:57Z started"),
        ("1.2.3", "upgrade to v1.2.3 now"),
        ("1.2", "upgrade to v1.2.3 now"),
        ("app/main.py", "edit src/app/main.py"),
        ("main.py", "edit src/app/main.py"),
        ("core/io/disk/fast/reader.rs", "/home/ann/lib/core/io/disk/fast/reader.rs panics"),
        ("load_user_profile_from_disk", "mmmem/load_user_profile_from_disk.py:42"),
        ("notes/plan.txt", r"C:\Users\ann\notes\plan.txt was lost"),
        ("econnrefused", "died with ECONNREFUSED"),
        ("0x7FFE12", "segfault at 0x7ffe12"),
        ("E0308", "error[E0308]: mismatched types"),
        ("503", "gave HTTP 503"),
        ("foo::bar", "foo::bar throws"),
        ("bar", "foo::bar throws"),
        ("--no-cache", "docker build --no-cache ."),
        ("no_cache", "docker build --no-cache ."),
        ("package@1.2.3", "pinned package@1.2.3"),
        ("1.2.3", "pinned package@1.2.3"),
        ("user@example.com", "write to user@example.com."),
        ("example.com", "write to user@example.com."),
        ("C++", "she teaches C++, on Mondays"),
        ("C#", "he prefers C#."),
        (".NET", "it runs on .NET"),
        ("net", "it runs on .NET"),
        ("F150", "sold the F-150"),
        ("GPT-4", "moved to gpt4"),
        ("3.5", "a fee of 3.5%"),
        ("1200", "a deposit of $1,200."),
        ("$1,200.50", "it was 1200.50"),
        ("AT&T", "AT&T called"),
        ("9fceb02", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8"),
        ("🎉", "loved it 🎉🎉"),
        ("👍", "good 👍🏽"),
        ("❤", "from grandma ❤️"),
        ("🤷", "no idea 🤷‍♀️"),
        ("🇫🇷", "off to 🇫🇷!"),
    ],
)
def test_is_found(query, text):
    assert terms(query)
    assert found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("京北", "北京"),
        ("cat", "concatenate"),
        ("v1.2.4", "v1.2.3"),
        ("123", "v1.2.3"),
        ("510", "5-10 minutes"),
        ("C++", "vitamin C"),
        ("C#", "C++"),
        (".NET", "the net was torn"),
        ("#1234", "1234 people"),
        ("200", "a deposit of $1,200"),
        ("🎉", "🎂"),
        ("🇫🇷", "🇩🇪"),
        ("👍🏿", "👍🏽"),
    ],
)
def test_is_not_found(query, text):
    assert not found(query, text)


@pytest.mark.parametrize("text", ["!?.,;:()[]{}\"'", "- * = + < > | ~ ^", "…—–•→■", "____", "©®"])
def test_punctuation_has_no_terms(text):
    assert terms(text) == []


@pytest.mark.parametrize(
    ("question", "other_question", "answer"),
    [
        ("我的猫叫什么名字？", "那是什么？怎么用呢？", "我的猫叫咪咪"),
        ("你去了哪裡？", "妳在哪裡？", "我去了颐和园"),
        ("昨日どこに行きましたか？", "これはどこですか？", "昨日、東京に行きました"),
        ("강아지 이름이 뭐예요?", "뭐예요? 언제예요?", "강아지 이름은 초코예요"),
    ],
)
def test_a_question_meets_what_answers_it_rather_than_another_question(question, other_question, answer):
    assert len(set(terms(question)) & set(terms(answer))) > len(set(terms(question)) & set(terms(other_question)))


def test_a_question_word_alone_can_be_found():
    assert found("什么", "什么？")


def test_an_identifiers_spellings_are_one_term():
    assert terms("getUserById")[0] == terms("get_user_by_id")[0] == terms("GET-USER-BY-ID")[0]


def test_a_plain_word_is_one_term():
    assert terms("The cat sat") == ["the", "cat", "sat"]


def test_repeats_are_kept():
    assert terms("tea, tea and tea").count("tea") == 3


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What failed with ERR_CONN_42?", ["errconn42", "errconn", "conn42"]),
        ("in src/app.py since v1.2", ["src/app.py", "src/app", "app.py", "v1.2", "v1", "1.2"]),
        ("does readFile close?", ["readfil"]),
        ("why ECONNREFUSED", ["econnrefus"]),
        ("who knows C++ and .NET", ["c++", ".net"]),
        ("did I use --no-cache for #12", ["nocach", "#12"]),
        ("where is parcel 20240113", ["20240113"]),
        ("WHY DID ANYBODY REALLY LEAVE", []),
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


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0315\u0327" * 50_000,
        "ay" * 50_000,
        "x." * 50_000,
        "漢" * 50_000,
        "什么" * 50_000,
        "a/" * 50_000,
        "aB" * 50_000,
        ("x" * 40 + "_") * 2_000,
        "👩\u200d" * 50_000,
    ],
)
def test_text_made_to_be_slow_is_bounded(text):
    """Counted in calls, not seconds: no word that reaches the stemmer is long, and no normalisation sees a long run."""
    found = terms(text)
    assert all(len(term) <= module.LONGEST_WORD for term in found)
    assert len(found) <= 2 * len(text)
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
    module._remembered.cache_clear()


@pytest.mark.parametrize(
    "written", ["+44 7700 900173", "(0)7700 900173", "0 7700 900 173", "07700900173", "+447700900173"]
)
@pytest.mark.parametrize("asked", ["07700900173", "+44 7700 900173", "7700 900173", "0044 7700 900173"])
def test_a_telephone_number_is_found_in_another_grouping(written, asked):
    assert set(identifiers(f"call {asked}")) & set(terms(f"My number is {written}, call me"))


@pytest.mark.parametrize("text", ["in 2023 and 2024 we met", "1.2.3.4.5.6.7.8", "3 of 12 at 10:30", "a1234567b"])
def test_other_numbers_are_not_joined(text):
    assert not [term for term in terms(text) if term.isdecimal() and len(term) > 6]
