"""The first so many photos of a selection by time, compass direction or distance from a place.

Photos that lack the fact stand in no order. Knows nothing of looks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import FilterSyntaxError, UsageError
from photocraft_local.places.distance import haversine_km
from photocraft_local.records import Photo
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.format import kilometres, time_text
from photocraft_local.tools.scope import filtered

if TYPE_CHECKING:
    from photocraft_local.search.selection import Selection

ORDERS = ("first", "last", "north", "south", "east", "west", "nearest", "farthest")
_FROM_A_PLACE = ("nearest", "farthest")
_ANYWHERE_KM = 20_000


@dataclass(frozen=True, slots=True)
class Point:
    """Where distances are measured from; ``meaning`` says what a name was taken to be."""

    latitude: float
    longitude: float
    meaning: str


@dataclass(frozen=True, slots=True)
class Ordering:
    """``by`` is one of ORDERS; ``point`` belongs to "nearest" and "farthest"."""

    by: str
    point: Point | None = None

    @classmethod
    def of(cls, context: ToolContext, by: str, place: str) -> Ordering:
        """Raises UsageError, PlaceNotFound."""
        if (by in _FROM_A_PLACE) != bool(place):
            raise UsageError(
                f"order {by!r} {'needs' if by in _FROM_A_PLACE else 'takes no'} of_place",
                hint="of_place is a name or 'lat,lon' that nearest and farthest start from",
            )
        return cls(by, point_of(context, place) if place else None)

    def ranked(self, selection: Selection) -> NDArray[np.intp]:
        """Catalog rows, the foremost first; those without the fact are left out."""
        rows, columns = selection.rows, selection.catalog.columns
        if self.by in ("first", "last"):
            dated = rows[rows < columns.num_dated]
            return dated if self.by == "first" else dated[::-1]
        located = rows[columns.located[rows]]
        latitude, longitude = columns.latitude[located], columns.longitude[located]
        if self.point:
            away = haversine_km(self.point.latitude, self.point.longitude, latitude, longitude)
            keys = away if self.by == "nearest" else -away
        else:
            axis = latitude if self.by in ("north", "south") else longitude
            keys = -axis if self.by in ("north", "east") else axis
        return located[np.argsort(keys, kind="stable")]

    def value(self, photo: Photo) -> str:
        """What the photo says about the order."""
        if self.by in ("first", "last"):
            return time_text(photo.taken.local) if photo.taken else "no time"
        if photo.location is None:
            return "no position"
        if self.point is None:
            return f"{photo.location.latitude:.5f}, {photo.location.longitude:.5f}"
        away = haversine_km(
            self.point.latitude,
            self.point.longitude,
            photo.location.latitude,
            photo.location.longitude,
        )
        return f"{kilometres(float(away))} km from {self.point.meaning}"


def point_of(context: ToolContext, place: str) -> Point:
    """The middle of a named place, or of 'lat,lon'. Raises PlaceNotFound, FilterSyntaxError."""
    from photocraft_local.search.expression.nodes import InArea, Near

    name = json.dumps(place, ensure_ascii=False)
    try:
        near = filtered(context, f"near({name}, {_ANYWHERE_KM})").description
        assert isinstance(near, Near)
        return Point(near.latitude, near.longitude, near.meant or place)
    except FilterSyntaxError:  # a country or region has a middle too
        inside = filtered(context, f"place({name})").description
        assert isinstance(inside, InArea)
        area = inside.area
        if area.kind == "continent":
            raise UsageError(
                f"{place!r} is many countries: distances from it mean nothing",
                hint="name a town, or give 'lat,lon'",
            ) from None
        return Point(area.latitude, area.longitude, area.label())
