"""The inverted index says the same however it grew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmmem.store.postings import DocumentFrequencies, Postings

MEMORIES = st.lists(st.lists(st.integers(-3, 5), max_size=6), max_size=20)


def flat(memories, first=0):
    terms = np.array([term for memory in memories for term in memory], dtype=np.int64)
    rows = np.repeat(np.arange(first, first + len(memories), dtype=np.int32), [len(memory) for memory in memories])
    return terms, rows


def grown(kind, memories, cuts):
    index, first = kind, 0
    for end in sorted({min(cut, len(memories)) for cut in cuts} | {len(memories)}):
        index = index.plus(*flat(memories[first:end], first))
        first = end
    return index


@given(MEMORIES, st.lists(st.integers(0, 20)))
def test_postings_are_the_rows_that_hold_a_term_and_how_often(memories, cuts):
    index = grown(Postings(), memories, cuts)
    for term in range(-3, 6):
        expected = [(row, memory.count(term)) for row, memory in enumerate(memories) if term in memory]
        found = index.of(np.array([term, term]))
        assert [pair for rows, counts in found for pair in zip(rows.tolist(), counts.tolist(), strict=True)] == expected
        assert len(found) == bool(expected)


@given(MEMORIES, st.lists(st.integers(0, 20)))
def test_a_token_counts_once_in_each_memory(memories, cuts):
    memories = [[abs(token) for token in memory] for memory in memories]
    tokens = np.arange(7, dtype=np.int32)
    index = DocumentFrequencies.empty()
    first = 0
    for end in sorted({min(cut, len(memories)) for cut in cuts} | {len(memories)}):
        terms, rows = flat(memories[first:end], first)
        index = index.plus(terms.astype(np.int32), rows)
        first = end
    assert index.of(tokens).tolist() == [sum(token in memory for memory in memories) for token in range(7)]


def test_a_snapshot_is_not_changed_by_what_comes_later():
    early = Postings().plus(*flat([[1, 2], [2]]))
    later = early.plus(*flat([[2, 2]], first=2))
    assert [rows.tolist() for rows, _ in early.of(np.array([2]))] == [[0, 1]]
    assert [(rows.tolist(), counts.tolist()) for rows, counts in later.of(np.array([2]))] == [([0, 1, 2], [1, 1, 2])]


def test_many_small_writes_leave_few_segments():
    index = Postings()
    for row in range(2_000):
        index = index.plus(np.array([row % 50, 99]), np.array([row, row], dtype=np.int32))
    assert len(index._segments) <= 12
    assert index.nbytes < 2_000 * 2 * 16 * 1.5
