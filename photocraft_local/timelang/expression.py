"""A meaning in the search expression language: fields date, time, month, day, weekday, hour,
clock, and holiday().

Knows how a filter is written, not how it runs.
"""

from __future__ import annotations

import json
from datetime import datetime, time

from photocraft_local.timelang.spans import (
    BEGIN,
    DAY_MINUTES,
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
        _every_month(when.year_days) or _any_of([_days(*span) for span in when.year_days]),
        _member("weekday", [f'"{_WEEKDAYS[day]}"' for day in when.weekdays if day >= 0]),
        _any_of([_hours(low, high) for low, high in around_midnight(when.hours)]),
        _any_of([f"holiday({json.dumps(name)})" for name in when.holidays]),
        *(f"not ({expression_of(other)})" for other in when.without),
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


def _every_month(spans: tuple[tuple[MonthDay, MonthDay], ...]) -> str:
    """ "on the 25th": the same days of all months."""
    days = {(first[1], last[1]) for first, last in spans}
    if len(spans) != 12 or len(days) != 1 or any(a[0] != b[0] for a, b in spans):
        return ""
    return f"day == {spans[0][0][1]}" if spans[0][0] == spans[0][1] else ""


def _hours(low: int, high: int) -> str:
    """Minutes of the day; whole hours by the simpler field."""
    if low % 60 or high % 60:
        field, first, last = "clock", *(f'"{m // 60:02d}:{m % 60:02d}"' for m in (low, high))
    else:
        field, first, last = "hour", str(low // 60), str(high // 60)
        if high == low + 60:
            return f"hour == {first}"
    if low > high:
        return f"({field} >= {first} or {field} < {last})"
    if high == DAY_MINUTES:
        return f"{field} >= {first}"
    return f"{field} < {last}" if low == 0 else f"{field} >= {first} and {field} < {last}"
