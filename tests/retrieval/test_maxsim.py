"""Late interaction gives what its definition says, whatever the memories' lengths."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mmmem.encoders.tokens import quantise, unit_rows
from mmmem.retrieval import maxsim as module
from mmmem.retrieval.maxsim import SPECIAL_WEIGHT, best_matches, maxsim, strongest, token_idf
from mmmem.store.postings import DocumentFrequencies
from mmmem.types import SPECIAL, UNKNOWN


def memories(lengths, k=16):
    """Token vectors of memories with these lengths, made of waves: real, different, and the same on every run."""
    total = sum(lengths)
    grid = np.outer(np.arange(1, total + 1), np.arange(1, k + 1)).astype(np.float32)
    vectors = np.sin(grid * 0.37) + np.cos(grid * 1.91)
    tokens = quantise(vectors.astype(np.float32))
    scales = (1 / np.linalg.norm(tokens.astype(np.float32), axis=1)).astype(np.float32)
    return tokens, scales, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def by_definition(query, weights, tokens, scales, offsets):
    scores = []
    for start, end in pairwise(offsets):
        if start == end:
            scores.append(np.nan)
            continue
        cosines = query @ (tokens[start:end].astype(np.float64) * scales[start:end, None]).T
        scores.append((cosines.max(axis=1) * weights).sum() / weights.sum())
    return np.array(scores)


def asked():
    return unit_rows(np.cos(np.arange(4 * 16, dtype=np.float32)).reshape(4, 16)), np.array([0.1, 3.0, 1.5, 0.7], "f4")


def test_equals_the_definition():
    tokens, scales, offsets = memories([3, 0, 1, 12, 0, 5, 2])
    query, weights = asked()
    expected = by_definition(unit_rows(quantise(query).astype(np.float32)), weights, tokens, scales, offsets)
    np.testing.assert_allclose(maxsim(query, weights, tokens, scales, offsets), expected, atol=1e-6)


def test_a_question_in_whole_numbers_is_nearly_the_question():
    tokens, scales, offsets = memories([3, 0, 1, 12, 0, 5, 2])
    query, weights = asked()
    exact = by_definition(query, weights, tokens, scales, offsets)
    np.testing.assert_allclose(maxsim(query, weights, tokens, scales, offsets), exact, atol=0.01)


@pytest.mark.parametrize("block", [1, 7, 10, 65_536])
def test_the_same_bits_however_the_work_is_cut(monkeypatch, block):
    tokens, scales, offsets = memories([3, 0, 1, 12, 0, 5, 2])
    query, weights = asked()
    whole = maxsim(query, weights, tokens, scales, offsets)
    monkeypatch.setattr(module, "BLOCK", block)
    np.testing.assert_array_equal(maxsim(query, weights, tokens, scales, offsets), whole)


@pytest.mark.parametrize("rows", [[0], [1], [2, 3, 6], [0, 3, 4, 5], []])
def test_the_same_bits_among_a_few_as_among_all(rows):
    tokens, scales, offsets = memories([3, 0, 1, 12, 0, 5, 2])
    query, weights = asked()
    whole = maxsim(query, weights, tokens, scales, offsets)
    some = maxsim(query, weights, tokens, scales, offsets, rows=np.array(rows, dtype=np.int64))
    np.testing.assert_array_equal(some, whole[rows])


def test_the_same_bits_whatever_else_is_asked():
    tokens, scales, offsets = memories([3, 4, 1, 12, 5, 2])
    query, _ = asked()
    together = best_matches(query, tokens, scales, offsets)
    alone = [best_matches(query[[place]], tokens, scales, offsets)[0] for place in range(len(query))]
    np.testing.assert_array_equal(together, alone)


def test_a_memory_without_tokens_has_no_score_and_changes_no_other():
    tokens, scales, offsets = memories([3, 4])
    with_gap = np.array([0, 0, 3, 3, 7, 7], dtype=np.int64)
    query, weights = unit_rows(tokens[:2].astype(np.float32)), np.ones(2, dtype=np.float32)
    alone = maxsim(query, weights, tokens, scales, offsets)
    np.testing.assert_array_equal(
        maxsim(query, weights, tokens, scales, with_gap), [np.nan, alone[0], np.nan, alone[1], np.nan]
    )


def test_negative_cosines_are_not_beaten_by_padding():
    # With zero padding and no mask every score below 0 would read as 0 and the order would be lost.
    tokens = np.array([[-127, 0], [-127, 60]], dtype=np.int8)
    scales = (1 / np.linalg.norm(tokens.astype(np.float32), axis=1)).astype(np.float32)
    query = np.array([[1.0, 0.0]], dtype=np.float32)
    scores = maxsim(query, np.ones(1, dtype=np.float32), tokens, scales, np.array([0, 1, 2]))
    assert scores[0] == pytest.approx(-1.0)
    assert -1.0 < scores[1] < 0


def test_int8_keeps_a_vectors_direction():
    vectors = unit_rows(np.sin(np.arange(50 * 128, dtype=np.float32) ** 1.1).reshape(50, 128))
    kept = unit_rows(quantise(vectors).astype(np.float32))
    assert (vectors * kept).sum(axis=1).min() > 0.999


def test_a_rare_word_weighs_more_than_a_common_one_and_a_repeat_in_one_memory_counts_once():
    ids = np.array([7, 7, 7, 8, 7, 9, 7], dtype=np.int32)  # 7 is in each of the three memories
    frequencies = DocumentFrequencies.empty().plus(ids, np.array([0, 0, 0, 0, 1, 1, 2], dtype=np.int32))
    query = np.array([SPECIAL, 7, 8, 5, UNKNOWN], dtype=np.int32)
    unheard = np.zeros(5, np.float32)
    special, common, rare, absent, unknown = token_idf(query, frequencies.of(query), 3, unheard, 0)
    assert special == pytest.approx(SPECIAL_WEIGHT)
    assert unknown == 0
    assert common == pytest.approx(np.log1p(0.5 / 3.5))
    assert rare == pytest.approx(np.log1p(2.5 / 1.5))
    assert common < rare < absent


def test_a_common_word_that_a_new_user_has_not_said_yet_weighs_little_and_a_large_users_own_words_decide():
    query = np.array([1, 2], dtype=np.int32)  # a common word and a rare one
    background = np.array([0.5, 0.001], dtype=np.float32)
    common, rare = token_idf(query, np.array([0, 1]), 2, background, 100)
    assert common < rare / 3
    common, rare = token_idf(query, np.array([0, 50_000]), 100_000, background, 100)
    assert common > rare


def test_of_a_long_question_the_rarest_tokens_are_kept_in_their_order():
    np.testing.assert_array_equal(strongest(np.array([1, 5, 2, 5, 0], dtype=np.float32), 3), [1, 2, 3])
