"""What words for time mean: intervals and recurring masks, and their two written forms.

Times are wall-clock times where a photo was taken, naive; intervals are half-open. A time is
meant if it lies in one of the intervals and passes every mask that is set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

BEGIN, END = datetime.min, datetime.max  # open ends

Interval = tuple[datetime, datetime]
MonthDay = tuple[int, int]


@dataclass(frozen=True, slots=True)
class When:
    """The meaning of some words. A mask that is empty lets everything pass."""

    intervals: tuple[Interval, ...] = ()  # [start, end), sorted, apart; empty: any time
    months: tuple[int, ...] = ()  # 1…12
    year_days: tuple[tuple[MonthDay, MonthDay], ...] = ()  # first and last day, each year
    weekdays: tuple[int, ...] = ()  # Monday 0 … Sunday 6
    hours: tuple[tuple[int, int], ...] = ()  # [from, to) of 0…24, sorted, apart
    text: str = ""  # the words
    notes: tuple[str, ...] = ()  # what is ambiguous, and how it was taken

    @property
    def meaning(self) -> str:
        """In words, e.g. ``"May 2021, Saturday or Sunday"``; the notes follow in brackets."""
        from photocraft_local.timelang.wording import in_words

        return in_words(self)

    def to_expression(self) -> str:
        """In the search expression language, e.g. ``date >= "2021-05-01" and …``."""
        from photocraft_local.timelang.expression import expression_of

        return expression_of(self)

    def contains(self, moment: datetime) -> bool:
        """Whether a wall-clock time is meant."""
        day = (moment.month, moment.day)
        return (
            (not self.intervals or any(start <= moment < end for start, end in self.intervals))
            and (not self.months or moment.month in self.months)
            and (not self.year_days or any(_in_days(day, span) for span in self.year_days))
            and (not self.weekdays or moment.weekday() in self.weekdays)
            and (not self.hours or any(low <= moment.hour < high for low, high in self.hours))
        )

    def __and__(self, other: When) -> When:
        """Both meanings at once. A night belongs to the day on which it begins."""
        for night, day in ((self, other), (other, self)):
            if night.hours == NIGHT and not day.hours and _one_day(day.intervals):
                return replace(day, intervals=_nights(day.intervals), notes=day.notes)
        return When(
            intervals=_both(self.intervals, other.intervals),
            months=_common(self.months, other.months),
            year_days=self.year_days or other.year_days,
            weekdays=_common(self.weekdays, other.weekdays),
            hours=_common_hours(self.hours, other.hours),
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
        )

    def can_join(self, other: When) -> bool:
        """Whether "this or other" is one When: both set the same single field."""
        mine, theirs = self._set_fields(), other._set_fields()
        return mine == theirs and len(mine) == 1

    def __or__(self, other: When) -> When:
        """Either meaning; only where ``can_join`` holds."""
        if not self.can_join(other):
            raise ValueError("only meanings of one kind can be joined")
        return When(
            intervals=_merged(self.intervals + other.intervals),
            months=tuple(sorted({*self.months, *other.months})),
            year_days=tuple(sorted({*self.year_days, *other.year_days})),
            weekdays=tuple(sorted({*self.weekdays, *other.weekdays})),
            hours=_merged_hours(self.hours + other.hours),
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
        )

    def _set_fields(self) -> list[str]:
        names = ("intervals", "months", "year_days", "weekdays", "hours")
        return [name for name in names if getattr(self, name)]


@dataclass(frozen=True, slots=True)
class TimeMention:
    """``text[start:end]`` are words for a time, with the small words that belong to them."""

    start: int
    end: int
    text: str
    when: When


NIGHT = ((0, 5), (21, 24))
_NIGHT_START = timedelta(hours=21)
_NIGHT_LENGTH = timedelta(hours=8)
_DAY = timedelta(days=1)


def around_midnight(hours: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Ranges of hours, two that meet at midnight as one that wraps: (21, 5)."""
    if len(hours) > 1 and hours[0][0] == 0 and hours[-1][1] == 24:
        return [*hours[1:-1], (hours[-1][0], hours[0][1])]
    return list(hours)


def _in_days(day: MonthDay, span: tuple[MonthDay, MonthDay]) -> bool:
    first, last = span
    return first <= day <= last if first <= last else day >= first or day <= last


def _one_day(intervals: tuple[Interval, ...]) -> bool:
    return bool(intervals) and all(end - start == _DAY for start, end in intervals)


def _nights(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    return tuple(
        (start + _NIGHT_START, start + _NIGHT_START + _NIGHT_LENGTH) for start, _ in intervals
    )


def _both(left: tuple[Interval, ...], right: tuple[Interval, ...]) -> tuple[Interval, ...]:
    if not left or not right:
        return left or right
    cuts = ((max(a, c), min(b, d)) for a, b in left for c, d in right)
    kept = tuple(sorted((start, end) for start, end in cuts if start < end))
    return kept or ((BEGIN, BEGIN),)  # nothing can be meant; not the same as anything


def _merged(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    result: list[Interval] = []
    for start, end in sorted(intervals):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return tuple(result)


def _common(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    if not left or not right:
        return left or right
    return tuple(sorted(set(left) & set(right))) or (-1,)  # (-1,): no such month or weekday


def _common_hours(
    left: tuple[tuple[int, int], ...], right: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    if not left or not right:
        return left or right
    cuts = [(max(a, c), min(b, d)) for a, b in left for c, d in right]
    return tuple(sorted((low, high) for low, high in cuts if low < high)) or ((0, 0),)


def _merged_hours(hours: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    taken = sorted({hour for low, high in hours for hour in range(low, high)})
    result: list[tuple[int, int]] = []
    for hour in taken:
        if result and result[-1][1] == hour:
            result[-1] = (result[-1][0], hour + 1)
        else:
            result.append((hour, hour + 1))
    return tuple(result)
