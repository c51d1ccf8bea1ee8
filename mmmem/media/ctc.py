"""Text from the output of a line recogniser: greedy decoding of CTC (Graves et al., 2006), with the spaces that it leaves out."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BLANK = 0  # its place among the characters
# Sum of the space's probability over the steps from one character to the next. A recogniser that learned mostly from Chinese seldom
# finds a space the likeliest, but between words it has a few hundredths, within them a few thousandths.
SPACE_IN_TEXT = 0.02
SPACE_AT_A_MARK = 0.5  # words part there anyway, and 22.03, app.py or max_lines must not


class CTCDecoder:
    """Called with probabilities, float32 [lines, steps, characters], gives each line's text and its characters' mean probability.

    `characters`: those of the columns, the blank first; " " is among them.
    """

    def __init__(self, characters: Sequence[str]) -> None:
        self._characters = characters
        self._space = characters.index(" ")

    def __call__(self, lines: NDArray[np.float32], *_: object, **__: object) -> list[tuple[str, float]]:
        return [self._line(steps) for steps in lines]

    def _line(self, steps: NDArray[np.float32]) -> tuple[str, float]:
        best = steps.argmax(axis=1)
        written = (best != BLANK) & (best != self._space) & (np.diff(best, prepend=BLANK) != 0)
        places = np.flatnonzero(written)
        if not places.size:
            return "", 0.0
        letters = [self._characters[place] for place in best[places]]
        spaces = np.diff(np.cumsum(steps[:, self._space])[places])
        text = letters[0]
        for (left, right), space in zip(pairwise(letters), spaces, strict=True):
            enough = SPACE_IN_TEXT if left.isalnum() and right.isalnum() else SPACE_AT_A_MARK
            text += f" {right}" if space > enough else right
        return text, float(steps[places, best[places]].mean())
