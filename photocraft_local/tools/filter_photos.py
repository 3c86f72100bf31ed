"""filter_photos: exact filtering by facts, the foremost of an order, sums over the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from photocraft_local.errors import UsageError
from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, photo_row, safe_text
from photocraft_local.tools.ordering import ORDERS, Ordering
from photocraft_local.tools.photos import photos_by_uid
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.scope import saved, scope_of
from photocraft_local.tools.summary import apart, summary
from photocraft_local.tools.timeline import histogram

if TYPE_CHECKING:
    from photocraft_local.search.selection import Selection

_SHOWN = 20
OF_PLACE = schema.words(
    "With nearest and farthest: from where, a place's name or 'lat,lon'.", longest=200
)


class FilterPhotos:
    name = "filter_photos"
    description = (
        "Find photos by facts alone, exactly: time, date, place, camera, event and so on; not "
        "by look. when takes words or ISO dates, where an expression; both hold at once; without "
        "any the whole library is counted. "
        "Returns the count, the first 20 photos by time, and how many were taken on each day "
        "(by month or year where there are many days). order and limit keep only so many: the "
        "first or last in time, the northernmost, those nearest to a place. facts=true adds sums "
        "over all photos of the result: span, days, events, trips, cities, countries, cameras, "
        "middle; compare tells how far its middle is from another set's. save_as keeps all of "
        "them as a set."
    )
    parameters = schema.arguments(
        where=schema.WHERE,
        when=schema.WHEN,
        within=schema.WITHIN,
        order=schema.choice(
            "Sort by this; photos that lack the fact are left out. first and last: in time.",
            ORDERS,
        ),
        of_place=OF_PLACE,
        limit=schema.whole("Keep so many of the order; needs order.", 1, 1_000_000),
        facts=schema.flag("true = sums over all photos of the result."),
        compare=schema.set_name("A saved set: how far apart are it and the result."),
        save_as=schema.SAVE_AS,
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        check_save_as(context, arguments)
        scope = scope_of(context, arguments)
        selection = context.catalog.everything() if scope.selection is None else scope.selection
        uids, facts = _ordered(context, arguments, selection)
        kept = selection if len(uids) == len(selection) else context.catalog.selection_of(uids)
        data: dict[str, Json] = {
            "count": len(uids),
            "photos": [photo_row(photo) for photo in photos_by_uid(context, uids[:_SHOWN])],
            "histogram": histogram(kept),
            "filter": "none: every photo of the library",
            **scope.facts,
            **facts,
        }
        if arguments.get("facts"):
            data["facts"] = summary(context, kept)
        if "compare" in arguments:
            data["apart"] = apart(kept, saved(context, arguments["compare"]))
        brief = counted(len(uids), "photo") + keep(context, self.name, arguments, uids, data)
        return Observation(self.name, data=data, brief=brief)


def _ordered(
    context: ToolContext, arguments: Arguments, selection: Selection
) -> tuple[list[str], dict[str, Json]]:
    """UIDs in the order asked for (else by time), and what is to be said about it."""
    if "order" not in arguments:
        if extra := {"limit", "of_place"} & set(arguments):
            raise UsageError(
                f"{' and '.join(sorted(extra))} without order", hint="give order as well"
            )
        return selection.uids(), {}
    ordering = Ordering.of(context, arguments["order"], arguments.get("of_place", ""))
    rows = ordering.ranked(selection)
    facts: dict[str, Json] = {"order": {"by": ordering.by, "of": len(rows)}}
    if ordering.point:
        facts["order"]["from"] = safe_text(ordering.point.meaning)
    if len(rows) < len(selection):
        facts["order"]["without_the_fact"] = len(selection) - len(rows)
    return context.catalog.uids_at(rows[: arguments.get("limit")]), facts
