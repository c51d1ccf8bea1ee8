"""A text of any length is encoded whole."""

from __future__ import annotations

from mmmem.encoders.windows import encode_in_windows, split


def words(text: str) -> int:
    return len(text.split())


def test_a_short_text_stays_whole():
    assert split("one two three", words, 3) == ["one two three"]


def test_pieces_fit_and_lose_nothing():
    text = "\n".join(f"line {number} has five words" for number in range(40))
    pieces = split(text, words, 12)
    assert "".join(pieces) == text
    assert all(words(piece) <= 12 for piece in pieces)
    assert all(piece.startswith("line") for piece in pieces)


def test_a_text_without_spaces_is_cut_too():
    pieces = split("记忆" * 50, len, 30)
    assert "".join(pieces) == "记忆" * 50
    assert all(len(piece) <= 30 for piece in pieces)


def test_each_text_gets_its_own_windows_back_in_order():
    texts = ["a b c d e", "", "f", " ".join("g" * 40)]
    batches: list[list[str]] = []

    def encode(windows: list[str]) -> list[str]:
        batches.append(windows)
        return windows

    encoded = encode_in_windows(texts, words, 3, 2, encode)
    assert ["".join(windows) for windows in encoded] == texts
    assert max(map(len, batches)) == 2
