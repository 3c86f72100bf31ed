"""The longest single time at a position, and the early, middle or late part of one.

Collects the rules of ``dates``, ``recurring`` and ``relative``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from photocraft_local.timelang import (
    calendar,
    clocks,
    dates,
    decades,
    elapsed,
    feasts,
    numeric,
    portions,
    recurring,
    relative,
    steps,
    years,
)
from photocraft_local.timelang.spans import Hours, Interval, merged_hours, span_of_day
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words, period

Rule = Callable[[Words, int], Atom | None]

_RULES: tuple[Rule, ...] = (
    numeric.numeric,
    dates.day,
    feasts.holiday,
    steps.step,
    portions.portion,
    dates.month,
    recurring.season,
    decades.decade,
    decades.century_of,
    years.year,
    relative.around_day,
    relative.near_part,
    relative.near_day,
    elapsed.ago,
    elapsed.rolling,
    elapsed.beyond,
    relative.this_time,
    relative.last,
    relative.before_last,
    relative.this,
    relative.coming,
    relative.chinese,
    recurring.weekday,
    recurring.compound,
    recurring.day_of_month,
    clocks.clock,
    recurring.part_of_day,
)


def atom(words: Words, at: int) -> Atom | None:
    """The longest time at token ``at``; of equally long ones the first rule's."""
    if at in words.atoms:
        return words.atoms[at]
    best = None
    if words.may_begin(at):
        for rule in (*_RECURSIVE, *_RULES):
            found = rule(words, at)
            if found and (best is None or found.end > best.end):
                best = found
        if best and (behind := words.match("aroundafter", best.end)):
            best = _widened(behind[0], best)
    words.atoms[at] = best
    return best


def around(words: Words, at: int) -> Atom | None:
    """ "around 6 pm", "about 2010", "gegen 8 Uhr", "vers le 3 mai 2021"."""
    found = words.match("around", at)
    if found is None or words.match("around", found[0]):
        return None
    start = words.tokens[at].start
    if words.text[max(0, start - 1) : start + 1] == "纽约":
        return None  # New York ends with the word for "about"
    inner = atom(words, found[0]) or atom(words, words.skip("lead", found[0]))
    return replace(_widened(inner.end, inner), sure=True) if inner else None


def _widened(end: int, inner: Atom) -> Atom:
    """An hour either side of a full hour, half of one of another clock time; two days of a day,
    half a month of a month, a year of a year. What is vague by itself stays as it is."""
    when = inner.when
    if inner.minutes:
        spans = [_beside(minute) for minute in inner.minutes]
        hours = merged_hours(tuple(span for one in spans for span in one))
        notes = tuple(note for note in when.notes if "either side" not in note)
        return replace(inner, end=end, when=When(hours=hours, notes=notes), minutes=())
    if inner.kind == "period":
        start, stop = when.intervals[0]
        days = (stop - start).days
        unit, count = ("day", 2) if days < 8 else ("day", 15) if days < 32 else ("year", 1)
        if days > 366:
            return replace(inner, end=end)
        low, high = calendar.add(unit, start, -count), calendar.add(unit, stop, count)
        said = f"{count} {unit}{'s' * (count > 1)}"
        return period(end, (low, high), f"around: {said} on either side")
    if inner.kind == "days" and len(when.year_days) == 1:
        first, last = (datetime(2001, m, min(d, 28 if m == 2 else d)) for m, d in when.year_days[0])
        first, last = first - 2 * calendar.DAY, last + 2 * calendar.DAY
        span = ((first.month, first.day), (last.month, last.day))
        notes = ("around: 2 days on either side",)
        return Atom(end, When(year_days=(span,), notes=notes), "days", inner.sure)
    return replace(inner, end=end)


def _beside(minute: int) -> Hours:
    width = 60 if minute % 60 == 0 else 30
    return span_of_day(minute - width, minute + width)


def third(words: Words, at: int) -> Atom | None:
    """ "early 2021", "mid-May", "Ende Juni 2020", "début mai": a third of a month, season, year
    or decade."""
    found = words.match("third", at)
    if not found:
        return None
    start = found[0] + (words.shape(found[0]) == "dash")
    if words.match("third", start) or words.match("around", start):
        return None
    inner = atom(words, start) or atom(words, words.skip("lead", start))  # "end of the year 2021"
    if inner is None:
        return None
    if inner.kind == "hours" and (part := _PARTS.get((found[1], inner.when.hours))):
        said_so = words.key(found[0] - 1) in ("the", "at")  # "late at night"
        return Atom(inner.end, When(hours=part), "hours", inner.sure or said_so)
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


def _hours(low: int, high: int) -> Hours:
    return span_of_day(low * 60, high * 60)


_PARTS = {
    ("early", recurring.PARTS["morning"]): _hours(5, 8),
    ("late", recurring.PARTS["morning"]): _hours(10, 12),
    ("early", recurring.PARTS["afternoon"]): _hours(12, 15),
    ("late", recurring.PARTS["afternoon"]): _hours(15, 18),
    ("early", recurring.PARTS["evening"]): _hours(17, 19),
    ("late", recurring.PARTS["evening"]): _hours(20, 23),
    ("late", recurring.PARTS["night"]): _hours(23, 29),
}
_RECURSIVE: tuple[Rule, ...] = (third, around)
