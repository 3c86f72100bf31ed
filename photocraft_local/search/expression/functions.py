"""The functions of the filter language: near(), place(), box(), match_address(), flag().

Each checks its arguments and gives a leaf of the tree. Names of places go to a ``PlaceLookup``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from photocraft_local.errors import PlaceNotFound
from photocraft_local.places.areas import Area
from photocraft_local.search.expression.errors import Mistake, did_you_mean
from photocraft_local.search.expression.fields import Value
from photocraft_local.search.expression.nodes import Flagged, InArea, InBox, Near, Node, Words

NEAR_KM = 10.0  # near("…") without a distance, beyond the place's own radius
_POINT = re.compile(r"\s*([+-]?\d{1,3}(?:\.\d*)?)\s*[,;\s]\s*([+-]?\d{1,3}(?:\.\d*)?)\s*")


class PlaceLookup(Protocol):
    """Names → areas, the likeliest first; places.Gazetteer is one."""

    def find(self, name: str, *, near_points: Any = None) -> list[Area]: ...

    def suggest(self, name: str, *, limit: int = 3) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Context:
    """What the meaning of an expression depends on besides its text."""

    today: date
    places: PlaceLookup | None = None
    near_points: Callable[[], Any] = field(default=lambda: None)  # (n, 2) degrees, or None
    flags: Collection[str] = ()

    def area(self, name: str) -> Area:
        """The likeliest area of that name. Raises PlaceNotFound."""
        if not name.strip():
            raise Mistake("the name of the place is empty")
        if self.places is None:
            raise PlaceNotFound(
                f"the place {name!r} cannot be looked up: no gazetteer is at hand",
                hint='give coordinates: near("38.72,-9.14", 10) or box(38.6, -9.3, 38.8, -9.0)',
            )
        areas = self.places.find(name, near_points=self.near_points())
        if not areas:
            near = self.places.suggest(name)
            raise PlaceNotFound(
                f"no place named {name!r} is known",
                hint=f"did you mean {' or '.join(near)}?"
                if near
                else 'try a larger place near it, or coordinates: near("38.72,-9.14", 10)',
            )
        return areas[0]


def near(arguments: Sequence[Value], context: Context) -> Node:
    """near("Lisbon", 5), near("38.72,-9.14", 5), near(38.72, -9.14, 5)"""
    values = list(arguments)
    if len(values) >= 2 and not isinstance(values[0], str):
        values[:2] = [f"{_number(values[0])!r},{_number(values[1])!r}"]
    if not 1 <= len(values) <= 2 or not isinstance(values[0], str):
        raise Mistake("near() takes a place and a distance in km", 'write near("Lisbon", 5)')
    point = _POINT.fullmatch(values[0])
    if point:
        latitude, longitude = _degrees(float(point[1]), float(point[2]))
        name, meant, radius = "", "", 0.0
    else:
        area = context.area(values[0])
        if area.kind in ("country", "region"):
            raise Mistake(
                f"{values[0]!r} is a {area.kind}; near() takes a town or coordinates",
                f'write place("{values[0]}") for all of it',
            )
        latitude, longitude = area.latitude, area.longitude
        name, meant, radius = values[0], area.label(), area.radius_km
    km = max(NEAR_KM, radius) if len(values) == 1 else _number(values[1])
    if not 0 < km <= 20_100:  # half the circumference
        raise Mistake(f"the distance is {km:g} km", "it lies above 0 and below 20100 km")
    return Near(latitude, longitude, float(km), name, meant)


def place(arguments: Sequence[Value], context: Context) -> Node:
    """place("Lisbon"), place("Portugal"), place("Paris, Texas")"""
    name = _one_text("place", arguments)
    return InArea(name, context.area(name))


def box(arguments: Sequence[Value], context: Context) -> Node:
    """box(lat1, lon1, lat2, lon2): south-west corner, north-east corner"""
    if len(arguments) != 4:
        raise Mistake(
            f"box() takes 4 numbers, not {len(arguments)}", "write box(south, west, north, east)"
        )
    south, west = _degrees(arguments[0], arguments[1])
    north, east = _degrees(arguments[2], arguments[3])
    if south > north:
        south, north = north, south
        if west > east:  # both turned round: the corners came in the other order
            west, east = east, west
    return InBox(south, west, north, east)


def match_address(arguments: Sequence[Value], context: Context) -> Node:
    """match_address("Rua Augusta"), also match_address(address, "…") as other systems write it"""
    return Words("address", (_one_text("match_address", arguments),), contains=True)


def flag(arguments: Sequence[Value], context: Context) -> Node:
    """flag("screenshot")"""
    name = _one_text("flag", arguments).strip().casefold().replace("_", "-").replace(" ", "-")
    if name not in context.flags:
        raise Mistake(f"there is no flag {name!r}", did_you_mean(name, context.flags))
    return Flagged(name)


Function = Callable[[Sequence[Value], Context], Node]

FUNCTIONS: dict[str, Function] = {
    "near": near,
    "place": place,
    "box": box,
    "match_address": match_address,
    "flag": flag,
}


def _one_text(function: str, arguments: Sequence[Value]) -> str:
    if len(arguments) != 1 or not isinstance(arguments[0], str) or not arguments[0].strip():
        raise Mistake(f"{function}() takes one text in quotes", f'write {function}("…")')
    return arguments[0]


def _number(value: Value) -> float:
    if isinstance(value, (bool, str)):
        raise Mistake(f"{value!r} is not a number")
    return value


def _degrees(latitude: Value, longitude: Value) -> tuple[float, float]:
    lat, lon = _number(latitude), _number(longitude)
    if -90 <= lat <= 90 and -180 <= lon <= 180:
        return float(lat), float(lon)
    if -90 <= lat <= 90:
        raise Mistake(f"there is no longitude {lon:g}", "it goes from -180 to 180; latitude first")
    raise Mistake(f"there is no latitude {lat:g}", "it goes from -90 to 90 and comes first")
