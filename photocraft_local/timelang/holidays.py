"""Holidays: which days they are in a year, by ``data/holidays.tsv`` and ``data/moving.tsv``.

A name may carry a step: "monday after easter", "weekend before christmas". Knows no grammar;
dates of Easter are dateutil's, those of festivals by the moon a table's.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from pathlib import Path

from dateutil.easter import easter

from photocraft_local.timelang.lexicon import fold
from photocraft_local.timelang.spans import Interval

_DATA = Path(__file__).parent / "data"
FIRST_YEAR, LAST_YEAR = 1826, 2199
_DAY = timedelta(days=1)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FULL = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_STEP = re.compile(
    rf"(?:(?P<count>\d+) )?(?P<unit>day|week|weekend|{'|'.join(_FULL)})s? "
    r"(?P<way>before|after) (?P<name>.+)"
)


@dataclass(frozen=True, slots=True)
class Holiday:
    """``days`` and ``core`` are rules of the table; ``core`` is the day that the name means."""

    name: str
    days: str
    core: str
    forms: tuple[str, ...]  # one that begins with "~" is also an ordinary word
    note: str = ""


@lru_cache(maxsize=1)
def holidays() -> dict[str, Holiday]:
    """name → holiday."""
    found = {}
    for line in (_DATA / "holidays.tsv").read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, days, core, forms, *note = line.split("\t")
            found[name] = Holiday(name, days, core or days, tuple(forms.split("|")), "".join(note))
    return found


@lru_cache(maxsize=1)
def _moving() -> dict[str, dict[int, list[date]]]:
    found: dict[str, dict[int, list[date]]] = {}
    for line in (_DATA / "moving.tsv").read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, days = line.split("\t")
            for day in map(date.fromisoformat, days.split()):
                found.setdefault(name, {}).setdefault(day.year, []).append(day)
    return found


def known_name(text: str) -> str | None:
    """The name that a filter's ``holiday("…")`` means, in any of its spellings, or None."""
    asked = " ".join(text.casefold().split())
    step = _STEP.fullmatch(asked)
    name = _by_form().get(_folded(step["name"] if step else asked))
    if name is None or not step:
        return name
    return stepped(
        name, step["unit"], -1 if step["way"] == "before" else 1, int(step["count"] or 1)
    )


@lru_cache(maxsize=1)
def _by_form() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, holiday in holidays().items():
        for form in (name, *holiday.forms):
            found.setdefault(_folded(form), name)
    return found


def _folded(text: str) -> str:
    return "".join(char for char in fold(text) if char.isalnum())


def stepped(name: str, unit: str, way: int, count: int = 1) -> str:
    """The name of a day or week counted from a holiday: "2 days before christmas"."""
    said = f"{unit} " if count == 1 else f"{count} {unit}s "
    return f"{said}{'after' if way > 0 else 'before'} {name}"


def is_fixed(name: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """First and last (month, day) of a holiday that is the same each year."""
    holiday = holidays().get(name)
    if holiday is None or not re.match(r"\d\d-\d\d", holiday.days):
        return None
    first, _, last = holiday.days.partition("..")
    return _month_day(first), _month_day(last or first)


def _month_day(text: str) -> tuple[int, int]:
    return int(text[:2]), int(text[3:])


def in_year(name: str, year: int) -> list[Interval]:
    """Its intervals that begin in ``year``; empty where its date is not known."""
    step = _STEP.fullmatch(name)
    if step is None:
        return _days(holidays()[name].days, year)
    way, count = -1 if step["way"] == "before" else 1, int(step["count"] or 1)
    return [step_from(c, step["unit"], way, count) for c in cores_in_year(step["name"], year)]


def cores_in_year(name: str, year: int) -> list[Interval]:
    """The days that the name of a holiday means in the narrow sense: Easter Sunday."""
    return _days(holidays()[name].core, year)


def step_from(core: Interval, unit: str, way: int, count: int = 1) -> Interval:
    """``count`` days, weekdays, weekends or weeks before or after an interval of days.

    A week is the seven days right beside it; a weekend the nearest that does not touch it.
    """
    start, end = core
    if unit == "day":
        first = end + (count - 1) * _DAY if way > 0 else start - count * _DAY
        return first, first + _DAY
    if unit == "week":
        first = end + (count - 1) * 7 * _DAY if way > 0 else start - count * 7 * _DAY
        return first, first + 7 * _DAY
    length, weekday = (2, 5) if unit == "weekend" else (1, _FULL.index(unit))
    if way > 0:
        # "The weekend after" a Saturday is the next one; the rest of its own does not count.
        base = end + (_DAY if unit == "weekend" and (end - _DAY).weekday() == 5 else 0 * _DAY)
        first = base + (weekday - base.weekday()) % 7 * _DAY
    else:
        base = start - (_DAY if unit == "weekend" and start.weekday() == 6 else 0 * _DAY)
        first = base - length * _DAY
        first -= (first.weekday() - weekday) % 7 * _DAY
    first += way * (count - 1) * 7 * _DAY
    return first, first + length * _DAY


def _days(rule: str, year: int) -> list[Interval]:
    if rule == "advent":
        return [(_advent(year), datetime(year, 12, 25))]
    if rule == "advent sunday":
        return [(_advent(year), _advent(year) + _DAY)]
    if re.match(r"\d\d-\d\d", rule):
        first, _, final = rule.partition("..")
        begin, end = _month_day(first), _month_day(final or first)
        return [(datetime(year, *begin), datetime(year + (end < begin), *end) + _DAY)]
    base, low, high = _offsets(rule)
    return [(day + low * _DAY, day + (high + 1) * _DAY) for day in _bases(base, year)]


def _offsets(rule: str) -> tuple[str, int, int]:
    """ "easter-2..1" → ("easter", -2, 1)."""
    match = re.fullmatch(r"(.*?)(?:([+-]\d+)(?:\.\.([+-]?\d+))?)?", rule)
    assert match is not None  # every part of the pattern is optional
    low = int(match[2] or 0)
    return match[1], low, low if match[3] is None else int(match[3])


def _bases(base: str, year: int) -> list[datetime]:
    if base == "easter":
        days = [easter(year)]
    elif base in _moving():
        days = _moving()[base].get(year, [])
    else:
        days = [_nth_weekday(base, year)]
    return [datetime.combine(day, time.min) for day in days]


def _nth_weekday(rule: str, year: int) -> date:
    """ "4.thu.11": the fourth Thursday of November; "last.mon.5"."""
    nth, name, month = rule.split(".")
    weekday = _WEEKDAYS.index(name)
    if nth == "last":
        day = date(year + int(month) // 12, int(month) % 12 + 1, 1) - _DAY
        return day - (day.weekday() - weekday) % 7 * _DAY
    day = date(year, int(month), 1)
    return day + ((weekday - day.weekday()) % 7 + 7 * (int(nth) - 1)) * _DAY


def _advent(year: int) -> datetime:
    christmas = datetime(year, 12, 25)
    return christmas - ((christmas.weekday() + 1) % 7 or 7) * _DAY - 21 * _DAY


@lru_cache(maxsize=128)
def all_days(name: str) -> tuple[Interval, ...]:
    """All its intervals from the first photograph on, in order and apart."""
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    return tuple(sorted(interval for year in years for interval in in_year(name, year)))


def is_on(name: str, moment: datetime) -> bool:
    """Whether a moment lies on that holiday."""
    days = all_days(name)
    at = bisect.bisect_right(days, moment, key=lambda interval: interval[0]) - 1
    return at >= 0 and moment < days[at][1]
