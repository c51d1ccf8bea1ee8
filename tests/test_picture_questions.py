"""Who asks for a picture gets pictures, who asks for words gets words, and who may mean either gets both."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from mmmem.types import ImagePart, TextPart
from tests.test_memory import ask, photo, say, searching, service, texts, user
from tests.test_ranking import FILLER

__all__ = ["service", "user"]  # fixtures

TALK = (
    "My coffee went cold while I was on the phone.", "The coffee machine in the office is broken again.",
    "She showed me a photo of her sister.", "A cat slept on the car.", "The cat food is in the cupboard.",
    "I keep a picture of the lake on my desk.", "He collects coins and stamps.", "The motorcycle needs new tyres.",
    "We drank coffee and talked about photos.", *FILLER,
)  # fmt: skip


@pytest.fixture
def album(service, user):
    """A user with talk about all that the photos show, and the photos, which nobody said anything about."""
    names = ("chelsea.png", "coffee.png", "motorcycle_left.png", "rocket.jpg")
    service.add(say(*TALK, user_id=user))
    for name in names:
        service.add(say([photo(name)], user_id=user, request_id=name, session_id=name))
    return {name: photo(name) for name in names}


def pictures(hits):
    return [[part for part in hit.memory.parts if isinstance(part, ImagePart)] for hit in hits]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Can you find the photo of my cat?", "chelsea.png"),
        ("show me the picture of the cup of coffee", "coffee.png"),
        ("which picture shows a motorcycle?", "motorcycle_left.png"),
    ],
)
def test_who_asks_for_a_picture_gets_it_first_though_words_speak_of_the_same(service, user, album, question, name):
    assert pictures(service.search(ask(user, question)))[0] == [album[name]]


@pytest.mark.parametrize("name", ["Milo", "Luna", "Simba", "Nala"])
def test_a_photo_that_was_given_a_name_is_found_by_it(service, user, name):
    whole = (0, 0, 451, 300)  # all of the cat, and parts of it
    boxes = {"Milo": whole, "Luna": (100, 20, 350, 280), "Simba": (60, 0, 420, 300), "Nala": (20, 10, 400, 290)}
    named = {each: photo("chelsea.png", box=box) for each, box in boxes.items()}
    service.add(say(*TALK, user_id=user))
    for each, part in named.items():
        service.add(say([TextPart(f"This is {each}, my cat."), part], user_id=user, request_id=each, session_id=each))
    for question in (f"Show me the photo of {name}", f"the picture of {name}", f"What does {name} look like?"):
        assert pictures(service.search(ask(user, question)))[0] == [named[name]], question


def test_who_asks_a_question_of_words_is_not_flooded_with_pictures(service, user, album):
    for question, answer in (("What does he collect?", "coins"), ("What does the motorcycle need?", "tyres")):
        assert answer in texts(service.search(ask(user, question)))[0]
    assert any("cupboard" in text for text in texts(service.search(ask(user, "Where is the cat food?")))[:2])


def test_what_may_describe_a_picture_finds_words_and_the_picture(service, user, album):
    hits = service.search(ask(user, "the cat"))
    assert [album["chelsea.png"]] in pictures(hits)[:5]
    assert any("cat slept" in text for text in texts(hits)[:5])
    without = searching(service, picture_places=0)(ask(user, "a motorised two-wheeler"))
    found = service.search(ask(user, "a motorised two-wheeler"))
    assert pictures(without).index([album["motorcycle_left.png"]]) >= pictures(found).index(
        [album["motorcycle_left.png"]]
    )


def test_a_picture_that_shows_nothing_of_it_gets_no_place_for_it(service, user, album):
    hits = service.search(ask(user, "stamps and coins"))
    assert not any(pictures(hits)[:4])


def test_the_colour_that_is_asked_for_counts(service, user):
    for colour in ("#c01020", "#1338be", "#1e7a32"):
        data = io.BytesIO()
        Image.new("RGB", (64, 64), colour).save(data, "PNG")
        part = ImagePart("data:image/png;base64", data.getvalue())
        service.add(say([TextPart("this shade?"), part], user_id=user, request_id=colour, session_id=colour))
        if colour == "#1338be":
            blue = part
    query = ask(user, "the picture of the blue wall")
    assert pictures(service.search(query))[0] == [blue]
    assert "colours" in service.explain(query)[0].explanation.channels
    without = searching(service, weight_colours=0.0)
    assert "colours" not in without(query, explained=True)[0].explanation.channels


def test_who_asks_what_was_said_of_a_picture_gets_the_words_first(service, user, album):
    service.add(say("Ann said of the photo of the rocket that it is crooked.", user_id=user, request_id="ann"))
    hits = service.search(ask(user, "What did Ann say about the photo of the rocket?"))
    assert "crooked" in texts(hits)[0]
    assert [album["rocket.jpg"]] in pictures(hits)[:5]


@pytest.mark.parametrize("between", [False, True])
def test_pictures_told_beside_what_was_said_change_nothing_in_the_order_of_what_was_said(service, user, between):
    said = [f"{text} Number {n}." for n in range(3) for text in TALK]
    shown = [photo(name) for name in ("page.png", "chelsea.png", "coffee.png", "rocket.jpg", "text.png", "coins.png")]
    mixed = list(said)
    for place, part in enumerate(shown):
        mixed.insert(5 * place if between else len(mixed), [part])
    service.add(say(*said, user_id=f"{user} words"))
    service.add(say(*mixed, user_id=user))
    for question in (
        "What does he collect?",
        "Where is the cat food?",
        "Which coins, stamps or markers are there?",
        "Who was late with the sheet?",
    ):
        alone, together = (
            [text.partition("user:")[2] for text in texts(service.search(ask(asked, question)))]
            for asked in (f"{user} words", user)
        )
        assert [text for text in together if text.strip()] == alone
