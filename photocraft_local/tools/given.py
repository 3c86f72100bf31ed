"""The photos that a relation starts from, as columns: of the library, or a question's own
pictures, of which only the header's time and position count.

Knows nothing of relations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import UsageError
from photocraft_local.files.metadata import read_metadata
from photocraft_local.places.distance import haversine_km
from photocraft_local.records import Json
from photocraft_local.search.catalog import Catalog
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.photos import known_photos

NOT_IN_LIBRARY = -1
_UNDATED = int(np.iinfo(np.int64).max)
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Given:
    """One entry a photo, by time, undated ones last. ``rows`` are the catalog's,
    NOT_IN_LIBRARY for a question's own picture; positions are degrees, nan if unknown."""

    uids: tuple[str, ...]
    rows: NDArray[np.intp]
    times: NDArray[np.int64]
    latitude: NDArray[np.float64]
    longitude: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.uids)

    def __getitem__(self, chosen: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Given:
        kept = np.arange(len(self))[chosen]
        return Given(
            tuple(self.uids[at] for at in kept.tolist()),
            self.rows[kept],
            self.times[kept],
            self.latitude[kept],
            self.longitude[kept],
        )

    @property
    def dated(self) -> NDArray[np.bool_]:
        known: NDArray[np.bool_] = self.times != _UNDATED
        return known

    @property
    def located(self) -> NDArray[np.bool_]:
        return np.isfinite(self.latitude) & np.isfinite(self.longitude)

    @property
    def in_library(self) -> NDArray[np.intp]:
        """Catalog rows of those that have one."""
        rows: NDArray[np.intp] = self.rows[self.rows != NOT_IN_LIBRARY]
        return rows

    def minutes_before(self, at: int, seconds: int) -> float | None:
        """From photo ``at`` to a wall-clock time; None if it has no time."""
        time = int(self.times[at])
        return None if _UNDATED in (time, seconds) else (seconds - time) / 60

    def km_to(self, at: int, latitude: float, longitude: float) -> float | None:
        away = haversine_km(self.latitude[at], self.longitude[at], latitude, longitude)
        return float(away) if np.isfinite(away) else None

    def time_of(self, at: int) -> str:
        """ISO 8601, ``-`` for none."""
        time = self.times[at]
        return "-" if time == _UNDATED else str(time.astype("datetime64[s]"))


def given_photos(context: ToolContext, arguments: Mapping[str, Json]) -> Given:
    """What ``photos`` or ``set`` name. UsageError unless it is one of them and not empty."""
    if ("photos" in arguments) == ("set" in arguments):
        raise UsageError(
            "give either photos or set, not both and not neither",
            hint="they are the photos that the relation starts from",
        )
    if "set" in arguments:
        kept = context.sets.get(arguments["set"])
        if not kept.uids:
            raise UsageError(
                f"the set {kept.name!r} is empty, so nothing is around it",
                hint="loosen the call that made it: " + (kept.origin or "unknown"),
            )
        return _sorted(_from_library(context.catalog, kept.uids), [])
    own = [uid for uid in dict.fromkeys(arguments["photos"]) if uid in context.pictures]
    others = [uid for uid in arguments["photos"] if uid not in context.pictures]
    uids = [photo.uid for photo in known_photos(context, others)]
    return _sorted(_from_library(context.catalog, uids), [_picture(context, uid) for uid in own])


def seconds_of(moment: datetime) -> int:
    """Wall-clock seconds, as in the catalog."""
    return (moment - _EPOCH) // timedelta(seconds=1)


def _from_library(catalog: Catalog, uids: Sequence[str]) -> Given:
    rows = catalog.rows_of(uids)
    columns = catalog.columns
    return Given(
        tuple(uids), rows, columns.times[rows], columns.latitude[rows], columns.longitude[rows]
    )


def _picture(context: ToolContext, uid: str) -> Given:
    """A question's own picture. Raises PhotoError if its file cannot be read."""
    facts = read_metadata(context.pictures[uid])
    time = _UNDATED
    if facts.taken is not None:
        time = seconds_of(facts.taken.local)
    spot = facts.location
    return Given(
        (uid,),
        np.array([NOT_IN_LIBRARY], np.intp),
        np.array([time], np.int64),
        np.array([spot.latitude if spot else np.nan]),
        np.array([spot.longitude if spot else np.nan]),
    )


def _sorted(photos: Given, pictures: Sequence[Given]) -> Given:
    parts = [photos, *pictures]
    joined = Given(
        tuple(uid for part in parts for uid in part.uids),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.latitude for part in parts]),
        np.concatenate([part.longitude for part in parts]),
    )
    return joined[np.lexsort((joined.rows, joined.times))]
