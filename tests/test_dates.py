"""Dates that people write in questions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mmmem.dates import NamedDate, named_dates


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("When did she go on 7 June 2023?", [(2023, 6, 7)]),
        ("the 3rd of August, 2023 and 5 Sep", [(2023, 8, 3), (2023, 9, 5)]),
        ("March 7th, 2022", [(2022, 3, 7)]),
        ("what happened last May", [(None, 5, None)]),
        ("Sept. of 2021", [(2021, 9, None)]),
        ("In 2023, what did I do in July?", [(2023, 7, None)]),
        ("between May 2022 and June 2023", [(2022, 5, None), (2023, 6, None)]),
        ("2023-06-07", [(2023, 6, 7)]),
        ("2023/06", [(2023, 6, None)]),
        ("6月7日我去了哪里", [(None, 6, 7)]),
        ("2023年五月", [(2023, 5, None)]),
        ("十二月", [(None, 12, None)]),
        ("since 2019", [(2019, None, None)]),
        ("you may march on", []),
        ("may 5", [(None, 5, 5)]),
        ("version 2.2023.1 of 20230607, call 2023456", []),
        ("2023-13-40", [(2023, None, None)]),  # no such day, but the year is named
        ("no date here", []),
    ],
)
def test_dates_are_read_as_people_mean_them(text, dates):
    assert named_dates(text) == [NamedDate(*date) for date in dates]


def ms(*date):
    return int(datetime(*date, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("date", "windows"),
    [
        ((2023, 6, 7), [(ms(2023, 6, 7), ms(2023, 6, 8))]),
        ((2024, 2, None), [(ms(2024, 2, 1), ms(2024, 3, 1))]),
        ((2023, None, None), [(ms(2023, 1, 1), ms(2024, 1, 1))]),
        ((None, 12, None), [(ms(2022, 12, 1), ms(2023, 1, 1)), (ms(2023, 12, 1), ms(2024, 1, 1))]),
        ((None, 2, 29), []),
        ((2023, 2, 31), []),
    ],
)
def test_a_date_is_a_window_in_each_year_in_which_it_exists(date, windows):
    assert NamedDate(*date).windows((2022, 2023)) == windows
