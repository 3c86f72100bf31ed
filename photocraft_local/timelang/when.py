"""What words for time mean: intervals and recurring masks, and their two written forms.

Times are wall-clock times where a photo was taken, naive; intervals are half-open. A time is
meant if it lies in one of the intervals and passes every mask that is set.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from photocraft_local.timelang.expression import expression_of
from photocraft_local.timelang.holidays import is_on
from photocraft_local.timelang.spans import (
    NIGHT,
    Interval,
    MonthDay,
    both,
    common,
    common_hours,
    in_days,
    is_one_day,
    merged,
    merged_hours,
    nights,
)
from photocraft_local.timelang.wording import in_words


@dataclass(frozen=True, slots=True)
class When:
    """The meaning of some words. A mask that is empty lets everything pass."""

    intervals: tuple[Interval, ...] = ()  # [start, end), sorted, apart; empty: any time
    months: tuple[int, ...] = ()  # 1…12
    year_days: tuple[tuple[MonthDay, MonthDay], ...] = ()  # first and last day, each year
    weekdays: tuple[int, ...] = ()  # Monday 0 … Sunday 6
    hours: tuple[tuple[int, int], ...] = ()  # minutes of the day, [from, to), sorted, apart
    holidays: tuple[str, ...] = ()  # days that move from year to year, e.g. "easter"
    without: tuple[When, ...] = ()  # times that are left out
    text: str = ""  # the words
    notes: tuple[str, ...] = ()  # what is ambiguous, and how it was taken

    @property
    def meaning(self) -> str:
        """In words, e.g. ``"May 2021, Saturday or Sunday"``; the notes follow in brackets."""
        return in_words(self)

    def to_expression(self) -> str:
        """In the search expression language, e.g. ``date >= "2021-05-01" and …``."""
        return expression_of(self)

    def contains(self, moment: datetime) -> bool:
        """Whether a wall-clock time is meant."""
        day, minute = (moment.month, moment.day), moment.hour * 60 + moment.minute
        return (
            (not self.intervals or any(start <= moment < end for start, end in self.intervals))
            and (not self.months or moment.month in self.months)
            and (not self.year_days or any(in_days(day, span) for span in self.year_days))
            and (not self.weekdays or moment.weekday() in self.weekdays)
            and (not self.hours or any(low <= minute < high for low, high in self.hours))
            and (not self.holidays or any(is_on(name, moment) for name in self.holidays))
            and not any(other.contains(moment) for other in self.without)
        )

    def negated(self) -> When:
        """Every time but this: "not in 2021"."""
        return When(without=(replace(self, text=""),), text=self.text)

    def __and__(self, other: When) -> When:
        """Both meanings at once. A night belongs to the day on which it begins."""
        for night, day in ((self, other), (other, self)):
            if night.hours == NIGHT and not day.hours and is_one_day(day.intervals):
                left_out = self.without + other.without
                return replace(day, intervals=nights(day.intervals), without=left_out)
        return When(
            intervals=both(self.intervals, other.intervals),
            months=common(self.months, other.months),
            year_days=self.year_days or other.year_days,
            weekdays=common(self.weekdays, other.weekdays),
            hours=common_hours(self.hours, other.hours),
            holidays=self.holidays or other.holidays,
            without=self.without + other.without + self._also(other),
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
        )

    def _also(self, other: When) -> tuple[When, ...]:
        """What one list of days cannot say of two: in ``other``'s days too, as not outside."""
        both_set = (self.year_days and other.year_days, self.holidays and other.holidays)
        days = When(year_days=other.year_days) if both_set[0] else None
        names = When(holidays=other.holidays) if both_set[1] else None
        return tuple(part.negated() for part in (days, names) if part)

    def excludes(self, other: When) -> bool:
        """Whether no moment can be meant by both: so says a field that both set."""
        spans = ((self.intervals, other.intervals), (self.hours, other.hours))
        lists = ((self.months, other.months), (self.weekdays, other.weekdays))
        return any(
            mine and theirs and not set(mine) & set(theirs) for mine, theirs in lists
        ) or any(mine and theirs and not _overlap(mine, theirs) for mine, theirs in spans)

    def can_join(self, other: When) -> bool:
        """Whether "this or other" is one When: both set the same single field."""
        mine, theirs = self._set_fields(), other._set_fields()
        return mine == theirs and len(mine) == 1 and mine != ["without"]

    def __or__(self, other: When) -> When:
        """Either meaning; only where ``can_join`` holds."""
        if not self.can_join(other):
            raise ValueError("only meanings of one kind can be joined")
        return When(
            intervals=merged(self.intervals + other.intervals),
            months=tuple(sorted({*self.months, *other.months})),
            year_days=tuple(sorted({*self.year_days, *other.year_days})),
            weekdays=tuple(sorted({*self.weekdays, *other.weekdays})),
            hours=merged_hours(self.hours + other.hours),
            holidays=tuple(sorted({*self.holidays, *other.holidays})),
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
        )

    def _set_fields(self) -> list[str]:
        names = ("intervals", "months", "year_days", "weekdays", "hours", "holidays", "without")
        return [name for name in names if getattr(self, name)]


def _overlap(some: Iterable[tuple[Any, Any]], others: Iterable[tuple[Any, Any]]) -> bool:
    return any(max(one[0], two[0]) < min(one[1], two[1]) for one in some for two in others)


@dataclass(frozen=True, slots=True)
class TimeMention:
    """``text[start:end]`` are words for a time, with the small words that belong to them.

    ``negated``: every time but this one is meant ("not in 2021"); the span holds the NOT.
    """

    start: int
    end: int
    text: str
    when: When
    negated: bool = False
