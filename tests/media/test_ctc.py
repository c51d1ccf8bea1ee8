"""A line's characters become its text, with the spaces between its words."""

from __future__ import annotations

import numpy as np
import pytest

from mmmem.media.ctc import CTCDecoder

CHARACTERS = ["", *"abc1.,会 "]
BLANK, SPACE = CHARACTERS[0], " "


def decoded(*steps: tuple[str, float]) -> tuple[str, float]:
    """steps: the likeliest character of each, "" the blank, and the probability of a space."""
    lines = np.zeros((1, len(steps), len(CHARACTERS)), np.float32)
    for step, (character, space) in enumerate(steps):
        lines[0, step, CHARACTERS.index(character)] = 1 - space
        lines[0, step, CHARACTERS.index(SPACE)] += space
    (line,) = CTCDecoder(CHARACTERS)(lines)
    return line


def test_a_space_that_is_merely_possible_parts_words():
    assert decoded(("a", 0), ("", 0.02), ("", 0.02), ("b", 0))[0] == "a b"
    assert decoded(("a", 0), ("", 0.005), ("", 0.005), ("b", 0))[0] == "ab"


@pytest.mark.parametrize("line", ["1.1", "1,1", "a.b"])
def test_what_a_mark_joins_stays_whole(line):
    left, mark, right = line
    assert decoded((left, 0), ("", 0.1), (mark, 0.1), ("", 0.1), (right, 0))[0] == line


def test_a_space_that_is_likeliest_is_written_at_a_mark_too():
    assert decoded(("a", 0), (",", 0), ("", 0.2), (SPACE, 1), ("b", 0))[0] == "a, b"


def test_a_character_that_lasts_is_one_and_after_a_blank_another():
    assert decoded(("a", 0), ("a", 0), ("", 0), ("a", 0), ("会", 0))[0] == "aa会"


def test_an_empty_line_has_no_text_and_no_probability():
    assert decoded(("", 0), (SPACE, 1), ("", 0)) == ("", 0.0)


def test_how_sure_a_line_is_comes_from_its_characters_alone():
    assert decoded(("", 0), ("a", 0.25), ("", 0.4), ("b", 0.25))[1] == pytest.approx(0.75)
