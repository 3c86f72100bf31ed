"""The conditions that a filter is made of, and NOT on each of them.

``text()`` writes a condition back in the filter language, ``notes()`` says what its names were
taken to mean. Knows nothing of photos: rows.py finds those that fit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from photocraft_local.places.areas import Area
from photocraft_local.places.phrase import how_bounded
from photocraft_local.places.sectors import Corridor, Side, Toward
from photocraft_local.search.expression.dates import clock_text, seconds_text
from photocraft_local.search.expression.intervals import HIGHEST, LOWEST, Intervals, complement
from photocraft_local.search.expression.names import MONTHS, WEEKDAYS

_NAMED = {"month": (1, MONTHS), "weekday": (0, WEEKDAYS)}


@dataclass(slots=True, eq=False)
class Within:
    """An integer field (``time`` in seconds) lies in one of the intervals."""

    field: str
    intervals: Intervals

    def negated(self) -> Within:
        return Within(self.field, complement(self.intervals))

    def text(self) -> str:
        if self.field in _NAMED and self.intervals:
            return self._named_text(*_NAMED[self.field])
        parts = [self._interval_text(low, high) for low, high in self.intervals]
        if not parts:
            return f"{self.field} < {self._value_text(None)}"
        return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"

    def notes(self) -> list[str]:
        return [] if self.intervals else [f"no {self.field} meets all that is asked of it"]

    def _named_text(self, first: int, names: tuple[str, ...]) -> str:
        inside = [
            json.dumps(name)
            for value, name in enumerate(names, first)
            if any(low <= value < high for low, high in self.intervals)
        ]
        if not inside:
            return f"{self.field} < {first}"
        if len(inside) == 1:
            return f"{self.field} == {inside[0]}"
        return f"{self.field} in ({', '.join(inside)})"

    def _interval_text(self, low: int, high: int) -> str:
        if low <= LOWEST and high >= HIGHEST:
            return f"{self.field} >= {self._value_text(None)}"
        if low <= LOWEST:
            return f"{self.field} < {self._value_text(high)}"
        if high >= HIGHEST:
            return f"{self.field} >= {self._value_text(low)}"
        if self.field != "time" and high == low + 1:
            return f"{self.field} == {self._value_text(low)}"
        return f"{self._value_text(low)} <= {self.field} < {self._value_text(high)}"

    def _value_text(self, value: int | None) -> str:
        """``None``: the lowest value that the field can have."""
        if self.field == "clock":
            return json.dumps(clock_text(value or 0))
        if self.field != "time":
            return "0" if value is None else str(value)
        try:
            return json.dumps(seconds_text(value)) if value is not None else '"0001"'
        except (ValueError, OverflowError):  # beyond the calendar, where no photo is
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
        asked = ", ".join(json.dumps(value, ensure_ascii=False) for value in self.values)
        return [f"{self.field} {asked} → {', '.join(self.meant)}"]


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
    """In a country, region, county or continent by name, in a city by distance from its
    centre."""

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
        return [f"{self.text().removeprefix('not ')} → {area.label()} ({how_bounded(area)})"]


@dataclass(slots=True, eq=False)
class Beyond:
    """Outside an area, in one direction from it (places/sectors.py says how far and wide)."""

    name: str
    area: Area
    side: Side
    negative: bool = False

    def negated(self) -> Beyond:
        return replace(self, negative=not self.negative)

    def text(self) -> str:
        call = f"{self.side}_of({json.dumps(self.name, ensure_ascii=False)})"
        return f"not {call}" if self.negative else call

    def notes(self) -> list[str]:
        call = self.text().removeprefix("not ")
        return [f"{call} → {self.area.label()} ({Toward.rule(self.area)})"]


@dataclass(slots=True, eq=False)
class Between:
    """On the way between two towns or points, outside both."""

    names: tuple[str, str]
    way: Corridor
    negative: bool = False

    def negated(self) -> Between:
        return replace(self, negative=not self.negative)

    def text(self) -> str:
        call = f"between({', '.join(json.dumps(name, ensure_ascii=False) for name in self.names)})"
        return f"not {call}" if self.negative else call

    def notes(self) -> list[str]:
        ends = f"{self.way.start.label()} … {self.way.end.label()}"
        return [f"{self.text().removeprefix('not ')} → {ends} ({self.way.rule()})"]


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
class OnHoliday:
    """On the days of a holiday, in whatever year."""

    name: str
    negative: bool = False

    def negated(self) -> OnHoliday:
        return OnHoliday(self.name, not self.negative)

    def text(self) -> str:
        return f"{'not ' if self.negative else ''}holiday({json.dumps(self.name)})"

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


Leaf = Within | Words | Near | InBox | InArea | Beyond | Between | Flagged | OnHoliday | Has
