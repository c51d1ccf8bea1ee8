"""Texts longer than a model's window are cut into several, so that nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Output = TypeVar("Output")

PAD_TO = 16  # windows whose lengths round up to the same multiple are batched together


def split(text: str, count: Callable[[str], int], limit: int) -> list[str]:
    """Cut a text into pieces of at most `limit` tokens, as `count` counts them; joined, they are the text again.

    A text that is too long is halved at the line end or space nearest before its middle, until every piece fits.
    """
    if len(text) <= 1 or count(text) <= limit:
        return [text]
    middle = _break(text)
    return [*split(text[:middle], count, limit), *split(text[middle:], count, limit)]


def _break(text: str) -> int:
    middle = len(text) // 2
    for separator in ("\n", " "):
        before = text.rfind(separator, middle // 2, middle)
        if before >= 0:
            return before + 1
    return middle


def encode_in_windows(
    texts: Sequence[str],
    count: Callable[[str], int],
    limit: int,
    batch_size: int,
    encode: Callable[[list[str]], Sequence[Output]],
) -> list[list[Output]]:
    """What `encode` gives for the windows of each text, in order.

    `encode` gets at most `batch_size` windows at a time, all of like length: so a text's numbers do not depend on how
    long the other texts are.
    """
    pieces = [(number, piece) for number, text in enumerate(texts) for piece in split(text, count, limit)]
    by_length: dict[int, list[int]] = {}
    for index, (_, piece) in enumerate(pieces):
        by_length.setdefault(-(-count(piece) // PAD_TO), []).append(index)
    outputs: dict[int, Output] = {}
    for members in by_length.values():
        for start in range(0, len(members), batch_size):
            batch = members[start : start + batch_size]
            outputs.update(zip(batch, encode([pieces[index][1] for index in batch]), strict=True))
    of_text: list[list[Output]] = [[] for _ in texts]
    for index, (number, _) in enumerate(pieces):
        of_text[number].append(outputs[index])
    return of_text
