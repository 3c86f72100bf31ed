"""What the gazetteer answers with: areas and mentions of them in a text.

Plain data and the one formula for the size of a city. The search layer decides containment over
columns; ``Area.holds`` decides it for one position and its address: country and region by name,
county and continent by their members, a city or point by radius.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from photocraft_local.places.distance import box_around, haversine_km
from photocraft_local.places.keys import fold

Kind = Literal["city", "county", "region", "country", "continent", "point"]
_ROUNDING_KM = 0.01  # positions are told to about a metre
ROUND = ("city", "point")  # kinds that a radius bounds

KM_PER_ROOT_HEAD = 0.0085  # a disc of about 4,400 people a square kilometre
_MARGIN_KM = 1.5  # a village's surroundings; also the error of a centre
NAMING_MARGIN_KM = 0.3


def city_radius_km(population: int) -> float:
    """Radius of a city: ``1.5 + 0.0085·√population`` km.

    6.6 km for Florence (367,000), 13.9 for Paris (2.1 million), 26.7 for New York.
    """
    return _MARGIN_KM + KM_PER_ROOT_HEAD * math.sqrt(max(population, 0))


def city_reach_km(population: int) -> float:
    """How far a city's name goes when positions are named; ``city_radius_km`` less most of its
    margin."""
    return NAMING_MARGIN_KM + KM_PER_ROOT_HEAD * math.sqrt(max(population, 0))


@dataclass(frozen=True, slots=True)
class Area:
    """A named part of the Earth.

    ``radius_km`` decides containment for a city or point. For a region or country it only says
    how far 95 % of its towns reach from its centre of population. ``members`` are folded names:
    the towns of a county, the countries of a continent. ``south … east`` hold nearly all towns
    of a region or country; for a round area they follow from the radius.
    """

    name: str
    kind: Kind
    country_code: str  # ISO 3166-1 alpha-2; "" for a point
    region: str  # name of the first-level region, as in ``PlaceName.region``
    latitude: float
    longitude: float
    radius_km: float
    population: int
    country: str = ""
    members: frozenset[str] = frozenset()
    extent: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # south, west, north, east

    @property
    def is_round(self) -> bool:
        return self.kind in ROUND

    def bounds(self) -> tuple[float, float, float, float]:
        """South, west, north, east; around the centre if no towns' extent is known."""
        if self.extent != (0.0, 0.0, 0.0, 0.0):
            return self.extent
        box = box_around(self.latitude, self.longitude, self.radius_km)
        return box.south, box.west, box.north, box.east

    def holds(self, latitude: float, longitude: float, address: str) -> bool:
        """Whether a position with that address ("city, region, country") lies in it."""
        if self.is_round:
            away = haversine_km(self.latitude, self.longitude, latitude, longitude)
            return bool(away <= self.radius_km + _ROUNDING_KM)
        parts = [fold(part) for part in address.split(",")]
        if self.kind == "continent":
            return parts[-1] in self.members
        whole = [self.region, self.country] if self.kind in ("region", "county") else [self.name]
        wanted = [fold(name) for name in whole if name]
        inside = parts[-len(wanted) :] == wanted
        return inside and (self.kind != "county" or parts[0] in self.members)

    def label(self) -> str:
        """For people: ``"Lisbon, Portugal"``, ``"Paris, Texas, United States"``."""
        region = self.region if self.kind in ("city", "county") else ""
        region = "" if region == self.name else region
        country = self.country if self.kind != "country" else ""
        return ", ".join(part for part in (self.name, region, country) if part)


@dataclass(frozen=True, slots=True)
class PlaceMention:
    """``text[start:end]`` names one of ``areas``, the likeliest first.

    ``side``: the name itself says which part ("Norditalien"). ``notes`` tell how it was read;
    with a ``problem`` it has no areas, and ``hint`` is the way out.
    """

    start: int
    end: int
    text: str
    areas: tuple[Area, ...]
    side: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""
    hint: str = ""
    own: bool = False  # a place that the person named
