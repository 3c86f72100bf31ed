"""A phrase about a place as data: which areas, in what relation, negated or not.

Writes itself in the filter language, in words, and decides for one position. Knows no text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import haversine_km
from photocraft_local.places.sectors import Corridor, Side, Toward

Relation = Literal["in", "near", "within", "toward", "part", "between"]
_ROUNDING_KM = 0.01  # positions are told to about a metre
_SMALL_POINT_KM = 3.0
# Of a land's height: Naples is in the south of Italy, Manchester in the north of England.
_PART = 0.4
_NEAR_TOWN_KM, _NEAR_POINT_KM, _NEAR_EDGE_KM = 25.0, 2.0, 10.0


def near_km(area: Area) -> float:
    """How far "near" goes without a distance: 2 km beyond a monument or a home, 25 km around a
    town, and always 10 km beyond the edge of what is larger."""
    if area.kind == "point" and area.radius_km < _SMALL_POINT_KM:
        return round(area.radius_km + _NEAR_POINT_KM, 1)
    least = _NEAR_TOWN_KM if area.kind == "city" else 0.0
    return round(max(least, area.radius_km + _NEAR_EDGE_KM), 1)


@dataclass(frozen=True, slots=True)
class PlaceSpot:
    """One place and how a photo has to lie to it.

    ``name`` is what the filter language looks up; ``area`` is what it finds. ``side`` goes with
    "toward" (beyond it, in that direction) and "part" (inside it, that part of it); ``km`` with
    "near" and "within"; ``to`` is the other end of "between".
    """

    name: str
    area: Area
    relation: Relation = "in"
    km: float | None = None
    side: Side | None = None
    to: PlaceSpot | None = None
    others: tuple[Area, ...] = ()  # that bear the name, too

    def to_expression(self) -> str:
        name = _quoted(self.name)
        if self.relation in ("near", "within"):
            return f"near({name}, {self.km:g})"
        if self.relation == "toward":
            return f"{self.side}_of({name})"
        if self.relation == "between" and self.to:
            return f"between({name}, {_quoted(self.to.name)})"
        if self.relation == "part" and self.side:
            south, west, north, east = self._part(self.side)
            return f"(place({name}) and box({south:.4f}, {west:.4f}, {north:.4f}, {east:.4f}))"
        return f"place({name})"

    def meaning(self) -> str:
        where = self.area.label()
        if self.relation == "near":
            return f"near {where} (within {self.km:g} km)"
        if self.relation == "within":
            return f"within {self.km:g} km of {where}"
        if self.relation == "toward":
            return f"{self.side} of {where} ({Toward.rule(self.area)})"
        if self.relation == "part":
            return f"in the {self.side} of {where} (its outer two fifths)"
        if self.relation == "between" and self.to:
            rule = Corridor(self.area, self.to.area).rule()
            return f"between {where} and {self.to.area.label()} ({rule})"
        return f"in {where} ({how_bounded(self.area)})"

    def holds(self, latitude: float, longitude: float, address: str) -> bool:
        """Whether a position with that address ("city, region, country") meets it."""
        if self.relation in ("near", "within") and self.km is not None:
            away = haversine_km(self.area.latitude, self.area.longitude, latitude, longitude)
            return bool(away <= self.km + _ROUNDING_KM)
        if self.relation == "toward" and self.side:
            outside = not self.area.holds(latitude, longitude, address)
            return outside and bool(Toward(self.area, self.side).contains(latitude, longitude))
        if self.relation == "between" and self.to:
            return bool(Corridor(self.area, self.to.area).contains(latitude, longitude))
        inside = self.area.holds(latitude, longitude, address)
        if self.relation == "part" and self.side:
            south, west, north, east = self._part(self.side)
            return inside and south <= latitude <= north and west <= longitude <= east
        return inside

    def _part(self, side: Side) -> tuple[float, float, float, float]:
        south, west, north, east = self.area.bounds()
        high, wide = _PART * (north - south), _PART * (east - west)
        return (
            north - high if "north" in side else -90.0,
            east - wide if "east" in side else -180.0,
            south + high if "south" in side else 90.0,
            west + wide if "west" in side else 180.0,
        )


@dataclass(frozen=True, slots=True)
class PlacePhrase:
    """``text[start:end]`` says where: in any of ``spots``, or in none of them if ``negated``.

    ``meaning`` tells it in words, ``notes`` how something doubtful was taken (``ambiguous``: a
    name that several large places bear). With a ``problem`` it cannot be followed and has no
    expression: the words are a place, and the problem says what is wrong, ``hint`` the way out.
    """

    start: int
    end: int
    text: str
    spots: tuple[PlaceSpot, ...]
    negated: bool = False
    notes: tuple[str, ...] = ()
    ambiguous: bool = False
    problem: str = ""
    hint: str = ""

    @property
    def relation(self) -> str:
        """Of the first spot; a direction is told by its name: "north"."""
        if not self.spots:
            return ""
        spot = self.spots[0]
        return spot.side if spot.relation == "toward" and spot.side else spot.relation

    @property
    def km(self) -> float | None:
        return self.spots[0].km if self.spots else None

    @property
    def areas(self) -> tuple[Area, ...]:
        return tuple(spot.area for spot in self.spots)

    @property
    def meaning(self) -> str:
        words = " or ".join(spot.meaning() for spot in self.spots)
        return f"not {words}" if self.negated else words

    def to_expression(self) -> str:
        """In the filter language; a photo without a position is neither in nor out."""
        parts = [spot.to_expression() for spot in self.spots]
        joined = parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"
        return f"not {joined}" if self.negated else joined

    def holds(self, latitude: float, longitude: float, address: str) -> bool:
        """Whether a position with that address meets it; for a check apart from the filter."""
        inside = any(spot.holds(latitude, longitude, address) for spot in self.spots)
        return inside is not self.negated


def how_bounded(area: Area) -> str:
    """What decides containment, in words: "radius 8.3 km", "country"."""
    if area.kind == "continent":
        return f"{len(area.members)} countries"
    return f"radius {area.radius_km:g} km" if area.is_round else area.kind


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
