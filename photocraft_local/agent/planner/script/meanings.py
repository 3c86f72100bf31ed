"""What a condition comes to, in words: the dates that a time means, the place that a name means."""

from __future__ import annotations

from collections.abc import Iterable

from photocraft_local.agent.planner.conditions import (
    CameraCondition,
    Condition,
    PlaceCondition,
    Spot,
    TimeCondition,
)


def meaning_of(condition: Condition) -> str:
    """For time, place and camera; the words of any other."""
    if isinstance(condition, TimeCondition):
        return _any(condition.negated, (when.meaning for when in condition.whens))
    if isinstance(condition, PlaceCondition):
        return _any(condition.negated, map(_spot, condition.spots))
    if isinstance(condition, CameraCondition):
        return _any(condition.negated, condition.names)
    return condition.words


def _any(negated: bool, texts: Iterable[str]) -> str:
    return ("not " if negated else "") + " or ".join(texts)


def _spot(spot: Spot) -> str:
    return spot.how.meaning() if spot.how else _named(spot)


def _named(spot: Spot) -> str:
    """Of several places with the name, the first is the likeliest; all of them count."""
    name = spot.areas[0].label() if spot.areas else spot.name
    more = len(spot.areas) - 1
    if more > 0:
        name += f", or {more} more of that name"
    return name if spot.km is None else f"within {spot.km:g} km of {name}"
