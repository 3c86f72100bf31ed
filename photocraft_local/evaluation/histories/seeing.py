"""A life as somebody sees it: as it was, or as the files state it. Rules are solved on either.

As files state it, events and trips are what the library's declared rules make of their times and
positions. Knows nothing of questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf

import numpy as np

from photocraft_local.evaluation.histories.life import Shot
from photocraft_local.evaluation.histories.stating import NULL_ISLAND, Stated
from photocraft_local.evaluation.histories.world import HOME, NAMED, NAMED_KM, TOWNS
from photocraft_local.library.events import away_from_home, segment
from photocraft_local.places.distance import haversine_km

GAP_HOURS, GAP_KM = 3.0, 5.0  # between events, whatever the person's settings are
_TOWN_KM = 5.0
_NOWHERE = (inf, inf)


@dataclass(frozen=True, slots=True)
class Seen:
    """One photo; empty, 0 or None for what is not known. ``event`` counts in time, ``trip`` too
    (0: not on a trip)."""

    name: str
    labels: frozenset[str]
    time: datetime | None
    position: tuple[float, float] | None
    town: str
    country: str
    spot: str
    camera: str
    event: int
    trip: int
    screenshot: bool = False


def as_it_was(life: Sequence[Shot]) -> list[Seen]:
    return [
        Seen(
            shot.name,
            shot.frame.labels,
            shot.time,
            None if shot.frame.is_screenshot else shot.position,
            "" if shot.frame.is_screenshot else shot.town.name,
            "" if shot.frame.is_screenshot else shot.town.country,
            "" if shot.frame.is_screenshot else shot.spot,
            shot.camera,
            shot.event,
            shot.trip,
            shot.frame.is_screenshot,
        )
        for shot in life
    ]


def as_stated(life: Sequence[Shot], stated: Sequence[Stated]) -> list[Seen]:
    positions = [one.position if one.position != NULL_ISLAND else None for one in stated]
    events, trips = _occasions([one.time for one in stated], positions)
    places = _places(positions)
    return [
        Seen(
            shot.name,
            shot.frame.labels,
            one.time,
            positions[at],
            *places[at],
            one.camera,
            events[at],
            trips[at],
            shot.frame.is_screenshot,
        )
        for at, (shot, one) in enumerate(zip(life, stated, strict=True))
    ]


def _places(positions: Sequence[tuple[float, float] | None]) -> list[tuple[str, str, str]]:
    """Town, country and named spot of each, empty where there is no position."""
    points = np.array([one or (np.nan, np.nan) for one in positions], np.float64).reshape(-1, 2)
    latitude, longitude = points.T
    towns = (HOME, *TOWNS)
    away = np.stack([haversine_km(*town.spots[0], latitude, longitude) for town in towns])
    nearest = np.argmin(np.nan_to_num(away, nan=np.inf), axis=0)
    assert not (away[nearest, np.arange(len(points))] > _TOWN_KM).any(), "far from all towns"
    named = {
        name: haversine_km(*point, latitude, longitude) <= NAMED_KM for name, point in NAMED.items()
    }
    found = []
    for at, position in enumerate(positions):
        town = towns[nearest[at]]
        spots = [name for name, inside in named.items() if inside[at]]
        known = (town.name, town.country, spots[0] if spots else "")
        found.append(known if position else ("", "", ""))
    return found


def _occasions(
    times: Sequence[datetime | None], positions: Sequence[tuple[float, float] | None]
) -> tuple[list[int], list[int]]:
    """Event and trip of each, 0 where none, as ``library.events`` makes them; trips that do not
    lead away from home are none."""
    start = datetime(1970, 1, 1)
    moments = {
        at: int((time - start).total_seconds()) for at, time in enumerate(times) if time is not None
    }
    dated = sorted(moments, key=lambda at: (moments[at], positions[at] or _NOWHERE, at))
    seconds = np.array([moments[at] for at in dated], np.int64)
    known = [positions[at] or (np.nan, np.nan) for at in dated]
    latitude, longitude = np.array(known, np.float64).reshape(-1, 2).T
    found = segment(seconds, latitude, longitude, gap_hours=GAP_HOURS, gap_km=GAP_KM)
    away = away_from_home(seconds, latitude, longitude)
    journeys = set(found.trip[away].tolist()) if away is not None else set(found.trip.tolist())
    events, trips = [0] * len(times), [0] * len(times)
    numbers = {trip: rank for rank, trip in enumerate(sorted(journeys), start=1)}
    for row, at in enumerate(dated):
        events[at] = int(found.event[row]) + 1
        trips[at] = numbers.get(int(found.trip[row]), 0)
    return events, trips
