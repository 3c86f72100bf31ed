"""A meaning in the search expression language: fields date, time, month, day, weekday, hour.

Knows how a filter is written, not how it runs.
"""

from __future__ import annotations

from datetime import datetime, time

from photocraft_local.timelang.spans import (
    BEGIN,
    END,
    Interval,
    MonthDay,
    TimeFields,
    around_midnight,
)

_NEVER = "has_time and not has_time"
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def expression_of(when: TimeFields) -> str:
    """The filter that ``When.contains`` is; it is true of every photo with a time if nothing is
    set."""
    parts = [
        _any_of([_interval(interval) for interval in when.intervals]),
        _member("month", [str(month) for month in when.months]),
        _any_of([_days(first, last) for first, last in when.year_days]),
        _member("weekday", [f'"{_WEEKDAYS[day]}"' for day in when.weekdays if day >= 0]),
        _any_of([_hours(low, high) for low, high in around_midnight(when.hours)]),
    ]
    if when.weekdays == (-1,) or when.hours == ((0, 0),):
        parts = [_NEVER]
    return " and ".join(part for part in parts if part) or "has_time"


def _any_of(parts: list[str]) -> str:
    if len(parts) <= 1:
        return "".join(parts)
    return "(" + " or ".join(f"({part})" if " and " in part else part for part in parts) + ")"


def _member(field: str, values: list[str]) -> str:
    if len(values) <= 1:
        return f"{field} == {values[0]}" if values else ""
    return f"{field} in ({', '.join(values)})"


def _interval(interval: Interval) -> str:
    start, end = interval
    if start >= end:
        return _NEVER
    field = "date" if _whole_day(start) and _whole_day(end) else "time"
    parts = []
    if start != BEGIN:
        parts.append(f"{field} >= {_moment(start, field)}")
    if end != END:
        parts.append(f"{field} < {_moment(end, field)}")
    return " and ".join(parts) or "has_time"


def _whole_day(moment: datetime) -> bool:
    return moment in (BEGIN, END) or moment.time() == time.min


def _moment(moment: datetime, field: str) -> str:
    shown = moment.date().isoformat() if field == "date" else moment.isoformat()
    return f'"{shown}"'


def _days(first: MonthDay, last: MonthDay) -> str:
    """Days of every year: parts of the first and last month and whole months between."""
    if first[0] == last[0] and first <= last:
        days = f"day == {first[1]}" if first == last else f"day >= {first[1]} and day <= {last[1]}"
        return f"month == {first[0]} and {days}"
    parts = [f"(month == {first[0]} and day >= {first[1]})"]
    between = [(first[0] + step - 1) % 12 + 1 for step in range(1, (last[0] - first[0]) % 12)]
    if between:
        parts.append(_member("month", [str(month) for month in sorted(between)]))
    parts.append(f"(month == {last[0]} and day <= {last[1]})")
    return "(" + " or ".join(parts) + ")"


def _hours(low: int, high: int) -> str:
    if high == low + 1:
        return f"hour == {low}"
    if low > high:
        return f"(hour >= {low} or hour < {high})"
    if high == 24:
        return f"hour >= {low}"
    return f"hour < {high}" if low == 0 else f"hour >= {low} and hour < {high}"
