"""BM25 as published."""

from __future__ import annotations

import numpy as np
import pytest

from mmmem.retrieval.dense import best_of_owner
from mmmem.retrieval.lexical import bm25
from mmmem.store.postings import Postings


def search(query, *memories):
    """BM25 of memories given as lists of terms."""
    terms = np.array([term for memory in memories for term in memory], dtype=np.int64)
    lengths = np.array([len(memory) for memory in memories], dtype=np.int64)
    rows = np.repeat(np.arange(len(memories), dtype=np.int32), lengths)
    return bm25(Postings().plus(terms, rows).of(np.array(query, dtype=np.int64)), lengths, k1=1.5, b=0.75)


def test_equals_the_formula():
    scores = search([2], [1, 2, 2, 3], [2], [4, 5])
    idf = np.log1p((3 - 2 + 0.5) / (2 + 0.5))
    mean = 7 / 3
    expected = [idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 4 / mean)), idf * 2.5 / (1 + 1.5 * (0.25 + 0.75 / mean)), 0]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_a_word_said_twice_in_the_question_counts_once():
    np.testing.assert_array_equal(search([1], [1, 2], [3]), search([1, 1], [1, 2], [3]))


@pytest.mark.parametrize("query", [[], [99]])
def test_nothing_in_common_scores_zero(query):
    np.testing.assert_array_equal(search(query, [1, 2], [], [3]), [0, 0, 0])


def test_memories_without_words_are_no_obstacle():
    np.testing.assert_array_equal(search([1], [], []), [0, 0])


def test_a_memory_is_as_near_as_its_nearest_image():
    best = best_of_owner(np.array([0.1, 0.9, 0.4], dtype=np.float32), np.array([0, 0, 2]), 3)
    np.testing.assert_allclose(best, [0.9, np.nan, 0.4], rtol=1e-6)
