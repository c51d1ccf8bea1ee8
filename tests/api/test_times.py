"""Times go in as Unix milliseconds, or seconds by mistake, and come out as ISO 8601 in UTC."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmmem.api.times import read_timestamp, write_timestamp
from mmmem.errors import InvalidInput
from mmmem.types import FIRST_MOMENT as FIRST
from mmmem.types import LAST_MOMENT as LAST


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (1_704_067_200_000, "2024-01-01T00:00:00Z"),
        (1_704_067_200_120, "2024-01-01T00:00:00.120Z"),
        (FIRST, "0001-01-01T00:00:00Z"),
        (LAST, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_milliseconds_are_written_as_iso_8601(milliseconds: int, text: str) -> None:
    assert read_timestamp(milliseconds, "timestamp") == milliseconds
    assert write_timestamp(milliseconds) == text


@given(st.integers(FIRST, LAST))
def test_every_moment_is_written_exactly(milliseconds: int) -> None:
    moment = datetime.fromisoformat(write_timestamp(milliseconds))
    assert moment.tzinfo == UTC
    assert round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000) == milliseconds


@pytest.mark.parametrize("seconds", [100_000_000, 1_704_067_200, 4_102_444_800, 99_999_999_999])
def test_seconds_are_recognised(seconds: int) -> None:
    assert read_timestamp(seconds, "timestamp") == seconds * 1000


@pytest.mark.parametrize("milliseconds", [0, 1, 1_000, 99_999_999, 100_000_000_000, -1_704_067_200, -1_704_067_200_000])
def test_small_and_negative_values_stay_milliseconds(milliseconds: int) -> None:
    assert read_timestamp(milliseconds, "timestamp") == milliseconds


def test_no_timestamp_is_none() -> None:
    assert read_timestamp(None, "timestamp") is None


@pytest.mark.parametrize("value", [FIRST - 1, LAST + 1, 1_704_067_200_000_000, 10**400, -(10**400)])
def test_moments_outside_the_calendar_are_refused(value: int) -> None:
    with pytest.raises(InvalidInput, match="years 1 to 9999") as caught:
        read_timestamp(value, "messages.2.timestamp")
    assert caught.value.field == "messages.2.timestamp"
