"""filter_photos: exact filtering by facts, with a count and a histogram by day."""

from __future__ import annotations

from photocraft_local.records import Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, photo_row
from photocraft_local.tools.photos import photos_by_uid
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.saving import check_save_as, keep
from photocraft_local.tools.scope import scope_of
from photocraft_local.tools.timeline import histogram

_SHOWN = 20


class FilterPhotos:
    name = "filter_photos"
    description = (
        "Find photos by facts alone, exactly: time, date, place, camera, event and so on; not "
        "by look. when takes words or ISO dates, where an expression; both hold at once; without "
        "any the whole library is counted. "
        "Returns the count, the first 20 photos by time, and how many were taken on each day "
        "(by month or year where there are many days). save_as keeps all of them as a set."
    )
    parameters = schema.arguments(
        where=schema.WHERE, when=schema.WHEN, within=schema.WITHIN, save_as=schema.SAVE_AS
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        check_save_as(context, arguments)
        scope = scope_of(context, arguments)
        selection = context.catalog.everything() if scope.selection is None else scope.selection
        uids = list(selection.uids())
        data: dict[str, Json] = {
            "count": len(uids),
            "photos": [photo_row(photo) for photo in photos_by_uid(context, uids[:_SHOWN])],
            "histogram": histogram(selection),
            "filter": "none: every photo of the library",
            **scope.facts,
        }
        brief = counted(len(uids), "photo") + keep(context, self.name, arguments, uids, data)
        return Observation(self.name, data=data, brief=brief)
