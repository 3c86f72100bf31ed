"""From one time to another, and the times before, after, since and until one.

Both ends belong to a range: "between 2019 and 2021" holds all of 2021. "Since X" begins with X,
"after X" when X is over, "before X" ends where X begins, "until X" holds X.
"""

from __future__ import annotations

from datetime import datetime

from photocraft_local.errors import TimeWordsError
from photocraft_local.timelang import calendar
from photocraft_local.timelang.dates import ordered
from photocraft_local.timelang.spans import BEGIN, DAY_MINUTES, END, NIGHT, span_of_day
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom

_NOON = ((11 * 60, 14 * 60),)
_MIDNIGHT = ((0, 60), (23 * 60, DAY_MINUTES))
_RUNS = ("month", "days", "season", "holiday")


def joined(left: Atom, right: Atom) -> When | None:
    """The time from ``left`` to ``right``; None where the two do not go together."""
    if left.kind == right.kind == "period":
        return _of(left.when.intervals[0][0], right.when.intervals[0][1])
    if left.kind == right.kind:
        return _recurring(left, right)
    if left.kind in _RUNS and right.kind == "period":
        return _up_to(left, right)
    if left.kind == "period" and right.kind in _RUNS:
        start = left.when.intervals[0][0]
        span = calendar.occurrence(right.when, start.year)
        if span[1] <= start:
            span = calendar.occurrence(right.when, start.year + 1)
        return _of(start, span[1])
    return None


def _of(start: datetime, end: datetime) -> When:
    return When(intervals=(ordered(start, end),))


def _up_to(left: Atom, right: Atom) -> When:
    """ "May to July 2021": the left one takes the year of the right one, or the year before."""
    start, end = right.when.intervals[0]
    span = calendar.occurrence(left.when, start.year)
    if span[0] >= end:
        span = calendar.occurrence(left.when, start.year - 1)
    return _of(span[0], end)


def _recurring(left: Atom, right: Atom) -> When | None:
    a, b = left.when, right.when
    if left.kind in ("month", "season"):
        first = calendar.first_month(a.months)
        last = calendar.run_of_months(calendar.first_month(b.months), first)[0]
        last = (last + len(b.months) - 2) % 12 + 1
        return When(months=tuple(sorted(calendar.run_of_months(first, last))))
    if left.kind == "days":
        return When(year_days=((a.year_days[0][0], b.year_days[0][1]),))
    if left.kind == "weekday" and len(a.weekdays) == len(b.weekdays) == 1:
        count = (b.weekdays[0] - a.weekdays[0]) % 7 + 1
        return When(weekdays=tuple(sorted((a.weekdays[0] + i) % 7 for i in range(count))))
    if left.kind == "hours":
        return _hours(hour_edge(left), hour_edge(right, end=True))
    return None


def hour_edge(side: Atom, *, end: bool = False) -> int:
    """The minute of the day at which a clock time is, or a part of the day begins or ends."""
    hours = side.when.hours
    if side.minutes:
        return side.minutes[-1 if end else 0] or (DAY_MINUTES if end else 0)
    if hours == _NOON:
        return 12 * 60
    if hours == _MIDNIGHT:
        return DAY_MINUTES if end else 0
    if hours == NIGHT:
        return hours[0][1] if end else hours[1][0]
    return hours[0][1] if end else hours[0][0]


def _hours(low: int, high: int, notes: tuple[str, ...] = ()) -> When | None:
    if low == high:
        return None
    return When(hours=span_of_day(low, high), notes=notes)


def one_sided(relation: str, side: Atom, today: datetime) -> When | None:
    """``relation`` is "before", "after", "since" or "until"; what recurs without a year is taken
    as its latest occurrence."""
    if side.kind == "hours":
        return _hours_beside(relation, side)
    if side.kind == "either" and len(side.when.intervals) > 1:
        raise TimeWordsError(
            f"{relation!r} needs one date: {'; '.join(side.when.notes)}",
            hint="write the date like 2021-06-14",
        )
    if side.kind == "period":
        start, end = side.when.intervals[0]
    elif side.kind in _RUNS or len(side.when.weekdays) == 1:
        start, end = calendar.latest(side.when, today, over=relation == "after")
    else:
        return None
    bounds = {
        "before": (BEGIN, start), "after": (end, END), "since": (start, END), "until": (BEGIN, end)
    }  # fmt: skip
    return When(intervals=(bounds[relation],), notes=side.when.notes)


def _hours_beside(relation: str, side: Atom) -> When | None:
    """Of a time that may be in the morning or in the evening, before the one in the morning and
    after the one in the evening."""
    low, high = hour_edge(side), hour_edge(side, end=True)
    notes: tuple[str, ...] = ()
    if len(side.minutes) > 1:
        early = relation in ("before", "until")
        low = high = side.minutes[0 if early else -1]
        notes = (f"taken as {low // 60:02d}:{low % 60:02d}",)
    if relation in ("before", "until"):
        edge = low if relation == "before" else high
        return _hours(0, edge, notes) if edge else None
    if side.when.hours == _MIDNIGHT:
        return _hours(0, 5 * 60)
    return _hours((low if relation == "since" else high) % DAY_MINUTES, DAY_MINUTES, notes)
