"""What the gazetteer answers with: areas and mentions of them in a text.

Plain data and the one formula for the size of a city. Decides no containment: that is the
search layer's work (country by code, region by name and country, city by radius).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Kind = Literal["city", "region", "country", "point"]

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
    how far 95 % of its towns reach from its centre of population.
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

    def label(self) -> str:
        """For people: ``"Lisbon, Portugal"``, ``"Paris, Texas, United States"``."""
        region = self.region if self.kind == "city" and self.region != self.name else ""
        country = self.country if self.kind != "country" else ""
        return ", ".join(part for part in (self.name, region, country) if part)


@dataclass(frozen=True, slots=True)
class PlaceMention:
    """``text[start:end]`` names one of ``areas``, the likeliest first."""

    start: int
    end: int
    text: str
    areas: tuple[Area, ...]
