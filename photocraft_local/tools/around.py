"""around: the photos that stand to given ones in a relation of time, place, event or trip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.durations import FORMS
from photocraft_local.tools.format import counted, kilometres, photo_row
from photocraft_local.tools.given import Given, given_photos
from photocraft_local.tools.photos import photos_by_uid
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.relations import NO_ANCHOR, Relation, Standing, standing
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.scope import scope_of
from photocraft_local.tools.units import UNITS

if TYPE_CHECKING:
    from photocraft_local.search.catalog import Catalog

_SHOWN = 40
_MOST_ANCHORS_TOLD = 20

RELATION: dict[str, schema.Schema] = {
    "unit": schema.choice(
        "In the same calendar unit, event or trip as a given photo; with shift in another one.",
        UNITS,
    ),
    "shift": schema.whole(
        "Moves unit: 1 = the day (week, event …) after, -1 = the one before; default 0.",
        -1_000_000,
        1_000_000,
    ),
    "before": schema.words(f"How far back in time: {FORMS}.", longest=60),
    "after": schema.words(f"How far ahead in time: {FORMS}.", longest=60),
    "km": schema.number("Within so many kilometres.", 0.001, 20_100),
    "which": schema.choice(
        "Which of the given photos count: the first or the last in time, or each (default).",
        ("each", "first", "last"),
    ),
    "apart": schema.choice(
        "Leave out photos of the same day, month, year … as any given photo that counts: "
        "km=0.5 with apart=year is 'at the same place in another year'.",
        UNITS,
    ),
    "negate": schema.flag("true = the photos to which this is known not to apply."),
}


class Around:
    name = "around"
    description = (
        "Find the photos that stand to given ones (photos, or set: a saved set) in a relation: "
        "unit and shift = on the same day, week, weekend, month, year, event or trip, or so many "
        "after or before it; before and after = how far in time; km = how far in place. What is "
        "given must hold at once, for at least one of the given photos. "
        "E.g. unit='day' shift=1 = on the day after; after='1h' = within the hour after; "
        "after='any time' = at any time after; unit='trip' = the whole trip; km=0.5 alone = the "
        "same spot at any time. The given photos that count are left out unless include_given "
        "is true. Each result names a given photo that it belongs to, minutes and km from it; "
        "'given' lists those that count, and in how many events ('occasions') all of them lie. "
        "Only time and place are compared, not looks."
    )
    parameters = schema.arguments(
        photos=schema.uids(
            "The photos to look around, at most 50; also the question's own pictures.", most=50
        ),
        set=schema.set_name("A saved set to look around, instead of photos."),
        **RELATION,
        include_given=schema.flag("true = treat the given photos like all others."),
        where=schema.WHERE_BRIEF,
        within=schema.WITHIN,
        save_as=schema.SAVE_AS,
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        check_save_as(context, arguments)
        relation = Relation.of(arguments, context.habits.first_weekday)
        catalog = context.catalog
        given = given_photos(context, arguments)
        scope = scope_of(context, arguments)
        found = standing(catalog, relation, given)
        selection = catalog.selection_of(catalog.uids_at(found.rows))
        if scope.selection is not None:
            selection = selection & scope.selection
        if not arguments.get("include_given") and not relation.negate:
            out = given if relation.which == "each" else found.used
            selection = selection - catalog.selection_of(catalog.uids_at(out.in_library))
        uids = selection.uids()
        data: dict[str, Json] = {
            "count": len(uids),
            "photos": _rows(context, uids[:_SHOWN], found),
            "given": _given(catalog, found, given),
            **scope.facts,
        }
        if len(found.unusable):
            missing = list(found.unusable.uids[:_MOST_ANCHORS_TOLD])
            data["left_out"] = {"photos": missing, "missing": relation.needed}
        brief = f"{counted(len(uids), 'photo')} around {counted(len(found.used), 'photo')}"
        brief += keep(context, self.name, arguments, uids, data)
        return Observation(self.name, data=data, brief=brief)


def _given(catalog: Catalog, found: Standing, given: Given) -> dict[str, Json]:
    """The given photos that count, and in how many events all of the given ones lie."""
    events = catalog.columns.event[given.in_library]
    shown = min(len(found.used), _MOST_ANCHORS_TOLD)
    return {
        "count": len(found.used),
        "photos": [
            {"uid": found.used.uids[at], "time": found.used.time_of(at)} for at in range(shown)
        ],
        "occasions": len(np.unique(events[events >= 0])),
    }


def _rows(context: ToolContext, uids: list[str], found: Standing) -> list[dict[str, Json]]:
    photos = photos_by_uid(context, uids)
    rows = context.catalog.rows_of([photo.uid for photo in photos])
    anchors = found.anchors[np.searchsorted(found.rows, rows)]
    return [
        photo_row(photo, **_relation(context.catalog, row, found.used, at))
        for photo, row, at in zip(photos, rows.tolist(), anchors.tolist(), strict=True)
    ]


def _relation(catalog: Catalog, row: int, used: Given, at: int) -> dict[str, Json]:
    """The given photo, minutes after it and km from it."""
    if at == NO_ANCHOR:
        return {}
    facts: dict[str, Json] = {"near": used.uids[at]}
    columns = catalog.columns
    minutes = used.minutes_before(at, int(columns.times[row]))
    km = used.km_to(at, columns.latitude[row], columns.longitude[row])
    if minutes is not None:
        facts["minutes_after"] = round(minutes, 1)
    if km is not None:
        facts["km"] = kilometres(km)
    return facts
