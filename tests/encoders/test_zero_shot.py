"""From a classifier's view of an image to the texts of its classes."""

from __future__ import annotations

import numpy as np
import pytest

from mmmem.encoders.zero_shot import TextSpace, probabilities


@pytest.fixture(scope="module")
def space():
    """Fifty classes with a text vector and weights of their own, derived from their numbers."""
    grid = np.arange(50)[:, None] + 1.0
    texts = np.cos(grid * np.arange(1, 65) * 0.37).astype(np.float32)
    texts /= np.linalg.norm(texts, axis=1, keepdims=True)
    weights = np.sin(grid * np.arange(1, 97) * 0.61).astype(np.float32)
    return TextSpace(texts, weights), texts, weights


def nearest(texts, vector):
    return int(np.argmax(texts @ vector))


@pytest.mark.parametrize("number", [0, 7, 49])
def test_an_image_of_one_class_lies_at_its_text(space, number):
    made, texts, weights = space
    logits = np.zeros((2, 50), np.float32)
    logits[:, number] = 40
    vector = made.vector(logits, np.stack([weights[number]] * 2))
    assert nearest(texts, vector) == number
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("number", [0, 7, 49])
def test_what_an_image_looks_like_counts_where_no_class_is_probable(space, number):
    made, texts, weights = space
    undecided = np.zeros((2, 50), np.float32)
    alike = made.vector(undecided, np.stack([weights[number]] * 2))
    unlike = made.vector(undecided, np.stack([weights[number - 20]] * 2))
    assert texts[number] @ alike > texts[number] @ unlike


def test_an_image_stays_among_texts_that_all_lie_close_together(space):
    _, texts, weights = space
    close = texts + 4 * texts.mean(axis=0) / np.linalg.norm(texts.mean(axis=0))
    close /= np.linalg.norm(close, axis=1, keepdims=True)
    logits = np.zeros((2, 50), np.float32)
    logits[:, 7] = 40
    # Less near than to its own text, but no farther from the others than they are from one another.
    cosines = close @ TextSpace(close, weights).vector(logits, weights[[7, 7]])
    assert cosines[7] == cosines.max()
    assert cosines.min() > (close @ close[7]).min() - 0.02


def test_every_view_has_its_say(space):
    made, texts, weights = space
    logits = np.zeros((2, 50), np.float32)
    logits[:, 30] = 40
    alone = made.vector(logits, weights[[30, 30]])
    logits[0] = 0
    logits[0, 3] = 40
    both = made.vector(logits, weights[[3, 30]])
    assert texts[3] @ both > texts[3] @ alone + 0.3
    assert texts[30] @ both > 0.5


def test_probabilities_add_up_however_large_the_logits_are():
    sharp = probabilities(np.array([3e4, 1, -3e4], np.float32))
    assert sharp.tolist() == [1, 0, 0]
    soft = probabilities(np.array([2, 1, 0], np.float32), temperature=10.0)
    assert soft.sum() == pytest.approx(1)
    assert soft.max() < 0.4
