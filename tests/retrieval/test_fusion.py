"""Fusion and ordering: no channel overrules the others by its scale, and equal scores always come in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mmmem.retrieval.fusion import (
    best_first,
    beyond_luck,
    logistic,
    ranks,
    reciprocal_rank_fusion,
    weighted_mean,
    zscores,
)

SCORES = arrays(np.float64, st.integers(1, 30), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0]))


def test_ranks_share_a_place_for_equal_scores_and_put_no_opinion_last():
    np.testing.assert_array_equal(ranks(np.array([0.5, np.nan, 0.9, 0.5, 0.1])), [2, 6, 1, 2, 4])


def test_reciprocal_rank_fusion_is_cormacks_sum():
    fused = reciprocal_rank_fusion([np.array([3.0, 2.0, np.nan]), np.array([1.0, 5.0, 2.0])], [1.0, 0.5], k=60)
    np.testing.assert_allclose(fused, [1 / 61 + 0.5 / 63, 1 / 62 + 0.5 / 61, 0.5 / 62])


def test_a_channel_without_an_opinion_neither_lifts_nor_sinks_a_memory():
    one = zscores(np.array([1.0, 2.0, 3.0]))
    other = np.array([np.nan, np.nan, 1.0])
    np.testing.assert_allclose(weighted_mean([one, other], [1.0, 1.0])[:2], one[:2] / 2)


def test_a_channel_that_sees_no_difference_says_nothing():
    np.testing.assert_array_equal(zscores(np.array([0.3, 0.3, np.nan])), [0.0, 0.0, np.nan])


def test_scale_and_shift_of_a_channel_do_not_matter():
    scores = np.array([0.2, 0.9, 0.4, 0.1])
    np.testing.assert_allclose(zscores(scores * 1000 + 7), zscores(scores))


def test_the_nearest_of_many_unrelated_pictures_counts_for_nothing():
    assert beyond_luck(np.array([3.0]), draws=1_000)[0] == 0
    assert beyond_luck(np.array([5.0]), draws=1_000)[0] == pytest.approx(5 - np.sqrt(2 * np.log(1_000)))
    assert beyond_luck(np.array([1.0]), draws=1)[0] == 1.0


@given(SCORES, st.integers(1, 40))
def test_the_best_come_first_and_of_equal_ones_the_newest(scores, k):
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], -row))[:k]
    assert best_first(scores, k).tolist() == expected


def test_a_few_can_stand_for_all():
    scores = np.array([1.0, 2.0, 3.0, 50.0])
    np.testing.assert_allclose(zscores(scores, np.array([0, 1, 2]))[:3], zscores(scores[:3]))


@given(SCORES)
def test_scores_shown_are_between_0_and_1_and_keep_the_order(scores):
    shown = logistic(zscores(scores))
    assert ((shown > 0) & (shown < 1)).all()
    assert (np.diff(shown[np.argsort(scores)]) >= 0).all()
