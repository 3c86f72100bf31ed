"""The functions of the filter language: near(), place(), box(), between(), north_of() and its
like, match_address(), flag().

Each checks its arguments and gives a leaf of the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from photocraft_local.places.sectors import SIDES, Corridor, Side
from photocraft_local.search.expression.context import Context
from photocraft_local.search.expression.errors import Mistake, did_you_mean
from photocraft_local.search.expression.fields import Value
from photocraft_local.search.expression.nodes import (
    Between,
    Beyond,
    Flagged,
    InArea,
    InBox,
    Near,
    OnHoliday,
    Words,
)
from photocraft_local.search.expression.tree import Node
from photocraft_local.timelang.holidays import holidays, known_name


def holiday(arguments: Sequence[Value], context: Context) -> Node:
    """holiday("easter"), holiday("monday after easter"): every year's"""
    asked = _one_text("holiday", arguments)
    name = known_name(asked)
    if name is None:
        raise Mistake(f"no holiday named {asked!r} is known", did_you_mean(asked, holidays()))
    return OnHoliday(name)


Function = Callable[[Sequence[Value], Context], Node]

NEAR_KM = 10.0  # near("…") without a distance, beyond the place's own radius
_POINT = re.compile(r"\s*([+-]?\d{1,3}(?:\.\d*)?)\s*[,;\s]\s*([+-]?\d{1,3}(?:\.\d*)?)\s*")


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
        area = context.area(values[0], town=True)
        if not area.is_round:
            raise Mistake(
                f"{values[0]!r} is a {area.kind}; near() takes a town or coordinates",
                f'write place("{values[0]}") for all of it, or name a town in it',
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


def beyond(side: Side) -> Function:
    """north_of("Lisbon"): outside it, in that direction"""

    def function(arguments: Sequence[Value], context: Context) -> Node:
        name = _one_text(f"{side}_of", arguments)
        area = context.area(name)
        if area.kind == "continent":
            raise Mistake(f"{name!r} is a continent", f'write {side}_of("…") with a smaller place')
        return Beyond(name, area, side)

    return function


def between(arguments: Sequence[Value], context: Context) -> Node:
    """between("Lisbon", "Porto"): on the way, outside both"""
    names = [name for name in arguments if isinstance(name, str)]
    if len(names) != 2 or len(arguments) != 2:
        raise Mistake("between() takes two places in quotes", 'write between("Lisbon", "Porto")')
    start, end = (context.area(name, town=True) for name in names)
    for name, area in zip(names, (start, end), strict=True):
        if not area.is_round:
            raise Mistake(
                f"{name!r} is a {area.kind}; a way leads between towns or points",
                "name a town in it",
            )
    return Between((names[0], names[1]), Corridor(start, end))


def match_address(arguments: Sequence[Value], context: Context) -> Node:
    """match_address("Rua Augusta"), also match_address(address, "…") as other systems write it"""
    return Words("address", (_one_text("match_address", arguments),), contains=True)


def flag(arguments: Sequence[Value], context: Context) -> Node:
    """flag("screenshot")"""
    name = _one_text("flag", arguments).strip().casefold().replace("_", "-").replace(" ", "-")
    if name not in context.flags:
        raise Mistake(f"there is no flag {name!r}", did_you_mean(name, context.flags))
    return Flagged(name)


FUNCTIONS: dict[str, Function] = {
    "near": near,
    "place": place,
    "box": box,
    "between": between,
    **{f"{side}_of": beyond(side) for side in SIDES},
    "match_address": match_address,
    "flag": flag,
    "holiday": holiday,
}


def _one_text(function: str, arguments: Sequence[Value]) -> str:
    if len(arguments) != 1 or not isinstance(arguments[0], str) or not arguments[0].strip():
        raise Mistake(f"{function}() takes one text in quotes", f'write {function}("…")')
    return arguments[0]


def _number(value: Value) -> float:
    if isinstance(value, (bool, str)):
        raise Mistake(f"{value!r} is not a number")
    return float(value)


def _degrees(latitude: Value, longitude: Value) -> tuple[float, float]:
    if isinstance(latitude, str) or isinstance(longitude, str):
        raise Mistake(f"{latitude!r}, {longitude!r} are not two numbers")
    if not -90 <= latitude <= 90:
        raise Mistake(f"there is no latitude {latitude:g}", "it goes from -90 to 90, comes first")
    if not -180 <= longitude <= 180:
        raise Mistake(f"there is no longitude {longitude:g}", "it goes from -180 to 180")
    return float(latitude), float(longitude)
