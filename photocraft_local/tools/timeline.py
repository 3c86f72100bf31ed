"""A selection laid out in time: how many photos on each day, and in which events.

Knows selections and nothing of how they were made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from photocraft_local.records import Json

if TYPE_CHECKING:
    from photocraft_local.search.selection import Selection

_MOST_BARS = 40


@dataclass(frozen=True, slots=True)
class EventPhotos:
    """The selected photos of one event."""

    count: int
    first_uid: str


def histogram(selection: Selection) -> dict[str, Json]:
    """Label → count by day, or by month or year where there would be more than 40 bars.

    More than 40 years are cut to the fullest ones, and ``years_left_out`` counts the others.
    """
    for unit in ("day", "month", "year"):
        bars = selection.histogram(unit)
        if len(bars) <= _MOST_BARS:
            return {f"by_{unit}": dict(bars)}
    fullest = sorted(bars, key=lambda bar: (-bar[1], bar[0]))[:_MOST_BARS]
    return {"by_year": dict(fullest), "years_left_out": len(bars) - _MOST_BARS}


def event_photos(selection: Selection) -> dict[int, EventPhotos]:
    """Event number → its selected photos; photos without an event are left out."""
    catalog = selection.catalog
    numbers = catalog.columns.event[selection.rows]
    events, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    uids = catalog.uids_at(selection.rows[first])
    return {
        event: EventPhotos(count, uid)
        for event, uid, count in zip(events.tolist(), uids, counts.tolist(), strict=True)
        if event >= 0
    }
