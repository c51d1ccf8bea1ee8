"""A floor of places for each need: arrays in, an order out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmmem.retrieval.selection import newest_forward, reaching, reranked, with_floors


def rows(*values):
    return np.array(values, dtype=np.int64)


def test_the_best_of_a_need_takes_the_last_place_that_no_need_asks_for():
    order = with_floors(rows(5, 6, 7, 8, 9, 1), [rows(5, 7), rows(1, 9)], places=4, floor=1)
    assert order.tolist() == [5, 6, 7, 1, 8, 9]


def test_what_is_among_the_first_already_stays_where_it_is():
    assert with_floors(rows(4, 3, 2, 1), [rows(2, 4), rows(3, 1)], places=3, floor=1).tolist() == [4, 3, 2, 1]


def test_a_memory_that_the_ranking_does_not_hold_comes_in():
    order = with_floors(rows(1, 2), [rows(9), rows(2)], places=2, floor=1)
    assert order.tolist() == [2, 9, 1]


@given(st.integers(0, 12), st.integers(1, 6), st.integers(1, 5), st.data())
def test_every_need_has_its_places_and_nothing_is_lost_or_doubled(n, places, floor, data):
    order = rows(*data.draw(st.permutations(range(n))))
    needs = [rows(*data.draw(st.permutations(range(n)))) for _ in range(data.draw(st.integers(1, 3)))]
    found = with_floors(order, needs, places=places, floor=floor)
    assert sorted(found.tolist()) == list(range(n))
    if len(needs) * floor <= places:
        for need in needs:
            assert set(need[:floor].tolist()) <= set(found[:places].tolist())
    kept = [row for row in found[:places].tolist() if row in order[:places].tolist()]
    assert kept == [row for row in order[:places].tolist() if row in kept], "those that stay keep their order"


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=20), st.integers(1, 6))
def test_what_is_not_counted_changes_no_order_among_the_others_by_age(memories, depth):
    times, counted = rows(*(time for time, _ in memories)), np.array([counts for _, counts in memories])
    scores, order = np.linspace(1, 0.5, len(memories)), np.arange(len(memories))

    def by_age(some):
        head = reaching(counted[some], depth)
        return newest_forward(order[some], scores[some], times[some], counted=counted[some], depth=head, nudge=0.1)

    together, alone = by_age(order), by_age(order[counted])
    assert together[counted[together]].tolist() == alone.tolist()


def test_a_closer_look_compares_memories_among_their_own_kind():
    said, shown = np.array([True, True, True, False, False]), np.array([False, False, False, True, True])
    scores, looked = np.array([3.0, 2.0, 1.0, 2.5, 1.5]), np.array([0.1, 0.2, 0.9, 50.0, 70.0])
    order = reranked(rows(0, 1, 2, 3, 4), scores, scores, looked, counted=said, weight=1.0)
    assert [row for row in order.tolist() if said[row]] == [2, 1, 0]
    assert [row for row in order.tolist() if shown[row]] == [4, 3]
