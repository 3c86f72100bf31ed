"""Words for a stretch of time around a photo."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

import numpy as np
import pytest

from photocraft_local.errors import TimeWordsError
from photocraft_local.tools.durations import Side, duration, in_time

NOON = datetime(2021, 6, 14, 12, tzinfo=UTC)
SIDES: tuple[Side, ...] = get_args(Side)


@pytest.mark.parametrize(
    ("words", "minutes"),
    [
        ("120s", 2),
        ("30m", 30),
        ("1h", 60),
        ("1h 30m", 90),
        ("2d", 2880),
        ("1.5 hours", 90),
        ("1 Week", 10080),
    ],
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


def reach(words: str, side: Side, *, own: bool = False) -> tuple[datetime, datetime]:
    """First and last whole second of the stretch around noon."""
    window = in_time(words, side, own=own)
    seconds = np.array([int(NOON.timestamp())])
    origin = datetime.fromtimestamp(int(window.origin(seconds)[0]), UTC)
    return origin + timedelta(seconds=window.low), origin + timedelta(seconds=window.high - 1)


def at(day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(2021, 6, day, hour, minute, second, tzinfo=UTC)


def test_the_far_end_counts_and_the_instant_itself_only_if_asked() -> None:
    assert reach("1h", "before") == (at(14, 11), at(14, 11, 59, 59))
    assert reach("1h", "before", own=True) == (at(14, 11), at(14, 12))
    assert reach("1h", "after") == (at(14, 12, 0, 1), at(14, 13))
    assert reach("90s", "after", own=True) == (at(14, 12), at(14, 12, 1, 30))


def test_calendar_days() -> None:
    for side in SIDES:
        assert reach("same day", side) == (at(14), at(14, 23, 59, 59))
    assert reach("Same-Day", "after") == reach("same day", "after")
    assert reach("next day", "after") == (at(15), at(15, 23, 59, 59))
    assert reach("previous_day", "before") == (at(13), at(13, 23, 59, 59))


def test_any_time_is_longer_than_the_calendar() -> None:
    longest = (datetime.max - datetime.min).total_seconds()
    assert in_time("any time", "after", own=False).high > longest
    assert in_time("Any  time", "before", own=False).low < -longest


def test_the_day_after_does_not_lie_before() -> None:
    with pytest.raises(TimeWordsError) as caught:
        in_time("next day", "before", own=False)
    assert "'after'" in caught.value.hint
