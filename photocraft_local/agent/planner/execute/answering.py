"""The answer in words, as the question asks for it: how many, when, where, which camera, how far.

From the sums that filter_photos gives of the whole set. Knows no tool calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from photocraft_local.agent.planner.execute.wording import (
    day_text,
    days_text,
    in_words,
    kilometres,
    listed,
    month_text,
    sentences,
)
from photocraft_local.agent.planner.plan import Ask, Plan
from photocraft_local.tools.format import counted

Facts = Mapping[str, Any]  # the data of filter_photos with facts, or how two sets are apart

_MOST_DAYS = 6
_MOST_TRIPS = 12
_SINGULAR = {"cities": "city", "countries": "country"}


def needs_facts(ask: Ask) -> bool:
    return ask.kind in _ANSWERS and ask.kind != "distance" and asked_unit(ask) != "photos"


def none(ask: Ask, reason: str, *, known: bool) -> str:
    """The answer without a photo: ``reason`` says why there is none or, unless ``known``, why
    that cannot be said."""
    if ask.kind == "count":
        return f"{f'0 {asked_unit(ask)}' if known else 'The number is not known'}: {reason}."
    if ask.kind == "exists":
        return f"{'No' if known else 'That is not known'}: {reason}."
    return f"No photo: {reason}."


def answer_text(plan: Plan, count: int, facts: Facts, notes: Sequence[str]) -> str:
    """What the person reads first; notes say what was decided or found by the way."""
    words = in_words(plan.wanted) or "all of the library"
    photos = counted(count, "photo")
    if plan.other is not None:
        words = f"{words} / {in_words(plan.other)}"
    if plan.ask.kind in _ANSWERS and asked_unit(plan.ask) != "photos":
        said = f"{_ANSWERS[plan.ask.kind](plan.ask, count, facts)} ({photos}: {words})."
    elif plan.ask.kind == "exists":
        said = f"Yes, {photos}: {words}."
    else:
        said = f"{photos}: {words}."
    return f"{said} {sentences(notes)}".strip()


def asked_unit(ask: Ask) -> str:
    """What is counted."""
    return (ask.unit or "photos") if ask.kind == "count" else ""


def _counted(ask: Ask, count: int, facts: Facts) -> str:
    """``2 cities: Porto and Lisbon, Portugal``."""
    sums, unit = facts["facts"], asked_unit(ask)
    number = int(sums[f"num_{unit}"])
    said = f"{number} {_SINGULAR.get(unit, unit.removesuffix('s')) if number == 1 else unit}"
    more = ""
    if unit in ("cities", "countries"):
        more = _places(sums, "city" if unit == "cities" else "country")
    elif unit == "cameras":
        more = _cameras(ask, count, facts)
    elif unit == "trips":
        more = _trips(sums)
    elif unit in ("months", "years"):
        more = listed(calendar(unit.removesuffix("s"), facts), 12)
    elif sums["dated"]:
        more = _days(days_of(facts)) if are_few(facts) else days_text(*ends(sums))
    return f"{said}: {more}" if more else said


def _trips(sums: Facts) -> str:
    """``Covilhã, Portugal (on 22 January 2022); Japan (from 2 to 6 April 2022)``."""
    rows = sums["trips"]
    named = []
    for row in rows[:_MOST_TRIPS]:
        first, last = (date.fromisoformat(row[end][:10]) for end in ("start", "end"))
        named.append(f"{row['place']} ({days_text(first, last)})")
    left = sums["num_trips"] - len(named)
    return "; ".join(named) + (f"; {left} more" if left else "")


def _when(ask: Ask, count: int, facts: Facts) -> str:
    """The days, if they are few, else the months or the years; of one day also the clock."""
    sums = facts["facts"]
    if not sums["dated"]:
        return "the time is not known"
    first, last = _moment(sums["first"]), _moment(sums["last"])
    if ask.unit in ("month", "year"):
        return "in " + listed(calendar(ask.unit, facts), 12)
    if sums["num_days"] == 1:
        return _one_day(ask, first, last)
    if are_few(facts):
        return _days(days_of(facts))
    return f"{days_text(*ends(sums))}, on {counted(sums['num_days'], 'day')}"


def are_few(facts: Facts) -> bool:
    """Whether each day can be told."""
    return "by_day" in facts["histogram"] and facts["facts"]["num_days"] <= _MOST_DAYS


def calendar(unit: str, facts: Facts) -> list[str]:
    """The months or years that have photos, by name."""
    labels = days_of(facts)
    return _months(labels) if unit == "month" else list(dict.fromkeys(at[:4] for at in labels))


def days_of(facts: Facts) -> list[str]:
    """Days in ISO 8601, or months where they are too many."""
    return [label for label in _bars(facts) if label != "no date"]


def _one_day(ask: Ask, first: str, last: str) -> str:
    """``on 2 April 2022 between 17:33 and 20:04``; the clock first, if that is asked for."""
    start, end = first[11:16], last[11:16]
    clock = f"at {start}" if start == end else f"between {start} and {end}"
    day = f"on {day_text(date.fromisoformat(first[:10]))}"
    return f"{clock} {day}" if ask.unit == "time" else f"{day} {clock}"


def _days(labels: Sequence[str]) -> str:
    """Runs of days in a row as spans: ``on 3 May 2021 and from 2 to 4 April 2022``."""
    runs: list[list[date]] = []
    for label in labels:
        day = date.fromisoformat(label)
        if runs and (day - runs[-1][-1]).days == 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    return listed([days_text(run[0], run[-1]) for run in runs])


def _span(ask: Ask, count: int, facts: Facts) -> str:
    """First to last day, and how many days that is: ``from 3 to 9 April 2022, 7 days``."""
    sums = facts["facts"]
    if not sums["dated"]:
        return "the time is not known"
    if sums["num_days"] == 1:
        return _one_day(ask, _moment(sums["first"]), _moment(sums["last"]))
    first, last = ends(sums)
    return f"{days_text(first, last)}, {counted((last - first).days + 1, 'day')}"


def ends(sums: Facts) -> tuple[date, date]:
    """First and last day."""
    first, last = (date.fromisoformat(_moment(sums[end])[:10]) for end in ("first", "last"))
    return first, last


def _where(ask: Ask, count: int, facts: Facts) -> str:
    sums = facts["facts"]
    named = _places(sums, ask.unit or "city")
    unknown = sums["without_place"]
    if not named:
        return "the place is not known"
    return f"{named}; {counted(unknown, 'photo')} without a place" if unknown else named


def _places(sums: Facts, unit: str) -> str:
    """Towns by their country, the most photographed first."""
    rows = sums["places"]
    if unit == "country":
        names = list(dict.fromkeys(row["country"] for row in rows if row["country"]))
        return _all_of(names, sums["num_countries"])
    by_country: dict[str, list[str]] = {}
    for row in rows:
        name = row["region"] if unit == "region" else row["city"] or row["region"]
        named = by_country.setdefault(row["country"], [])
        if name and name not in named:
            named.append(name)
    parts = [
        ", ".join(dict.fromkeys(filter(None, [listed(names), country])))
        for country, names in by_country.items()
    ]
    left = sums["num_places"] - len(rows)
    return "; ".join(parts) + (f"; {left} more places" if left else "")


def _all_of(names: Sequence[str], number: int) -> str:
    return listed([*names, f"{number - len(names)} more"] if number > len(names) else names, 30)


def _cameras(ask: Ask, count: int, facts: Facts) -> str:
    """``Canon EOS 6D (12 photos) and iPhone 12 (3)``."""
    sums = facts["facts"]
    if len(sums["cameras"]) == 1 and not sums["without_camera"]:
        return str(sums["cameras"][0]["name"])
    named = [
        f"{row['name']} ({counted(row['photos'], 'photo') if at == 0 else row['photos']})"
        for at, row in enumerate(sums["cameras"])
    ]
    if not named:
        return "the camera is not known"
    unknown = sums["without_camera"]
    return listed(named) + (f"; {counted(unknown, 'photo')} without a camera" if unknown else "")


def _distance(ask: Ask, count: int, facts: Facts) -> str:
    if "km" not in facts:
        return "how far apart is not known: one of them has no position"
    return f"{kilometres(facts['km'])} apart"


def _moment(row: Mapping[str, str]) -> str:
    return row["time"]


def _bars(facts: Facts) -> Mapping[str, int]:
    histogram: Mapping[str, Any] = facts["histogram"]
    return next(value for key, value in histogram.items() if key.startswith("by_"))


def _months(labels: Sequence[str]) -> list[str]:
    keys = dict.fromkeys(label[:7] for label in labels)
    return [month_text(int(key[:4]), int(key[5:7])) if len(key) == 7 else key for key in keys]


_ANSWERS: dict[str, Callable[[Ask, int, Facts], str]] = {
    "count": _counted,
    "when": _when,
    "where": _where,
    "camera": _cameras,
    "span": _span,
    "distance": _distance,
}
