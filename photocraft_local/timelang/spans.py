"""Stretches of time and sets of hours: the fields of a meaning, and how they are combined.

Knows neither words nor how a meaning is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

BEGIN, END = datetime.min, datetime.max  # open ends

Interval = tuple[datetime, datetime]
MonthDay = tuple[int, int]
Hours = tuple[tuple[int, int], ...]  # minutes of the day, [from, to) of 0…1440


class TimeFields(Protocol):
    """The fields of ``When``, for those who only read them."""

    @property
    def intervals(self) -> tuple[Interval, ...]: ...
    @property
    def months(self) -> tuple[int, ...]: ...
    @property
    def year_days(self) -> tuple[tuple[MonthDay, MonthDay], ...]: ...
    @property
    def weekdays(self) -> tuple[int, ...]: ...
    @property
    def hours(self) -> Hours: ...
    @property
    def holidays(self) -> tuple[str, ...]: ...
    @property
    def without(self) -> Sequence[TimeFields]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...


DAY_MINUTES = 24 * 60
NIGHT = ((0, 5 * 60), (21 * 60, DAY_MINUTES))
_NIGHT_START = timedelta(hours=21)
_NIGHT_LENGTH = timedelta(hours=8)
_DAY = timedelta(days=1)


def around_midnight(hours: Hours) -> list[tuple[int, int]]:
    """Ranges of a day, two that meet at midnight as one that wraps: 21:00 to 05:00."""
    if len(hours) > 1 and hours[0][0] == 0 and hours[-1][1] == DAY_MINUTES:
        return [*hours[1:-1], (hours[-1][0], hours[0][1])]
    return list(hours)


def in_days(day: MonthDay, span: tuple[MonthDay, MonthDay]) -> bool:
    first, last = span
    return first <= day <= last if first <= last else day >= first or day <= last


def is_one_day(intervals: tuple[Interval, ...]) -> bool:
    return bool(intervals) and all(end - start == _DAY for start, end in intervals)


def nights(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    return tuple(
        (start + _NIGHT_START, start + _NIGHT_START + _NIGHT_LENGTH) for start, _ in intervals
    )


def both(left: tuple[Interval, ...], right: tuple[Interval, ...]) -> tuple[Interval, ...]:
    if not left or not right:
        return left or right
    cuts = ((max(a, c), min(b, d)) for a, b in left for c, d in right)
    kept = tuple(sorted((start, end) for start, end in cuts if start < end))
    return kept or ((BEGIN, BEGIN),)  # nothing can be meant; not the same as anything


def merged(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    result: list[Interval] = []
    for start, end in sorted(intervals):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return tuple(result)


def common(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    if not left or not right:
        return left or right
    return tuple(sorted(set(left) & set(right))) or (-1,)  # (-1,): no such month or weekday


def common_hours(left: Hours, right: Hours) -> Hours:
    if not left or not right:
        return left or right
    cuts = [(max(a, c), min(b, d)) for a, b in left for c, d in right]
    return tuple(sorted((low, high) for low, high in cuts if low < high)) or ((0, 0),)


def merged_hours(hours: Hours) -> Hours:
    result: list[tuple[int, int]] = []
    for low, high in sorted(hours):
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def span_of_day(low: int, high: int) -> Hours:
    """Minutes ``low`` to ``high``, each taken modulo a day: over midnight if need be."""
    if high - low >= DAY_MINUTES:
        return ((0, DAY_MINUTES),)
    low, high = low % DAY_MINUTES, high % DAY_MINUTES or DAY_MINUTES
    spans = ((low, high),) if low < high else ((0, high), (low, DAY_MINUTES))
    return tuple(span for span in spans if span[0] < span[1])
