"""How messages become memories."""

from __future__ import annotations

from mmmem.ingest import merged
from mmmem.types import ImagePart, Message, TextPart

PICTURE = ImagePart("data:image/png;base64", b"png")


def said(*texts, role="user"):
    return [Message(role, (TextPart(text),), place) for place, text in enumerate(texts)]


def joined(messages, least):
    return [
        (position, message.timestamp, [part.text for part in message.parts])
        for position, message in merged(messages, least)
    ]


def test_by_default_every_message_is_a_memory():
    assert joined(said("ok", "", "fine"), 0) == [(0, 0, ["ok"]), (1, 1, [""]), (2, 2, ["fine"])]


def test_a_short_message_goes_with_the_next_of_the_same_role():
    assert joined(said("ok", "so", "that is long enough", "bye"), 10) == [
        (0, 0, ["ok", "so", "that is long enough"]),
        (3, 3, ["bye"]),
    ]


def test_a_short_message_stays_alone_before_another_role():
    messages = [*said("ok"), *said("no", "that is long enough", role="assistant")]
    assert joined(messages, 10) == [(0, 0, ["ok"]), (1, 0, ["no", "that is long enough"])]


def test_pictures_keep_their_place_and_nothing_is_lost():
    messages = [
        Message("user", (TextPart("see"), PICTURE)),
        Message("user", (PICTURE,)),
        Message("user", (TextPart("two pictures"),)),
    ]
    [(position, message)] = merged(messages, 10)
    assert position == 0
    assert message.parts == (TextPart("see"), PICTURE, PICTURE, TextPart("two pictures"))
