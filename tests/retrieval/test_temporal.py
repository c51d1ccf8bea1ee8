"""Memories of the time that a question names are near it, and the nearer the better."""

from __future__ import annotations

import numpy as np

from mmmem.retrieval.temporal import DAY, nearness

JUNE = (1_685_577_600_000, 1_688_169_600_000)


def near(*days_from_the_start):
    times = np.array([JUNE[0] + int(day * DAY) for day in days_from_the_start])
    return nearness(times, np.ones(len(times), dtype=bool), [JUNE])


def test_within_the_time_it_is_1_and_it_falls_off_on_both_sides():
    inside, week_after, month_after, year_after = near(10, 37, 60, 365)
    assert inside == 1
    assert 1 > week_after > month_after > year_after
    day_before, month_before = near(-1, -30)
    assert 1 > day_before > month_before


def test_what_is_told_later_is_nearer_than_what_was_told_as_much_earlier():
    earlier, later = near(-5, 35)
    assert later > earlier


def test_the_nearest_of_several_times_counts():
    other = (JUNE[0] - 365 * DAY, JUNE[1] - 365 * DAY)
    times = np.array([other[0] + DAY, JUNE[0] + DAY, JUNE[0] - 180 * DAY])
    scores = nearness(times, np.ones(3, dtype=bool), [JUNE, other])
    assert scores[0] == scores[1] == 1 > scores[2]


def test_a_memory_without_a_time_has_no_say():
    assert np.isnan(nearness(np.array([0]), np.array([False]), [JUNE])[0])
