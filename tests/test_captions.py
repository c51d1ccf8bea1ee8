"""A question that asks for a picture is known as one, and what the picture shows is what is looked for."""

from __future__ import annotations

import pytest

from mmmem.captions import MOST_WORDS, asks_about_picture, asks_for_picture, caption, may_describe


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Can you find the photo of the red cup?", "the red cup"),
        ("do you still have the picture of my cat", "my cat"),
        ("show me again that screenshot with the error 0x80070057", "the error 0x80070057"),
        ("which photo shows a boat?", "a boat"),
        ("Where is the blurry picture of a clock?", "the blurry a clock"),
        ("I'm looking for a black and white photograph of a bridge.", "a black and white a bridge"),
        ("did I take a photo of the bridge?", "take the bridge"),
        ("What breed is the dog in the photo?", "What breed is the dog in"),
        ("what is in the picture of the kitchen?", "in the kitchen"),
        ("something round that moved while the photo was taken", "something round that moved while was taken"),
        ("给我看那张猫的照片", "给我看那张猫的照片"),
    ],
)
def test_who_asks_for_a_picture_says_what_it_shows(question, shown):
    assert asks_for_picture(question)
    assert caption(question) == shown


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What did Ann say about the photo of the lake?", "the lake"),
        ("When did I take the picture of the sunset?", "the sunset"),
        ("Who took the photo?", "Who took the photo?"),
        ("Where was that picture taken?", "Where was that picture taken?"),
        ("What did Bob share a photo of on Monday?", "What did Bob share a photo of on Monday?"),
        ("谁拍的照片?", "谁拍的照片?"),
    ],
)
def test_who_asks_what_no_picture_shows_does_not_ask_for_it(question, shown):
    assert asks_about_picture(question)
    assert not asks_for_picture(question)
    assert caption(question) == shown


@pytest.mark.parametrize(
    "question",
    [
        "What breed is the dog in the photo?",
        "What color is the car in the picture I sent?",
        "How many people are in the photo?",
        "What does the sign in the picture say?",
        "Which screenshot shows the invoice?",
        "Is there a cat in the picture?",
        "照片里有什么?",
    ],
)
def test_what_a_picture_shows_is_asked_of_the_picture(question):
    assert asks_for_picture(question)
    assert not asks_about_picture(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where did I park the car?",
        "What is the scikit-image logo?",
        "imagine that",
        "a photosynthesis diagram",
        "the epic story",
        "",
    ],
)
def test_other_questions_ask_for_none_and_stay_as_they_are(question):
    assert not asks_for_picture(question)
    assert caption(question) == question


@pytest.mark.parametrize("question", ["a photo", "pictures?", "the image", "show me the pictures"])
def test_a_picture_and_nothing_else_leaves_something_to_look_for(question):
    assert asks_for_picture(question)
    assert caption(question)


@pytest.mark.parametrize(
    "description", ["a red cup on a table", "lunar craters in grey", "my old bicycle", "木桌上的红杯子"]
)
def test_what_asks_nothing_may_describe_a_picture(description):
    assert may_describe(description)


@pytest.mark.parametrize(
    "question",
    [
        "Where is my bicycle",
        "what did she say",
        "a red cup, right?",
        "杯子在哪",
        "Did it rain",
        "",
        "word " * (MOST_WORDS + 1),
    ],
)
def test_a_question_or_a_long_text_describes_none(question):
    assert not may_describe(question)
