"""The longest single time at a position, and the early, middle or late part of one.

Collects the rules of ``dates``, ``recurring`` and ``relative``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from photocraft_local.timelang import calendar, dates, numeric, recurring, relative
from photocraft_local.timelang.dates import period
from photocraft_local.timelang.spans import Interval
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words

Rule = Callable[[Words, int], Atom | None]

_RULES: tuple[Rule, ...] = (
    numeric.numeric,
    dates.day,
    dates.month,
    recurring.season,
    dates.decade,
    dates.year,
    relative.around_day,
    relative.near_part,
    relative.near_day,
    relative.ago,
    relative.rolling,
    relative.last,
    relative.this,
    relative.chinese,
    recurring.weekday,
    recurring.clock,
    recurring.part_of_day,
)


def atom(words: Words, at: int) -> Atom | None:
    """The longest time at token ``at``; of equally long ones the first rule's."""
    best = third(words, at)
    for rule in _RULES:
        found = rule(words, at)
        if found and (best is None or found.end > best.end):
            best = found
    return best


def third(words: Words, at: int) -> Atom | None:
    """ "early 2021", "mid-May", "Ende Juni 2020", "début mai": a third of a month, season, year
    or decade."""
    found = words.match("third", at)
    if not found:
        return None
    start = found[0] + (words.shape(found[0]) == "dash")
    inner = atom(words, start)
    if inner is None:
        return None
    if inner.kind == "month" and inner.when.months:
        number = inner.when.months[0]
        first, last = _days_of_third(found[1], _last_day(number))
        return Atom(inner.end, When(year_days=(((number, first), (number, last)),)), "days")
    if (
        inner.kind != "period"
        or (inner.when.intervals[0][1] - inner.when.intervals[0][0]).days < 28
    ):
        return None
    return period(inner.end, _third_of(inner.when.intervals[0], found[1]))


def _last_day(month: int) -> int:
    return (calendar.month(2000, month)[1] - calendar.DAY).day


def _days_of_third(name: str, last: int) -> tuple[int, int]:
    return {"early": (1, 10), "middle": (11, 20), "late": (21, last)}[name]


def _third_of(interval: Interval, name: str) -> Interval:
    """Ten days of a month; whole months of anything longer."""
    start, end = interval
    months = (end.year - start.year) * 12 + end.month - start.month
    if months <= 1:
        first, last = _days_of_third(name, 31)
        stop = end if name == "late" else start.replace(day=last) + calendar.DAY
        return start.replace(day=first), stop
    step = max(1, months // 3)
    index = ("early", "middle", "late").index(name)
    low: datetime = calendar.add("month", start, step * index)
    return low, end if name == "late" else calendar.add("month", low, step)
