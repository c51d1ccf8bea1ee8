"""BM25 as published."""

from __future__ import annotations

import numpy as np
import pytest

from mmmem.retrieval.dense import best_of_owner
from mmmem.retrieval.lexical import bm25
from mmmem.store.postings import Postings


def search(query, *memories, counted=None):
    """BM25 of memories given as lists of terms, all of which count, or those where `counted` says so."""
    terms = np.array([term for memory in memories for term in memory], dtype=np.int64)
    lengths = np.array([len(memory) for memory in memories], dtype=np.int64)
    rows = np.repeat(np.arange(len(memories), dtype=np.int32), lengths)
    everybody = np.ones(len(memories), dtype=np.bool_) if counted is None else np.array(counted)
    return bm25(Postings().plus(terms, rows).of(np.array(query, dtype=np.int64)), lengths, everybody, k1=1.5, b=0.75)


def test_equals_the_formula():
    scores = search([2], [1, 2, 2, 3], [2], [4, 5])
    idf = np.log1p((3 - 2 + 0.5) / (2 + 0.5))
    mean = 7 / 3
    expected = [idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 4 / mean)), idf * 2.5 / (1 + 1.5 * (0.25 + 0.75 / mean)), 0]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def test_memories_that_are_not_counted_make_no_word_common_and_no_length_usual():
    said = [1, 2, 2, 3], [2], [4, 5]
    alone = search([2], *said)
    with_others = search([2], *said, [2, 2, 2, 6, 7, 8], [], counted=[True, True, True, False, False])
    np.testing.assert_array_equal(with_others[:3], alone)
    assert with_others[3] > 0
    assert with_others[4] == 0


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
