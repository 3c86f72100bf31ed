"""Checks of an answer against other photos: relations, places in an order, membership of sets.

Each gives a verdict a photo, worked out anew from the catalog. Knows nothing of answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from photocraft_local.records import Json, Photo
from photocraft_local.tools import schema
from photocraft_local.tools.around import RELATION
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.filter_photos import OF_PLACE
from photocraft_local.tools.format import counted, kilometres, safe_text, time_text
from photocraft_local.tools.given import Given, given_photos, seconds_of
from photocraft_local.tools.ordering import ORDERS, Ordering
from photocraft_local.tools.relations import NO_ANCHOR, Relation, standing
from photocraft_local.tools.scope import saved

_MOST_SHUNNED = 5  # given photos that are named where a relation must not hold to any

SCHEMAS: dict[str, schema.Schema] = {
    "relation": {
        **schema.arguments(
            photos=schema.uids("The photos that it leans on.", most=50),
            set=schema.set_name("A saved set that it leans on, instead of photos."),
            **RELATION,
        ),
        "description": "How each photo must stand to others, with the arguments of around.",
    },
    "order": {
        **schema.arguments(
            "by",
            "set",
            "limit",
            by=schema.choice("The order, as in filter_photos.", ORDERS),
            of_place=OF_PLACE,
            set=schema.set_name("The saved set that was chosen from."),
            limit=schema.whole("Each photo must be among so many of the order.", 1, 1_000_000),
        ),
        "description": "Each photo must be among the foremost of a saved set.",
    },
    "in_sets": schema.many(
        schema.set_name("A saved set."), "Each photo must be in one of these.", most=64
    ),
    "not_in_sets": schema.many(
        schema.set_name("A saved set."), "Each photo must be in none of these.", most=64
    ),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    rule: str
    value: str
    met: bool
    anchors: tuple[str, ...] = ()


Verdicts = dict[str, Verdict]  # by UID


def _related(
    context: ToolContext, arguments: Mapping[str, Json], photos: Sequence[Photo]
) -> Verdicts:
    relation = Relation.of(arguments, context.habits.first_weekday)
    found = standing(context.catalog, relation, given_photos(context, arguments))
    anchors = dict(zip(found.rows.tolist(), found.anchors.tolist(), strict=True))
    rows = context.catalog.rows_of([photo.uid for photo in photos]).tolist()
    rule = f"{_in_words(arguments)} {_those(len(found.used), relation.which)}{_apart(relation)}"
    rule = f"not {rule}" if relation.negate else rule
    shunned = found.used.uids[:_MOST_SHUNNED] if relation.negate else ()
    verdicts = {}
    for photo, row in zip(photos, rows, strict=True):
        at = anchors.get(row, NO_ANCHOR)
        named = found.used.uids[at : at + 1] if at != NO_ANCHOR else shunned
        value = _standing_of(photo, relation, found.used, at)
        verdicts[photo.uid] = Verdict(rule, value, row in anchors, named)
    return verdicts


def _in_words(arguments: Mapping[str, Json]) -> str:
    """E.g. ``on the day after``, ``within 2h after``, ``within 0.5 km of``."""
    parts = []
    if "unit" in arguments:
        unit, shift = arguments["unit"], arguments.get("shift", 0)
        side = "after" if shift > 0 else "before"
        number = f"{abs(shift)} {unit}s" if abs(shift) > 1 else f"the {unit}"
        parts.append(f"{number} {side}" if shift else f"in the same {unit} as")
    for side in ("before", "after"):
        if side in arguments:
            words = arguments[side]
            parts.append(side if words == "any time" else f"within {words} {side}")
    if "km" in arguments:
        parts.append(f"within {arguments['km']:g} km of")
    return " and ".join(parts)


def _those(count: int, which: str) -> str:
    if which != "each":
        return f"the {which} of the given photos"
    return "the given photo" if count == 1 else f"one of {count} given photos"


def _apart(relation: Relation) -> str:
    return f", in another {relation.apart}" if relation.apart else ""


def _standing_of(photo: Photo, relation: Relation, used: Given, at: int) -> str:
    """The photo's own facts, and how far from the given one it is."""
    parts = []
    if relation.needs_time:
        parts.append(time_text(photo.taken.local) if photo.taken else "no time")
    if relation.unit in ("event", "trip"):
        parts.append(f"event {photo.event_id}" if photo.event_id is not None else "no event")
    if at != NO_ANCHOR and relation.needs_time and photo.taken is not None:
        minutes = used.minutes_before(at, seconds_of(photo.taken.local))
        parts += [] if minutes is None else [f"{_length(minutes)} {used.uids[at]}"]
    if relation.km is not None:
        spot = photo.location
        km = used.km_to(at, spot.latitude, spot.longitude) if spot and at != NO_ANCHOR else None
        parts.append(
            f"{kilometres(km)} km from {used.uids[at]}" if km is not None else _spot(photo)
        )
    return ", ".join(parts)


def _spot(photo: Photo) -> str:
    if photo.location is None:
        return "no position"
    return f"{photo.location.latitude:.5f}, {photo.location.longitude:.5f}"


def _length(minutes: float) -> str:
    side = "before" if minutes < 0 else "after"
    whole = round(abs(minutes))
    if whole >= 2 * 1440:
        return f"{whole / 1440:.0f} days {side}"
    hours, rest = divmod(whole, 60)
    return f"{hours} h {rest} min {side}" if hours else f"{rest} min {side}"


def _ordered(
    context: ToolContext, arguments: Mapping[str, Json], photos: Sequence[Photo]
) -> Verdicts:
    ordering = Ordering.of(context, arguments["by"], arguments.get("of_place", ""))
    ranked = ordering.ranked(saved(context, arguments["set"]))
    rank = {row: at for at, row in enumerate(ranked.tolist(), start=1)}
    limit = arguments["limit"]
    origin = f" from {safe_text(ordering.point.meaning)}" if ordering.point else ""
    foremost = "the foremost" if limit == 1 else f"among the {limit} foremost"
    rule = f"{foremost} of {len(ranked)} by '{ordering.by}'{origin}"
    rows = context.catalog.rows_of([photo.uid for photo in photos]).tolist()
    return {
        photo.uid: Verdict(
            rule,
            f"number {rank.get(row, 'none')}: {ordering.value(photo)}",
            rank.get(row, limit + 1) <= limit,
        )
        for photo, row in zip(photos, rows, strict=True)
    }


def _in_any(context: ToolContext, names: Sequence[str], photos: Sequence[Photo]) -> Verdicts:
    return _membership(context, names, photos, wanted=True)


def _in_none(context: ToolContext, names: Sequence[str], photos: Sequence[Photo]) -> Verdicts:
    return _membership(context, names, photos, wanted=False)


def _membership(
    context: ToolContext, names: Sequence[str], photos: Sequence[Photo], *, wanted: bool
) -> Verdicts:
    sets = {name: set(context.sets.get(name).uids) for name in names}
    listed = " or ".join(f"{name} ({counted(len(uids), 'photo')})" for name, uids in sets.items())
    rule = f"in the set {listed}" if wanted else f"not in the set {listed}"
    verdicts = {}
    for photo in photos:
        found = [name for name, uids in sets.items() if photo.uid in uids]
        value = f"in {', '.join(found)}" if found else "in none of them"
        verdicts[photo.uid] = Verdict(rule, value, bool(found) is wanted)
    return verdicts


CHECKS: dict[str, Callable[[ToolContext, Json, Sequence[Photo]], Verdicts]] = {
    "relation": _related,
    "order": _ordered,
    "in_sets": _in_any,
    "not_in_sets": _in_none,
}
