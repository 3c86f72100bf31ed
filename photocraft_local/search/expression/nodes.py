"""The typed tree that a filter becomes. ``negated()`` pushes NOT down to the leaves, ``text()``
writes the tree back in the filter language, ``notes()`` says what names were taken to mean.

Knows nothing of photos: rows.py finds the photos that fit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Union

from photocraft_local.places.areas import Area
from photocraft_local.search.expression.dates import seconds_text
from photocraft_local.search.expression.intervals import (
    HIGHEST,
    LOWEST,
    Intervals,
    complement,
    intersection,
    union,
)


@dataclass(slots=True, eq=False)
class Within:
    """An integer field (``time`` in seconds) lies in one of the intervals."""

    field: str
    intervals: Intervals

    def negated(self) -> Within:
        return Within(self.field, complement(self.intervals))

    def text(self) -> str:
        parts = [self._interval_text(low, high) for low, high in self.intervals]
        if not parts:
            return f"{self.field} < {self._value_text(None)}"
        return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"

    def notes(self) -> list[str]:
        return []

    def _interval_text(self, low: int, high: int) -> str:
        if low <= LOWEST and high >= HIGHEST:
            return f"{self.field} >= {self._value_text(None)}"
        if low <= LOWEST:
            return f"{self.field} < {self._value_text(high)}"
        if high >= HIGHEST:
            return f"{self.field} >= {self._value_text(low)}"
        if self.field != "time" and high == low + 1:
            return f"{self.field} == {low}"
        return f"{self._value_text(low)} <= {self.field} < {self._value_text(high)}"

    def _value_text(self, value: int | None) -> str:
        """``None``: the lowest value that the field can have."""
        if self.field != "time":
            return "0" if value is None else str(value)
        try:
            return json.dumps(seconds_text(value)) if value is not None else '"0001"'
        except (
            ValueError,
            OverflowError,
        ):  # a year beyond the calendar: every photo is on one side
            return '"0001"' if value is not None and value < 0 else '"9999-12-31T23:59:59"'


@dataclass(slots=True, eq=False)
class Words:
    """A text field equals one of ``values``, or holds one as whole words (``contains``)."""

    field: str
    values: tuple[str, ...]
    contains: bool
    negative: bool = False
    meant: tuple[str, ...] = ()  # what the gazetteer made of values that the library lacks

    def negated(self) -> Words:
        return replace(self, negative=not self.negative)

    def text(self) -> str:
        words = [json.dumps(value, ensure_ascii=False) for value in self.values]
        if self.field == "address":
            parts = " or ".join(f"match_address({word})" for word in words)
            whole = parts if len(words) == 1 else f"({parts})"
            return f"not {whole}" if self.negative else whole
        if len(words) == 1:
            return f"{self.field} {'!=' if self.negative else '=='} {words[0]}"
        return f"{self.field} {'not in' if self.negative else 'in'} ({', '.join(words)})"

    def notes(self) -> list[str]:
        if not self.meant:
            return []
        return [f"{', '.join(map(json.dumps, self.values))} → {', '.join(self.meant)}"]


@dataclass(slots=True, eq=False)
class Near:
    """Within ``km`` kilometres of a point."""

    latitude: float
    longitude: float
    km: float
    name: str = ""  # how the point was named, if it was
    meant: str = ""  # what the name was taken to mean
    negative: bool = False

    def negated(self) -> Near:
        return replace(self, negative=not self.negative)

    def text(self) -> str:
        point = self.name or f"{self.latitude:.6g},{self.longitude:.6g}"
        call = f"near({json.dumps(point, ensure_ascii=False)}, {self.km:g})"
        return f"not {call}" if self.negative else call

    def notes(self) -> list[str]:
        point = f"{self.latitude:.4f},{self.longitude:.4f}"
        return [f"{json.dumps(self.name, ensure_ascii=False)} → {self.meant} ({point})"] * bool(
            self.name
        )


@dataclass(slots=True, eq=False)
class InBox:
    """Between two parallels and two meridians; west > east crosses the antimeridian."""

    south: float
    west: float
    north: float
    east: float
    negative: bool = False

    def negated(self) -> InBox:
        return InBox(self.south, self.west, self.north, self.east, not self.negative)

    def text(self) -> str:
        call = f"box({self.south!r}, {self.west!r}, {self.north!r}, {self.east!r})"
        return f"not {call}" if self.negative else call

    def notes(self) -> list[str]:
        return []


@dataclass(slots=True, eq=False)
class InArea:
    """In a country or region by name, in a city by distance from its centre."""

    name: str
    area: Area
    negative: bool = False

    def negated(self) -> InArea:
        return replace(self, negative=not self.negative)

    def text(self) -> str:
        call = f"place({json.dumps(self.name, ensure_ascii=False)})"
        return f"not {call}" if self.negative else call

    def notes(self) -> list[str]:
        area = self.area
        round_ = area.kind in ("city", "point")
        how = f"radius {area.radius_km:g} km" if round_ else area.kind
        return [f"{self.text().removeprefix('not ')} → {area.label()} ({how})"]


@dataclass(slots=True, eq=False)
class Flagged:
    name: str
    negative: bool = False

    def negated(self) -> Flagged:
        return Flagged(self.name, not self.negative)

    def text(self) -> str:
        return f"{'not ' if self.negative else ''}flag({json.dumps(self.name)})"

    def notes(self) -> list[str]:
        return []


@dataclass(slots=True, eq=False)
class Has:
    """Whether a fact is known at all: ``time``, ``gps``, ``place``, ``camera``."""

    fact: str
    negative: bool = False

    def negated(self) -> Has:
        return Has(self.fact, not self.negative)

    def text(self) -> str:
        return f"{'not ' if self.negative else ''}has_{self.fact}"

    def notes(self) -> list[str]:
        return []


@dataclass(slots=True, eq=False)
class And:
    parts: tuple[Node, ...]

    def negated(self) -> Node:
        return disjoin([part.negated() for part in self.parts])

    def text(self) -> str:
        return " and ".join(
            f"({part.text()})" if isinstance(part, Or) else part.text() for part in self.parts
        )

    def notes(self) -> list[str]:
        return [note for part in self.parts for note in part.notes()]


@dataclass(slots=True, eq=False)
class Or:
    parts: tuple[Node, ...]

    def negated(self) -> Node:
        return conjoin([part.negated() for part in self.parts])

    def text(self) -> str:
        return " or ".join(part.text() for part in self.parts)

    def notes(self) -> list[str]:
        return [note for part in self.parts for note in part.notes()]


Leaf = Within | Words | Near | InBox | InArea | Flagged | Has
Node = Union[Leaf, And, Or]  # noqa: UP007 (And and Or name it before it is complete)


def conjoin(parts: list[Node]) -> Node:
    """AND of the parts: flat, intervals of one field intersected, time first."""
    ranges: dict[str, Within] = {}
    rest: list[Node] = []
    for part in parts:
        if isinstance(part, Within):
            _intersect(ranges, part)
        elif isinstance(part, And):
            for one in part.parts:
                if isinstance(one, Within):
                    _intersect(ranges, one)
                else:
                    rest.append(one)
        else:
            rest.append(part)
    merged: list[Node] = [*ranges.values(), *rest]
    if len(ranges) > 1 and "time" in ranges:
        merged.sort(key=lambda node: node is not ranges["time"])
    return merged[0] if len(merged) == 1 else And(tuple(merged))


def _intersect(ranges: dict[str, Within], node: Within) -> None:
    field = node.field
    if field in ranges:
        node = Within(field, intersection(ranges[field].intervals, node.intervals))
    ranges[field] = node


def disjoin(parts: list[Node]) -> Node:
    """OR of the parts: flat, intervals of one field joined."""
    if len(parts) == 1:
        return parts[0]
    ranges: dict[str, Intervals] = {}
    rest: list[Node] = []
    for part in parts:
        for one in part.parts if type(part) is Or else (part,):
            if type(one) is Within:
                ranges[one.field] = union(ranges.get(one.field, ()), one.intervals)
            else:
                rest.append(one)
    merged: list[Node] = [Within(field, intervals) for field, intervals in ranges.items()]
    merged += rest
    return merged[0] if len(merged) == 1 else Or(tuple(merged))
