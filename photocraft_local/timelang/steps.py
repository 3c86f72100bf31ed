"""A day, week or part of a day counted from a date: "the weekend before Easter 2019", "two days
after 3 May 2021", "the Monday after Easter", "圣诞节前一天".

A rule as in ``dates``.
"""

from __future__ import annotations

import re
from datetime import datetime

from photocraft_local.timelang import calendar, dates, feasts, holidays, numeric, recurring, years
from photocraft_local.timelang.when import When
from photocraft_local.timelang.words import Atom, Words, period

_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_FEW = 6
_LONGEST = 32  # days of what a step can count from


def step(words: Words, at: int) -> Atom | None:
    """The time one step, or so many, before or after a date or holiday."""
    if found := words.match("daybeside", at):
        target = _target(words, found[0])
        return _moved(target, "day", int(found[1]), 1) if target else None
    few = words.match("few", at)
    number = None if few else words.count(at)
    noun = few[0] if few else number[0] if number else at
    unit = _unit(words, noun)
    several = few is not None or (number is None and words.match("plural", noun) is not None)
    if unit is None:
        return _part(words, at) or _chinese(words, at)
    for way, kind in ((-1, "before"), (1, "after")):
        if found := words.match(kind, unit[0]):
            target = _target(words, found[0]) or _target(words, words.skip("article", found[0]))
            if several:
                return _some(target, unit[1], way) if target else None
            return _moved(target, unit[1], way, number[1] if number else 1) if target else None
    return None


def _some(target: Atom, unit: str, way: int) -> Atom | None:
    """ "a few days before Christmas 2020", "in the days after Easter 2021": up to six, noted."""
    near, far = _moved(target, unit, way, 1), _moved(target, unit, way, _FEW)
    if near is None or far is None or near.kind != far.kind:
        return None
    note = f"taken as 1 to {_FEW} {unit}s"
    if near.kind == "period":
        ends = [edge for found in (near, far) for edge in found.when.intervals[0]]
        return period(near.end, (min(ends), max(ends)), note)
    if near.kind != "days":
        return None
    first, last = (far, near) if way < 0 else (near, far)
    span = (first.when.year_days[0][0], last.when.year_days[0][1])
    return Atom(near.end, When(year_days=(span,), notes=(note,)), "days")


def _unit(words: Words, at: int) -> tuple[int, str] | None:
    if weekday := words.match("weekday", at):
        return weekday[0], _NAMES[int(weekday[1])]
    found = words.match("unit", at)
    return found if found and found[1] in ("day", "week", "weekend", "month", "year") else None


def _target(words: Words, at: int) -> Atom | None:
    """A day, or a short stretch, that a step can count from."""
    found = (
        feasts.holiday(words, at)
        or dates.day(words, at)
        or numeric.numeric(words, at)
        or dates.month(words, at)
        or years.year(words, at)
    )
    return found if found and found.kind in ("period", "days", "holiday") else None


def _moved(target: Atom, unit: str, way: int, count: int) -> Atom | None:
    if target.kind != "period":
        return _of_every_year(target, unit, way, count)
    base = target.core or target.when.intervals[0]
    if unit in ("month", "year"):
        start = base[0] if way < 0 else base[1] - calendar.DAY
        return period(target.end, calendar.whole(unit, start, way * count))
    if (base[1] - base[0]).days > _LONGEST:
        return None
    return period(target.end, holidays.step_from(base, unit, way, count))


def _of_every_year(target: Atom, unit: str, way: int, count: int) -> Atom | None:
    """Without a year: a fixed day from a fixed day, else a holiday's name with its step."""
    if unit == "day" and target.kind == "days":
        core = feasts.core_of(target.name, 2001) if target.name else None
        first, last = target.when.year_days[0]
        base = core or (datetime(2001, *_of_2001(first)), datetime(2001, *_of_2001(last)))
        end = base[1] if core else base[1] + calendar.DAY
        moved = holidays.step_from((base[0], end), "day", way, count)[0]
        day = (moved.month, moved.day)
        return Atom(target.end, When(year_days=((day, day),)), "days")
    if not target.name or unit in ("month", "year"):
        return None
    name = holidays.stepped(target.name, unit, way, count)
    return Atom(target.end, When(holidays=(name,)), "holiday")


def _of_2001(day: tuple[int, int]) -> tuple[int, int]:
    """29 February counts as the day before 1 March in most years."""
    return (2, 28) if day == (2, 29) else day


def _part(words: Words, at: int) -> Atom | None:
    """ "the night before Christmas 2020", "the morning after New Year's Eve"."""
    found = words.match("part?", at) or words.match("part", at)
    if not found:
        return None
    for way, kind in ((-1, "before"), (1, "after")):
        if behind := words.match(kind, found[0]):
            target = _target(words, behind[0])
            day = _moved(target, "day", way, 1) if target else None
            if day is None or target is None:
                return None
            when = day.when & When(hours=recurring.PARTS[found[1]])
            return Atom(day.end, when, "either")  # no part of a range
    return None


def _chinese(words: Words, at: int) -> Atom | None:
    """ "圣诞节前一天", "2019年复活节前的周末": the date comes first."""
    target = _target(words, at)
    found = words.match("zhstep", target.end) if target else None
    if target is None or found is None:
        return None
    match = re.fullmatch(r"(\w+) ([+-]\d+)", found[1])
    assert match is not None  # the lexicon's own form
    number = int(match[2])
    moved = _moved(target, match[1], 1 if number > 0 else -1, abs(number))
    return Atom(found[0], moved.when, moved.kind) if moved else None
