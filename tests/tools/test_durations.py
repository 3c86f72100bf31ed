"""Words for a stretch of time around a photo."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from photocraft_local.errors import TimeWordsError
from photocraft_local.tools.durations import duration, window

NOON = datetime(2021, 6, 14, 12, 0, 0, 500_000)


@pytest.mark.parametrize(
    ("words", "minutes"),
    [("30m", 30), ("1h", 60), ("1h 30m", 90), ("2d", 2880), ("1.5 hours", 90), ("1 Week", 10080)],
)
def test_lengths(words: str, minutes: int) -> None:
    assert duration(words) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    "words", ["", "soon", "1", "h", "-1h", "0m", "1h and a bit", "1 parsec", "9999999d", "1e9h"]
)
def test_other_words_are_answered_with_the_forms(words: str) -> None:
    with pytest.raises(TimeWordsError) as caught:
        duration(words)
    assert "'1h 30m'" in caught.value.hint


def test_both_ends_count() -> None:
    before = window("1h", NOON, "before")
    assert before.start == datetime(2021, 6, 14, 11)
    assert before.end == datetime(2021, 6, 14, 12, 0, 1)
    after = window("1h", NOON, "after")
    assert after.start == datetime(2021, 6, 14, 12)
    assert after.end == datetime(2021, 6, 14, 13, 0, 1)


def test_calendar_days() -> None:
    assert window("same day", NOON, "before").start == datetime(2021, 6, 14)
    assert window("Same-Day", NOON, "after").end == datetime(2021, 6, 15)
    assert window("next day", NOON, "after").start == datetime(2021, 6, 15)
    assert window("previous_day", NOON, "before").end == datetime(2021, 6, 14)


def test_the_day_after_does_not_lie_before() -> None:
    with pytest.raises(TimeWordsError) as caught:
        window("next day", NOON, "before")
    assert "'after'" in caught.value.hint


def test_the_ends_of_the_calendar_hold() -> None:
    late = datetime.max
    assert window("100w", late, "after").end == datetime.max
    assert window("next day", late, "after").end == datetime.max
    assert window("same day", datetime(1, 1, 1), "before").start == datetime.min
