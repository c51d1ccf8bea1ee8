"""Long messages are split, and nothing of them is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmmem.texts import asks, beginning_and_end, named_speaker, split_parts, split_text, well_formed
from mmmem.types import ImagePart, TextPart

PICTURE = ImagePart("data:image/png;base64", b"picture")


@given(st.text(alphabet="ab .\n!?。你", max_size=400), st.integers(2, 50))
def test_the_pieces_are_the_text_again_and_none_is_too_long(text, limit):
    pieces = split_text(text, limit)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= limit


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One two three. Four five six seven.", "One two three. "),
        ("今天我们去了公园散步。明天我们要去海边游泳。", "今天我们去了公园散步。"),
        ("line one is here\nline two. is here\n", "line one is here\n"),
        ("def f():\n    return 1\n\ndef g():\n    return 2\n", "def f():\n    return 1\n\n"),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a" * 24),
    ],
)
def test_it_is_cut_where_a_reader_would_cut(text, first):
    limit = 15 if text.startswith("今") else 24
    assert split_text(text, limit)[0] == first


def test_a_short_message_is_one_memory_with_its_images_where_they_were():
    parts = (TextPart("before"), PICTURE, TextPart("after"), PICTURE)
    assert split_parts(parts, 100) == [parts]


def test_an_image_stays_with_the_text_before_it():
    long = TextPart("word " * 30)
    memories = split_parts((TextPart("look at this: "), PICTURE, long, PICTURE), 100)
    assert memories[0] == (TextPart("look at this: "), PICTURE)
    assert memories[-1][-1] == PICTURE
    assert "".join(p.text for memory in memories[1:] for p in memory if isinstance(p, TextPart)) == long.text


def test_images_alone_are_one_memory():
    assert split_parts((PICTURE, PICTURE), 100) == [(PICTURE, PICTURE)]


def test_lone_surrogates_are_replaced_and_pairs_are_joined_for_the_encoder():
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert well_formed("\ud83d\ude00") == "😀"


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("Where is it?", True),
        ("Nice! What about you?  ", True),
        ('She said "why?"', True),
        ("你去哪儿了？", True),
        ("Are you coming? 😊", True),
        ("Is it?...", False),
        ("Is it? I think so.", False),
        ("No.", False),
        ("", False),
    ],
)
def test_a_turn_that_ends_with_a_question_asks(text, is_question):
    assert asks(text) is is_question


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ann: I am late", "Ann"),
        ("Ann Lee: I am late", "Ann Lee"),
        ("Dr. O'Neil: sit down", "Dr. O'Neil"),
        ("Zoë: hi", "Zoë"),
        ("J. Smith: hi", "J. Smith"),
        ("Jean-Luc: engage", "Jean-Luc"),
        ("May: I was born in April", "May"),
        ("Иван: привет", "Иван"),
        ("Sun Li: hi", "Sun Li"),
        ("小明：我到了", "小明"),
        ("小明: 我到了", "小明"),
        ("李：好", "李"),
        ("约翰·史密斯：你好", "约翰·史密斯"),
        ("田中さん：はい", "田中さん"),
        ("김 민수: 안녕", "김 민수"),
    ],
)
def test_a_transcripts_speaker_is_read_off_its_line(text, name):
    assert named_speaker(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "no one here",
        "I was thinking: maybe not",
        "https://example.org is down",
        "Note: buy milk",
        "NOTE: buy milk",
        "Meeting Notes: we agreed",
        "The Plan: rest",
        "TODO: call Ann",
        "Error: no such file",
        "ValueError: bad literal",
        "Warning: hot",
        "Re: the lease",
        "Subject: the lease",
        "Update: we moved",
        "P.S.: bring bread",
        "Monday: swim, Tuesday: rest",
        "Hey Ann: look",
        "Q: why?",
        "User: hi",
        "AI: hello",
        "C:\\Users\\ann",
        "Foo::bar is gone",
        "summary: all is well",
        "url: example.org",
        "注意：小心地滑",
        "购物清单：牛奶",
        "我想说的是：谢谢",
        "周一：游泳",
    ],
)
def test_a_label_is_no_speaker(text):
    assert named_speaker(text) == ""


def test_a_long_question_keeps_its_beginning_and_its_end():
    assert beginning_and_end("short", 10) == "short"
    assert beginning_and_end("0123456789abcdef", 8) == "0123\ncdef"
