"""list_events: the runs of photos without a long pause or jump, with span, place and count."""

from __future__ import annotations

from photocraft_local.records import Event, Json, Observation
from photocraft_local.tools import schema
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import counted, safe_text, time_text
from photocraft_local.tools.ports import Arguments
from photocraft_local.tools.scope import scope_of
from photocraft_local.tools.timeline import EventPhotos, event_photos

_LIMIT = 40


class ListEvents:
    name = "list_events"
    description = (
        "List events: runs of photos without a long pause or jump in place, computed from time "
        "and place alone. Each with its number (usable in where: 'event == 12'), trip number, "
        "start, end, place, number of photos and a cover photo. where, when and within keep the "
        "events that hold at least one such photo; 'matching' counts these. By start time."
    )
    parameters = schema.arguments(
        where=schema.WHERE_BRIEF,
        when=schema.WHEN_BRIEF,
        within=schema.WITHIN,
        limit=schema.whole(f"How many events to return at most; default {_LIMIT}.", 1, 200),
        skip=schema.whole("Leave out that many first events, to read on.", 0, 1_000_000),
    )

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        scope = scope_of(context, arguments)
        events = context.library.events()
        matching: dict[int, EventPhotos] | None = None
        if scope.selection is not None:
            matching = event_photos(scope.selection)
            events = [event for event in events if event.event_id in matching]
        skip = arguments.get("skip", 0)
        page = events[skip : skip + arguments.get("limit", _LIMIT)]
        data: dict[str, Json] = {
            "count": len(events),
            "events": [_row(event, matching) for event in page],
            **scope.facts,
        }
        if len(page) < len(events):
            data["shown"] = f"{skip + 1} to {skip + len(page)} of {len(events)}"
        return Observation(self.name, data=data, brief=counted(len(events), "event"))


def _row(event: Event, matching: dict[int, EventPhotos] | None) -> dict[str, Json]:
    row: dict[str, Json] = {
        "event": event.event_id,
        "trip": event.trip_id,
        "start": time_text(event.start),
        "end": time_text(event.end),
        "place": safe_text(event.place) or "-",
        "photos": event.count,
        "cover": event.cover_uid,
    }
    if matching is not None:
        found = matching[event.event_id]
        row |= {"matching": found.count, "cover": found.first_uid}
    return row
