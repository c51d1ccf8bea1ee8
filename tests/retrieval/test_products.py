"""Products of whole numbers are exact, whichever way the machine makes them."""

from __future__ import annotations

import numpy as np
import pytest

from mmmem.retrieval import products as module
from mmmem.retrieval.dense import whole_cosine
from mmmem.retrieval.products import LONGEST, products
from mmmem.store.columns import inverse_norms, whole_rows


@pytest.fixture(params=[True, False], ids=["native", "widened"])
def way(request, monkeypatch):
    if request.param and not module._NATIVE:
        pytest.skip("this CPU does not multiply int8")
    monkeypatch.setattr(module, "_NATIVE", request.param)


def waves(rows, columns):
    grid = np.outer(np.arange(1, rows + 1), np.arange(1, columns + 1))
    return np.rint(127 * np.sin(grid * 0.37)).astype(np.int8)


def ones(rows):
    return np.ones(rows, np.float32)


@pytest.mark.parametrize("queries", [1, 2, 11, 16, 48])
@pytest.mark.parametrize("rows", [1, 15, 16, 17, 2_048, 5_001])
def test_they_are_what_whole_numbers_give(way, queries, rows):
    asked, vectors = waves(queries, 128), waves(rows, 128)[::-1].copy()
    expected = asked.astype(np.int64) @ vectors.astype(np.int64).T
    found = products(asked, vectors, ones(rows))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("queries", [1, 16])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_longest_vectors_of_the_largest_numbers_do_not_overflow(way, queries, sign):
    asked = np.full((queries, LONGEST), sign * 127, np.int8)
    vectors = np.full((3, LONGEST), -128, np.int8)
    expected = np.full((queries, 3), -128 * sign * 127 * LONGEST)
    np.testing.assert_array_equal(products(asked, vectors, ones(3)), expected)


def test_vectors_that_may_not_be_written_to_are_left_as_they_are(way):
    asked, vectors = waves(16, 128), waves(20, 128)
    vectors.setflags(write=False)
    np.testing.assert_array_equal(products(asked, vectors, ones(20)), products(asked, vectors.copy(), ones(20)))


def test_each_vector_has_a_scale_of_its_own(way):
    asked, vectors, scales = waves(16, 128), waves(40, 128), (1 / np.arange(1, 41)).astype(np.float32)
    exact = asked.astype(np.int64) @ vectors.astype(np.int64).T
    np.testing.assert_array_equal(products(asked, vectors, scales), exact.astype(np.float32) * scales)


def test_longer_vectors_give_the_nearest_float32(way):
    asked, vectors = np.full((16, 4_097), 127, np.int8), np.full((3, 4_097), 127, np.int8)
    asked[:, 0] = 126
    exact = asked.astype(np.int64) @ vectors.astype(np.int64).T
    np.testing.assert_array_equal(products(asked, vectors, ones(3)), exact.astype(np.float32))


def test_cosines_of_whole_numbers_are_near_those_of_what_they_stand_for():
    rows = np.array([waves(1, 384)[0], np.cos(np.arange(384.0)), np.zeros(384)], np.float32)
    rows[:2] /= np.linalg.norm(rows[:2], axis=1, keepdims=True)
    whole = whole_rows(rows)
    for query in rows[:2]:
        np.testing.assert_allclose(whole_cosine(query, whole, inverse_norms(whole)), rows @ query, atol=0.005)
