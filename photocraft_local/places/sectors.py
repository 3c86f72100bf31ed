"""Directions from a place and ways between two, decided on degrees.

"North of" is a quarter of the compass (45° to each side) beyond the place itself, as far as
1,000 km; "between" is a corridor around the straight way. Knows no names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import EARTH_RADIUS_KM, haversine_km, unit_vectors

Side = Literal[
    "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"
]  # fmt: skip
SIDES: tuple[Side, ...] = (
    "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest",
)  # fmt: skip
REACH_KM = 1_000.0  # beyond, nobody names a place as the one that something lies north of
_HALF_SECTOR = 45.0  # degrees to each side
_SHARE, _LEAST_KM, _MOST_KM = 0.15, 5.0, 50.0  # half width of a corridor, of its length
_SPREAD = 0.5  # how fast it widens, of the way from the nearer end

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Toward:
    """Beyond an area in one direction: outside its radius if it is round."""

    area: Area
    side: Side

    @staticmethod
    def rule(area: Area) -> str:
        reach = REACH_KM if area.is_round else REACH_KM + area.radius_km
        return f"outside it, 45° to each side, up to {reach:.0f} km"

    def contains(self, latitude: Any, longitude: Any) -> Mask:
        """Which positions lie that way; being outside a region or country is the caller's to
        decide, by name. Shape: the inputs'."""
        area = self.area
        away = haversine_km(area.latitude, area.longitude, latitude, longitude)
        inner = area.radius_km if area.is_round else 0.0
        reach = REACH_KM if area.is_round else REACH_KM + area.radius_km
        bearing = rhumb_bearing(area.latitude, area.longitude, latitude, longitude)
        turn = np.abs((bearing - SIDES.index(self.side) * 45.0 + 180.0) % 360.0 - 180.0)
        # The edge between two quarters belongs to the one clockwise of it.
        edge = ((bearing - SIDES.index(self.side) * 45.0) % 360.0) == 360.0 - _HALF_SECTOR
        result: Mask = (away > inner) & (away <= reach) & ((turn < _HALF_SECTOR) | edge)
        return result


@dataclass(frozen=True, slots=True)
class Corridor:
    """Along the great circle between two areas, outside both."""

    start: Area
    end: Area

    @property
    def half_width_km(self) -> float:
        """15 % of the way, at least 5 and at most 50 km."""
        length = haversine_km(*_point(self.start), *_point(self.end))
        return float(np.clip(_SHARE * length, _LEAST_KM, _MOST_KM))

    def rule(self) -> str:
        width = f"at most {self.half_width_km:.0f} km from the straight way"
        return f"outside both, {width}, less near its ends"

    def contains(self, latitude: Any, longitude: Any) -> Mask:
        """Which positions lie on the way. Shape: the inputs'."""
        first, last = (unit_vectors(*_point(area)) for area in (self.start, self.end))
        points = unit_vectors(latitude, longitude)
        normal = np.cross(first, last)
        length = float(np.linalg.norm(normal))
        if length == 0.0:
            return np.zeros(points.shape[:-1], np.bool_)
        normal = normal / length
        beside = EARTH_RADIUS_KM * np.abs(np.arcsin(np.clip(points @ normal, -1.0, 1.0)))
        ahead = (points @ np.cross(normal, first) > 0) & (points @ np.cross(last, normal) > 0)
        ahead &= points @ (first + last) > 0  # not on the far side of the Earth
        along = [
            EARTH_RADIUS_KM * np.abs(np.arctan2(points @ np.cross(normal, end), points @ end))
            for end in (first, last)
        ]
        # Else a suburb beside one end would be on the way to the other.
        allowed = np.clip(_SPREAD * np.minimum(*along), _LEAST_KM, self.half_width_km)
        outside = [
            haversine_km(*_point(area), latitude, longitude) > area.radius_km
            for area in (self.start, self.end)
        ]
        result: Mask = ahead & (beside <= allowed) & outside[0] & outside[1]
        return result


def rhumb_bearing(lat1: float, lon1: float, lat2: Any, lon2: Any) -> npt.NDArray[np.float64]:
    """Degrees clockwise from north of the course with a constant compass direction, 0 … 360:
    what a map shows, which a great circle's first bearing is not."""
    turn = (np.asarray(lon2, np.float64) - lon1 + 180.0) % 360.0 - 180.0
    bounded = [np.clip(np.asarray(lat, np.float64), -89.9, 89.9) for lat in (lat1, lat2)]
    first, last = (np.log(np.tan(np.pi / 4 + np.radians(lat) / 2)) for lat in bounded)
    result: npt.NDArray[np.float64] = np.degrees(np.arctan2(np.radians(turn), last - first)) % 360.0
    return result


def _point(area: Area) -> tuple[float, float]:
    return area.latitude, area.longitude
