"""A meaning in English words, the same for the same meaning whatever was written."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from photocraft_local.timelang.spans import (
    BEGIN,
    END,
    Interval,
    MonthDay,
    TimeFields,
    around_midnight,
)

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY = timedelta(days=1)


def in_words(when: TimeFields) -> str:
    parts = [
        _either([_interval(interval) for interval in when.intervals]),
        _either([_month(month) for month in when.months]),
        _of_month(when.year_days) or _either([_days(*span) for span in when.year_days]),
        _either([WEEKDAYS[day] if day >= 0 else "no weekday" for day in when.weekdays]),
        _hours(when.hours),
        _either([_name(holiday) for holiday in when.holidays]),
    ]
    said = ", ".join(part for part in parts if part) or "any time"
    said += "".join(_left_out(other) for other in when.without)
    return f"{said} ({'; '.join(when.notes)})" if when.notes else said


def _name(holiday: str) -> str:
    """ "the Monday after Easter"."""
    said = " ".join(w if w in _SMALL else w.capitalize() for w in holiday.split())
    stepped = " before " in said or " after " in said
    return f"the {said}" if stepped and not said[0].isdigit() else said


_SMALL = {"day", "days", "week", "weeks", "weekend", "weekends", "before", "after", "of", "the"}


def _left_out(other: TimeFields) -> str:
    """ ", not 2021"; what is left out of what is left out is meant."""
    inner = other.without
    if len(inner) == 1 and in_words(other).startswith("any time"):
        return f", {in_words(inner[0])}"
    return f", not {in_words(other)}"


def day_in_words(moment: datetime) -> str:
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def _either(parts: list[str]) -> str:
    if len(parts) <= 2:
        return " or ".join(parts)
    return ", ".join(parts[:-1]) + " or " + parts[-1]


def _month(month: int) -> str:
    return MONTHS[month - 1] if month > 0 else "no month"


def _interval(interval: Interval) -> str:
    start, end = interval
    if start >= end:
        return "no time"
    if start == BEGIN and end == END:
        return "any time"
    if start == BEGIN:
        return f"before {_edge(end)}"
    if end == END:
        return f"from {_edge(start)} on"
    if start.time() == end.time() == time.min:
        return _whole_days(start, end)
    return f"{_edge(start, clock=True)} to {_edge(end, clock=True)}"


def _whole_days(start: datetime, end: datetime) -> str:
    last = end - _DAY
    if start == last:
        return day_in_words(start)
    if start.day == 1 and end.day == 1:
        if start.month == 1 and end.month == 1:
            years = (str(start.year), str(last.year))
            return years[0] if years[0] == years[1] else f"{years[0]} to {years[1]}"
        first = f"{MONTHS[start.month - 1]} {start.year}"
        final = f"{MONTHS[last.month - 1]} {last.year}"
        return first if first == final else f"{first} to {final}"
    return f"{day_in_words(start)} to {day_in_words(last)}"


def _edge(moment: datetime, *, clock: bool = False) -> str:
    day = day_in_words(moment)
    return day if moment.time() == time.min and not clock else f"{day} {moment:%H:%M}"


def _of_month(spans: tuple[tuple[MonthDay, MonthDay], ...]) -> str:
    """Day 25 of every month."""
    days = {day for span in spans for _, day in span}
    whole = len(spans) == 12 and all(first == last for first, last in spans)
    return f"day {days.pop()} of a month" if whole and len(days) == 1 else ""


def _days(first: MonthDay, last: MonthDay) -> str:
    one = f"{first[1]} {MONTHS[first[0] - 1]}"
    return one if first == last else f"{one} to {last[1]} {MONTHS[last[0] - 1]}"


def _hours(hours: tuple[tuple[int, int], ...]) -> str:
    if not hours:
        return ""
    if hours == ((0, 0),):
        return "no hour"
    spans = around_midnight(hours)
    return _either([f"{_clock(low)} to {_clock(high)}" for low, high in spans])


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
