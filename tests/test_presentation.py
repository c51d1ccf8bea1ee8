"""A returned memory says when and by whom it was said, and shows its neighbours as such."""

from __future__ import annotations

import pytest

from mmmem.presentation import heading, present
from mmmem.types import ImagePart, Memory, TextPart

PICTURE = ImagePart("data:image/png;base64", b"picture")


def memory(*parts, timestamp=1704067200000, role="user"):
    return Memory("mem_1", "s", role, tuple(parts), timestamp, timestamp or 0, 0, 0)


def test_time_and_role_stand_in_front():
    shown = present(memory(TextPart("I adopted a cat.")), [], [], 100)
    assert shown.text == "[2024-01-01 00:00] user: I adopted a cat."


def test_without_a_time_only_the_role_does():
    assert heading(memory(TextPart("hi"), timestamp=None)) == "user:"


@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        (0, "[1970-01-01 00:00] user:"),
        (-86_400_000, "[1969-12-31 00:00] user:"),
        (-62135596800000, "[0001-01-01 00:00] user:"),
    ],
)
def test_any_time_of_the_calendar_can_be_shown(timestamp, shown):
    assert heading(memory(timestamp=timestamp)) == shown


def test_neighbours_follow_on_lines_of_their_own_and_are_cut():
    before = memory(TextPart("What is new?\nTell me."), role="assistant")
    after = memory(TextPart("x" * 50), role="assistant")
    lines = present(memory(TextPart("A cat!")), [before], [after], 20).text.splitlines()
    assert lines == [
        "[2024-01-01 00:00] user: A cat!",
        "(before this) [2024-01-01 00:00] assistant: …hat is new? Tell me.",
        "(after this) [2024-01-01 00:00] assistant: " + "x" * 20 + "…",
    ]


def test_images_keep_their_place_among_the_text():
    shown = present(memory(PICTURE, TextPart("our cat"), PICTURE), [memory(PICTURE)], [], 100)
    assert [type(part) for part in shown.parts] == [ImagePart, TextPart, ImagePart]
    assert shown.text.splitlines() == [
        "[2024-01-01 00:00] user: our cat",
        "(before this) [2024-01-01 00:00] user: (a picture)",
    ]


def test_a_memory_of_images_alone_says_when_and_by_whom_too():
    shown = present(memory(PICTURE), [], [], 100)
    assert shown.parts == (TextPart("[2024-01-01 00:00] user:"), PICTURE)
