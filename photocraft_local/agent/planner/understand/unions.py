"""Sets of which any one suffices: "cows in Siena and cows in Nara", "taken with a Nikon or a Sony".

Two places or times that no photo can be of at once are two sets, whatever word joins them; sets
of one condition each are one condition with choices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from photocraft_local.agent.planner.conditions import (
    CameraCondition,
    Condition,
    PlaceCondition,
    Spot,
    TimeCondition,
)
from photocraft_local.agent.planner.mentions import are_choices
from photocraft_local.agent.planner.plan import Wanted
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.sheet import Sheet
from photocraft_local.places.areas import ROUND, Area
from photocraft_local.places.distance import haversine_km


def claim_joints(sheet: Sheet, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The words between conditions of which a photo can meet but one."""
    for left, right in pairwise(list(sheet.within(start, end))):
        if not _exclude(left.condition, right.condition):
            continue
        joints = list(
            sheet.draft.matches(phrase_of("joints", "also"), left.end, right.start)
        ) or list(sheet.draft.matches(phrase_of("joints", "list"), left.end, right.start))
        if joints:
            sheet.draft.claim(*joints[-1].span())
            yield joints[-1].span()


def _exclude(one: Condition, other: Condition) -> bool:
    if getattr(one, "negated", True) or getattr(other, "negated", True):
        return False
    if isinstance(one, TimeCondition) and isinstance(other, TimeCondition):
        return all(are_choices(left, right) for left in one.whens for right in other.whens)
    if isinstance(one, PlaceCondition) and isinstance(other, PlaceCondition):
        return all(_are_apart(left, right) for left in one.spots for right in other.spots)
    return False


def _are_apart(one: Spot, other: Spot) -> bool:
    """Whether the areas are known not to touch; each may be any of those that bear the name."""
    if any(spot.how and spot.how.relation != "in" for spot in (one, other)):
        return False
    left, right = _area(one), _area(other)
    if left.kind in ROUND and right.kind in ROUND:
        away = haversine_km(left.latitude, left.longitude, right.latitude, right.longitude)
        return bool(away > left.radius_km + right.radius_km)
    known = left.country_code and right.country_code
    return bool(known) and left.country_code != right.country_code


def _area(spot: Spot) -> Area:
    return spot.how.area if spot.how else spot.areas[0]


def any_of(parts: Sequence[Wanted]) -> Wanted:
    """The set of all photos that are in one of ``parts``."""
    distinct = list(dict.fromkeys(parts))
    if len(distinct) == 1:
        return distinct[0]
    alone = [part.conditions[0] for part in distinct if len(part.conditions) == 1]
    is_all = [Wanted(conditions=(condition,)) for condition in alone] == distinct
    merged = _merged(alone) if is_all else None
    return Wanted(conditions=(merged,)) if merged else Wanted(either=tuple(distinct))


def _merged(conditions: Sequence[Condition]) -> Condition | None:
    """One condition with choices, if they are of one kind."""
    if any(getattr(condition, "negated", True) for condition in conditions):
        return None
    said = " or ".join(dict.fromkeys(condition.words for condition in conditions))
    times = [one for one in conditions if isinstance(one, TimeCondition)]
    places = [one for one in conditions if isinstance(one, PlaceCondition)]
    cameras = [one for one in conditions if isinstance(one, CameraCondition)]
    if len(times) == len(conditions):
        return TimeCondition(said, tuple(dict.fromkeys(w for one in times for w in one.whens)))
    if len(places) == len(conditions):
        return PlaceCondition(said, tuple(dict.fromkeys(s for one in places for s in one.spots)))
    if len(cameras) == len(conditions):
        return CameraCondition(said, tuple(dict.fromkeys(n for one in cameras for n in one.names)))
    return None
