"""What leans on a picture of the question, by what the picture says of itself.

"here" is where it was taken, "before" is before its own time. A picture that does not say it
stays for the executor: the photos that look like it then stand for it, and a note says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from photocraft_local.agent.pictures import Picture
from photocraft_local.agent.planner.conditions import (
    Condition,
    PlaceCondition,
    Spot,
    TimeCondition,
)
from photocraft_local.agent.planner.execute.relating import SAME_PLACE_KM
from photocraft_local.agent.planner.execute.wording import another
from photocraft_local.agent.planner.plan import Ask, Plan, Relation, Wanted
from photocraft_local.agent.planner.script.headers import in_units
from photocraft_local.places.areas import Area
from photocraft_local.timelang import When
from photocraft_local.timelang.calendar import DAY, start_of, whole
from photocraft_local.timelang.spans import BEGIN, END

_AROUND = timedelta(hours=1)
_EVENT = timedelta(hours=1)  # photos so near in time are of the picture's event
_MINUTE = timedelta(minutes=1)
Pictures = Mapping[str, Picture]


def with_facts(plan: Plan, pictures: Pictures) -> Plan:
    """The plan with conditions where it leaned on a picture that knows its time or place."""
    if not pictures:
        return plan
    notes: dict[str, None] = {}
    wanted = _asked_of_itself(plan.wanted, plan.ask, pictures, notes)
    wanted = _wanted(wanted, pictures, notes)
    other = plan.other and _asked_of_itself(plan.other, plan.ask, pictures, notes)
    other = other and _wanted(other, pictures, notes)
    return replace(plan, wanted=wanted, other=other, notes=(*plan.notes, *notes))


def _asked_of_itself(
    wanted: Wanted, ask: Ask, pictures: Pictures, notes: dict[str, None]
) -> Wanted:
    """ "where was this", "when was this taken": its own place or moment, not a look."""
    alone = wanted.like[:1] == wanted.like and wanted == Wanted(like=wanted.like)
    picture = pictures.get(wanted.like[0]) if wanted.like and alone else None
    if picture is None:
        return wanted
    if ask.kind in ("where", "distance") and picture.latitude is not None:
        return Wanted(conditions=(_at(picture, SAME_PLACE_KM, f"where {picture.id} was taken"),))
    if ask.kind in ("when", "span") and picture.time:
        moment = picture.time.replace(second=0, microsecond=0)
        words = f"at {moment:%Y-%m-%d %H:%M}, when {picture.id} was taken"
        return Wanted(conditions=(_during(words, moment, moment + _MINUTE),))
    if ask.kind in ("where", "distance", "when", "span"):
        notes[_tells_none(picture, ask.kind in ("where", "distance"))] = None
    return wanted


def _one_by_one(wanted: Wanted) -> Wanted:
    """What leans on several pictures leans on any one of them, or on none where negated."""
    relations: list[Relation] = []
    either = wanted.either
    for relation in wanted.relations:
        like = relation.anchor.like
        alone = len(like) > 1 and relation.anchor == Wanted(like=like)
        each = [replace(relation, anchor=Wanted(like=(name,))) for name in like] if alone else []
        if each and not relation.negated and not either:
            either = tuple(Wanted(relations=(one,)) for one in each)
        else:
            relations += each if each and relation.negated else [relation]
    return replace(wanted, relations=tuple(relations), either=either)


def _wanted(wanted: Wanted, pictures: Pictures, notes: dict[str, None]) -> Wanted:
    wanted = _one_by_one(wanted)
    conditions: list[Condition] = [*wanted.conditions]
    relations: list[Relation] = []
    for relation in wanted.relations:
        picture = _leans_on(relation, pictures)
        found = _condition(relation, picture) if picture else None
        if found:
            conditions += found
        else:
            relations.append(_related(relation, picture, pictures, notes))
    return replace(
        wanted,
        conditions=tuple(conditions),
        relations=tuple(relations),
        either=tuple(_wanted(part, pictures, notes) for part in wanted.either),
        but_not=tuple(_wanted(part, pictures, notes) for part in wanted.but_not),
    )


def _leans_on(relation: Relation, pictures: Pictures) -> Picture | None:
    """The one picture that is all of the anchor."""
    like = relation.anchor.like
    alone = len(like) == 1 and relation.anchor == Wanted(like=like)
    return pictures.get(like[0]) if alone else None


def _related(
    relation: Relation, picture: Picture | None, pictures: Pictures, notes: dict[str, None]
) -> Relation:
    """Events and trips of a picture are those of the photos taken within an hour of it."""
    if picture is None:
        return replace(relation, anchor=_wanted(relation.anchor, pictures, notes))
    if relation.kind in ("event", "trip") and picture.time:
        words = f"within an hour of {picture.id}"
        near = _during(words, picture.time - _EVENT, picture.time + _EVENT)
        return replace(relation, anchor=Wanted(conditions=(near,)))
    notes[_tells_none(picture, relation.kind == "place")] = None
    return relation


def _tells_none(picture: Picture, is_place: bool) -> str:
    fact = "place" if is_place else "time"
    return f"{picture.id} tells no {fact} of its own; photos that look like it stand for it"


def _condition(relation: Relation, picture: Picture) -> list[Condition] | None:
    words = _words(relation, picture)
    if relation.kind == "place" and picture.latitude is not None:
        km = SAME_PLACE_KM if relation.km is None else relation.km
        away = _apart(relation, picture)
        if away is None:
            return None
        return [replace(_at(picture, km, words), negated=relation.negated), *away]
    if relation.kind in ("place", "event", "trip") or picture.time is None:
        return None
    start, end = _bounds(relation, picture.time)
    return [replace(_during(words, start, end), negated=relation.negated)]


def _words(relation: Relation, picture: Picture) -> str:
    """Own words: those of the question ("here before") stand for several conditions."""
    name = picture.id
    if relation.kind == "place":
        return f"within {relation.km:g} km of {name}" if relation.km else f"at the place of {name}"
    if relation.kind in ("before", "after", "around"):
        within = f"at most {in_units(relation.within)} " if relation.within else ""
        return f"{within}{relation.kind} {name}"
    if not relation.shift:
        return f"{'on' if relation.kind == 'day' else 'in'} the {relation.kind} of {name}"
    side = "after" if relation.shift > 0 else "before"
    count = abs(relation.shift)
    moved = f"the {relation.kind}" if count == 1 else f"{count} {relation.kind}s"
    return f"{moved} {side} {name}"


def _apart(relation: Relation, picture: Picture) -> list[Condition] | None:
    """ "in another year"; None if the picture does not say which its own is."""
    if not relation.apart:
        return []
    if picture.time is None or relation.apart == "trip":
        return None
    start, end = whole(relation.apart, picture.time)
    words = f"{another(relation.apart)} than {picture.id}"
    return [replace(_during(words, start, end), negated=True)]


def _bounds(relation: Relation, moment: datetime) -> tuple[datetime, datetime]:
    within = relation.within
    if relation.kind == "before":
        return (moment - within if within else BEGIN), moment
    if relation.kind == "after":
        return moment + _MINUTE, (moment + within if within else END)
    if relation.kind == "around":
        return moment - (within or _AROUND), moment + (within or _AROUND) + _MINUTE
    if relation.kind == "weekend":
        start = start_of("week", moment) + 5 * DAY + 7 * relation.shift * DAY
        return start, start + 2 * DAY
    return whole(relation.kind, moment, relation.shift)


def _during(words: str, start: datetime, end: datetime) -> TimeCondition:
    return TimeCondition(words, (When(intervals=((start, end),)),))


def _at(picture: Picture, km: float, words: str) -> PlaceCondition:
    """Around the picture's position; its address tells the person where that is."""
    latitude, longitude = _degrees(picture)
    name = f"{latitude:.5f},{longitude:.5f}"
    area = Area(name, "point", "", "", latitude, longitude, km, 0)
    return PlaceCondition(f"{words} ({picture.address or name})", (Spot(name, (area,), km),))


def _degrees(picture: Picture) -> tuple[Any, Any]:
    return picture.latitude, picture.longitude
