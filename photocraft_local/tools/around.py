"""around: the photos near given ones in time, in place, or both."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError
from photocraft_local.places.distance import haversine_km
from photocraft_local.records import Json, Observation, Photo
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.durations import FORMS, window
from photocraft_local.tools.format import counted, kilometres, photo_row
from photocraft_local.tools.photos import known_photos, photos_by_uid
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.scope import filtered, scope_of

if TYPE_CHECKING:
    from photocraft_local.search.selection import Selection

_SHOWN = 40


class Around:
    name = "around"
    description = (
        "Find the photos taken near given ones: before and after say how far in time, km how "
        "far in place; what is given must hold at once, for at least one of the given photos. "
        "E.g. after='1h' = within the hour after; before='same day' = that calendar day; "
        "after='next day'; km=0.5 alone = the same spot at any time. The given photos "
        "themselves are left out unless include_given is true. Each result names the nearest "
        "given photo, minutes and km from it. Only time and place are compared, not looks."
    )
    parameters = schema.arguments(
        "photos",
        photos=schema.uids("The photos to look around, at most 50.", most=50),
        before=schema.words(f"How far back in time: {FORMS}.", longest=60),
        after=schema.words(f"How far ahead in time: {FORMS}.", longest=60),
        km=schema.number("Within so many kilometres.", 0.001, 20_000),
        include_given=schema.flag("true = keep the given photos in the result."),
        where=schema.WHERE_BRIEF,
        within=schema.WITHIN,
        save_as=schema.SAVE_AS,
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        _check(arguments, context)
        given = known_photos(context, arguments["photos"])
        usable = [photo for photo in given if _usable(photo, arguments)]
        if not usable:
            raise UsageError(
                f"none of the {counted(len(given), 'given photo')} has the {_needed(arguments)} "
                "that is needed to look around it",
                hint="choose other photos; get_metadata tells what is known of one",
            )
        scope = scope_of(context, arguments)
        found = _near_any(context, arguments, usable)
        if scope.selection is not None:
            found = found & scope.selection
        if not arguments.get("include_given"):
            found = found - context.catalog.selection_of([photo.uid for photo in given])
        uids = list(found.uids())
        shown = photos_by_uid(context, uids[:_SHOWN])
        data: dict[str, Json] = {
            "count": len(uids),
            "photos": [photo_row(photo, **_relation(photo, usable)) for photo in shown],
            **scope.facts,
        }
        unusable = [photo.uid for photo in given if photo not in usable]
        if unusable:
            data["left_out"] = {"photos": unusable, "missing": _needed(arguments)}
        brief = f"{counted(len(uids), 'photo')} around {counted(len(usable), 'photo')}"
        brief += keep(context, self.name, arguments, uids, data)
        return Observation(self.name, data=data, brief=brief)


def _check(arguments: Arguments, context: ToolContext) -> None:
    if not any(key in arguments for key in ("before", "after", "km")):
        raise UsageError(
            "before, after and km are all missing",
            hint=f"give before or after as {FORMS}, or km, or several of them",
        )
    check_save_as(context, arguments)


def _in_time(arguments: Arguments) -> bool:
    return "before" in arguments or "after" in arguments


def _usable(photo: Photo, arguments: Arguments) -> bool:
    timed = photo.taken is not None or not _in_time(arguments)
    return timed and (photo.location is not None or "km" not in arguments)


def _needed(arguments: Arguments) -> str:
    facts = ["time"] * _in_time(arguments) + ["place"] * ("km" in arguments)
    return " and ".join(facts)


def _near_any(context: ToolContext, arguments: Arguments, anchors: Sequence[Photo]) -> Selection:
    expressions = dict.fromkeys(_expression(photo, arguments) for photo in anchors)
    parts = [filtered(context, expression) for expression in expressions]
    found = parts[0]
    for part in parts[1:]:
        found = found | part
    return found


def _expression(anchor: Photo, arguments: Arguments) -> str:
    """The conditions around one photo in the filter language."""
    conditions = []
    if anchor.taken is not None and _in_time(arguments):
        spans = [
            window(arguments[side], anchor.taken.local, side)
            for side in ("before", "after")
            if side in arguments
        ]
        times = [f"(time >= '{_iso(s.start)}' and time < '{_iso(s.end)}')" for s in spans]
        conditions.append("(" + " or ".join(times) + ")")
    if anchor.location is not None and "km" in arguments:
        point = f"{anchor.location.latitude:.7f},{anchor.location.longitude:.7f}"
        conditions.append(f"near('{point}', {arguments['km']})")
    return " and ".join(conditions)


def _iso(moment: datetime) -> str:
    return moment.replace(microsecond=0).isoformat()


def _relation(photo: Photo, anchors: Sequence[Photo]) -> dict[str, Json]:
    """The nearest anchor (in time, else in place), minutes after it and km from it."""
    nearest = min(anchors, key=lambda anchor: _order(photo, anchor))
    minutes, km = _minutes(photo, nearest), _km(photo, nearest)
    facts: dict[str, Json] = {"near": nearest.uid}
    if minutes is not None:
        facts["minutes_after"] = round(minutes, 1)
    if km is not None:
        facts["km"] = kilometres(km)
    return facts


def _order(photo: Photo, anchor: Photo) -> tuple[float, float]:
    minutes, km = _minutes(photo, anchor), _km(photo, anchor)
    return (
        abs(minutes) if minutes is not None else float("inf"),
        km if km is not None else float("inf"),
    )


def _minutes(photo: Photo, anchor: Photo) -> float | None:
    if photo.taken is None or anchor.taken is None:
        return None
    return (photo.taken.local - anchor.taken.local).total_seconds() / 60


def _km(photo: Photo, anchor: Photo) -> float | None:
    here, there = photo.location, anchor.location
    if here is None or there is None:
        return None
    return float(haversine_km(here.latitude, here.longitude, there.latitude, there.longitude))
