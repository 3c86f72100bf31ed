"""A relation of the plan as arguments of ``around``, and what to say about its outcome.

Knows plans and that one tool's arguments.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from photocraft_local.agent.planner.conditions import PlaceCondition
from photocraft_local.agent.planner.execute.steps import Found, Result
from photocraft_local.agent.planner.execute.wording import (
    among,
    day_text,
    in_words,
    length,
    related,
)
from photocraft_local.agent.planner.plan import Relation, Wanted
from photocraft_local.records import Json

SAME_PLACE_KM: Final = 0.5  # "at the same place": one's own camera wanders, and GPS errs
SAME_TOWN_KM: Final = 10.0  # where nothing but the name of a town or country says which place
_AROUND: Final = timedelta(hours=1)
_ENDLESS: Final = "any time"
_LONGEST: Final = timedelta(days=36_500)
_CALENDAR: Final = ("day", "week", "weekend", "month", "year", "event", "trip")


def around_arguments(relation: Relation) -> dict[str, Json]:
    """How ``around`` is asked; the photos that the relation starts from come on top."""
    asked: dict[str, Json] = {}
    if relation.kind in _CALENDAR:
        asked |= {"unit": relation.kind}
        asked |= {"shift": _shift(relation)} if relation.shift else {}
    elif relation.kind == "place":
        asked |= {"km": _km(relation)}
    elif relation.kind == "around":
        span = _span(relation.within or _AROUND)
        asked |= {"before": span, "after": span}
    else:
        asked[relation.kind] = _span(relation.within) if relation.within else _ENDLESS
    if relation.which != "each":
        asked["which"] = relation.which
    if relation.apart:
        asked["apart"] = relation.apart
    if relation.negated:
        asked["negate"] = True
    return asked


def _shift(relation: Relation) -> int:
    """No calendar has as many units, so nothing lies further."""
    return max(-1_000_000, min(relation.shift, 1_000_000))


def _span(within: timedelta) -> str:
    """In the tool's words, which reach from a second to a century."""
    return _ENDLESS if within > _LONGEST else length(max(within, timedelta(seconds=1)))


def _km(relation: Relation) -> float:
    if relation.km is not None:
        return min(max(relation.km, 0.001), 20_000.0)
    return SAME_TOWN_KM if _is_a_region(relation.anchor) else SAME_PLACE_KM


def _is_a_region(anchor: Wanted) -> bool:
    """Whether names of places are all that tells which photos are meant."""
    told = [condition for condition in anchor.conditions if isinstance(condition, PlaceCondition)]
    parts = anchor.looks or anchor.relations or anchor.either or anchor.like
    return bool(told) and len(told) == len(anchor.conditions) and not parts


def remarks(relation: Relation, result: Result) -> list[str]:
    """What was decided that the question left open."""
    said = []
    given = result.data.get("given", {})
    occasions = given.get("occasions", 0)
    if relation.which != "each" and occasions > 1 and given.get("photos"):
        taken_at = _day_of(given["photos"][0]["time"])
        said.append(
            f"'{in_words(relation.anchor)}' is known of {occasions} occasions; the "
            f"{relation.which} is meant, the one{taken_at}"
        )
    if relation.kind == "place" and relation.km is None:
        said.append(f"the same place reaches {_km(relation):g} km")
    if relation.kind == "around" and relation.within is None:
        said.append(f"around that time reaches {length(_AROUND)} either way")
    return said


def why_none(relation: Relation, result: Result, base: Found) -> str:
    given = result.data.get("given", {}).get("photos") or [{}]
    where = among(base.count) if base.name else ""
    found = _day_of(given[0].get("time", "-"))
    return (
        f"no photo is known to be '{related(relation)}'{where}"
        f"{found and f'; what it leans on is{found}'}"
    )


def _day_of(time: str) -> str:
    """`` of 3 April 2022``, nothing for a photo without a time."""
    return "" if time == "-" else f" of {day_text(date.fromisoformat(time[:10]))}"
