"""Events and trips: runs of photos without a long pause or jump, from time and place only.

An event ends where the next photo comes ``event_gap_hours`` later or ``event_gap_km`` away. A
trip is a run of events that ends with a pause of twelve such gaps (of thirty, where both sides
of it are far from home), or where the person leaves home or comes back. Home is the
quarter-degree cell with the most photographed days, if a quarter of all located days are there,
and they are ten or spread over two months. An event's id is the smallest photo id in it, so it
stays the same when photos are added elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from photocraft_local.library.rows import local_of
from photocraft_local.library.schema import PhotoState
from photocraft_local.places.distance import haversine_km
from photocraft_local.records import Event, address
from photocraft_local.storage.database import Database, Row

_TRIP_GAPS = 12  # pauses: 36 h at the default event gap of 3 h
_AWAY_GAPS = 30  # 90 h: on a journey, some days without a photo are not a way home and back
_HOME_GAPS = 10  # jumps: 50 km at the default event gap of 5 km
HOME_KM = 50.0
_PIECE = 1024  # rows written with one statement
_HOME_CELL_DEGREES = 0.25
_HOME_DAYS = 10
_HOME_DAYS_SPREAD = 5  # enough where they are spread: a place that one comes back to
_HOME_SPREAD = 60  # days from the first to the last of them
_HOME_SHARE = 0.25

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Segments:
    """Event and trip number of each photo, in the order of the input."""

    event: Ints
    trip: Ints


def segment(
    seconds: Ints, latitude: Floats, longitude: Floats, *, gap_hours: float, gap_km: float
) -> Segments:
    """Split photos, sorted by wall-clock ``seconds``, into events and trips numbered from 0.

    Positions are degrees, nan where unknown; a photo without one is taken to be where the last
    located photo before it was, or after a long pause where the next one is.
    """
    if not len(seconds):
        return Segments(np.empty(0, np.int64), np.empty(0, np.int64))
    pause = np.diff(seconds)
    source = _sources(latitude, pause > gap_hours * 3600)
    latitude, longitude = latitude[source], longitude[source]
    jump = haversine_km(latitude[:-1], longitude[:-1], latitude[1:], longitude[1:])
    event_starts = (pause > gap_hours * 3600) | (np.nan_to_num(jump) > gap_km)
    away = _away(seconds, latitude, longitude, _HOME_GAPS * gap_km)
    crossed = away[1:] != away[:-1]
    longest = np.where(away[1:] & away[:-1], _AWAY_GAPS, _TRIP_GAPS) * gap_hours * 3600
    trip_starts = event_starts & ((pause > longest) | crossed)
    return Segments(_numbered(event_starts), _numbered(trip_starts))


def update_events(database: Database, *, gap_hours: float, gap_km: float) -> int:
    """Segment all present photos anew, inside the caller's transaction; writes only rows that
    differ and returns their number."""
    present = int(PhotoState.PRESENT)
    database.execute(
        "UPDATE photos SET event_id = NULL, trip_id = NULL"
        " WHERE event_id IS NOT NULL AND (state != ? OR taken_seconds IS NULL)",
        (present,),
    )
    pieces = database.pieces(
        "SELECT taken_seconds, photo_id, latitude, longitude, ifnull(event_id, -1),"
        " ifnull(trip_id, -1) FROM photos WHERE state = ? AND taken_seconds IS NOT NULL",
        (present,),
    )
    # Exact as float64: ids and seconds are far below 2**53.
    table = np.concatenate([np.empty((0, 6)), *(np.array(piece, np.float64) for piece in pieces)])
    # Of one second: by position, so that the order in which photos came in decides nothing.
    table = table[np.lexsort((table[:, 1], table[:, 3], table[:, 2], table[:, 0]))]
    seconds, ids = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    found = segment(seconds, table[:, 2], table[:, 3], gap_hours=gap_hours, gap_km=gap_km)
    new = np.column_stack([_smallest(found.event, ids), _smallest(found.trip, ids)])
    differ = np.flatnonzero((new != table[:, 4:6]).any(axis=1))
    for start in range(0, len(differ), _PIECE):
        rows = differ[start : start + _PIECE]
        database.execute_many(
            "UPDATE photos SET event_id = nullif(?, -1), trip_id = nullif(?, -1)"
            " WHERE photo_id = ?",
            np.column_stack([new[rows], ids[rows]]).tolist(),
        )
    return len(differ)


def read_events(database: Database) -> list[Event]:
    """Events by start time. The cover is the middle photo, the place the most frequent one."""
    rows = database.rows(
        "SELECT event_id, trip_id, taken_seconds, uid, city, region, country"
        " FROM photos LEFT JOIN places USING (place_id)"
        " WHERE state = ? AND event_id IS NOT NULL ORDER BY event_id, taken_seconds, photo_id",
        (int(PhotoState.PRESENT),),
    )
    groups: dict[int, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[0], []).append(row)
    return sorted((_event(group) for group in groups.values()), key=lambda event: event.start)


def _event(rows: list[Row]) -> Event:
    first, middle, last = rows[0], rows[len(rows) // 2], rows[-1]
    return Event(
        event_id=first[0],
        trip_id=first[1],
        start=local_of(first[2]),
        end=local_of(last[2]),
        count=len(rows),
        cover_uid=middle[3],
        place=_commonest([address(*row[4:7]) for row in rows]),
    )


def _commonest(words: list[str]) -> str:
    counts: dict[str, int] = {}
    for word in words:
        if word:
            counts[word] = counts.get(word, 0) + 1
    return max(counts, key=lambda word: counts[word], default="")


def _sources(values: Floats, pauses: NDArray[np.bool_]) -> Ints:
    """For each photo the one whose position is taken: itself, else the last located one before
    it; where a pause lies between, the next one with no pause between, if there is one."""
    rows = np.arange(len(values))
    located = ~np.isnan(values)
    before = np.maximum.accumulate(np.where(located, rows, -1))
    behind = np.minimum.accumulate(np.where(located, rows, len(values))[::-1])[::-1]
    run = np.concatenate([_numbered(pauses), [-1]])  # of no photo: -1
    arrives = (run[before] != run[:-1]) & (run[behind] == run[:-1])
    return np.where(arrives, behind, np.where(before < 0, rows, before)).astype(np.int64)


def away_from_home(seconds: Ints, latitude: Floats, longitude: Floats) -> NDArray[np.bool_] | None:
    """Whether each photo, sorted by ``seconds``, is known to be taken far from home; None if no
    home is known. Positions as in ``segment``; a photo without one is not known to be."""
    if _home(seconds, latitude, longitude) is None:
        return None
    return _away(seconds, latitude, longitude, HOME_KM)


def _away(seconds: Ints, latitude: Floats, longitude: Floats, home_km: float) -> NDArray[np.bool_]:
    """Whether each photo was taken far from home; nowhere if there is no home."""
    home = _home(seconds, latitude, longitude)
    if home is None:
        return np.zeros(len(seconds), np.bool_)
    far: NDArray[np.bool_] = haversine_km(latitude, longitude, *home) > home_km
    return far


def _home(seconds: Ints, latitude: Floats, longitude: Floats) -> tuple[float, float] | None:
    located = ~np.isnan(latitude)
    cells = np.floor(np.column_stack([latitude, longitude])[located] / _HOME_CELL_DEGREES)
    days = seconds[located] // 86400
    visits = np.unique(np.column_stack([cells, days]), axis=0)
    if not len(visits):
        return None
    places, counts = np.unique(visits[:, :2], axis=0, return_counts=True)
    best = int(np.argmax(counts))
    there = visits[(visits[:, :2] == places[best]).all(axis=1), 2]
    spread = len(there) >= _HOME_DAYS_SPREAD and np.ptp(there) >= _HOME_SPREAD
    if not spread and len(there) < _HOME_DAYS:
        return None
    if len(there) < _HOME_SHARE * len(np.unique(visits[:, 2])):
        return None
    here = (cells == places[best]).all(axis=1)
    return float(np.median(latitude[located][here])), float(np.median(longitude[located][here]))


def _numbered(starts: NDArray[np.bool_]) -> Ints:
    numbers: Ints = np.concatenate([[0], np.cumsum(starts)]).astype(np.int64)
    return numbers


def _smallest(groups: Ints, ids: Ints) -> Ints:
    """For each photo the smallest id in its group; groups are numbered in a row from 0."""
    if not len(groups):
        return ids
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    smallest: Ints = np.minimum.reduceat(ids, starts)[groups]
    return smallest
