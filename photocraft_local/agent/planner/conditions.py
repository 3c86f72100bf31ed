"""Conditions that metadata decides: time, place, camera. Each says how the filter tool asks for
it and, apart from that, checks a row of ``get_metadata`` by itself.

Two ways to the same verdict on purpose: a photo stays in an answer only if both agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import haversine_km
from photocraft_local.places.phrase import PlaceSpot
from photocraft_local.records import Json
from photocraft_local.timelang import When

FIELDS = ("time", "place", "camera", "flags")  # of get_metadata, that conditions read
Row = Mapping[str, Json]  # one photo of get_metadata
_SHORT_MAKERS = {"fuji": "fujifilm"}  # as people say it → as cameras write it
_ROUNDING_KM = 0.01  # get_metadata rounds degrees to about a metre


class Condition(Protocol):
    @property
    def words(self) -> str:
        """The question's own words for it."""
        ...

    @property
    def where(self) -> str:
        """The condition as a filter expression."""
        ...

    @property
    def when(self) -> str:
        """Words for the tools' ``when`` that say the same; empty if only ``where`` can."""
        ...

    def holds(self, row: Row) -> bool:
        """Whether the photo meets it; an unknown fact does not."""
        ...


@dataclass(frozen=True, slots=True)
class TimeCondition:
    """Any of ``whens``; none of them if ``negated``."""

    words: str
    whens: tuple[When, ...]
    negated: bool = False

    @property
    def where(self) -> str:
        return _any_of([when.to_expression() for when in self.whens], self.negated)

    @property
    def when(self) -> str:
        return "" if self.negated or len(self.whens) > 1 else self.whens[0].text

    def holds(self, row: Row) -> bool:
        time = row.get("time")
        if not isinstance(time, dict):
            return False
        moment = datetime.fromisoformat(time["local"]).replace(tzinfo=None)
        return any(when.contains(moment) for when in self.whens) is not self.negated


@dataclass(frozen=True, slots=True)
class Spot:
    """One named place; ``areas`` are all that bear the name. ``km`` is a distance from it.

    ``how`` is what the place language made of the words ("north of", "between", the one area
    that is meant); it decides where it is known."""

    name: str
    areas: tuple[Area, ...]
    km: float | None = None
    how: PlaceSpot | None = None

    @property
    def where(self) -> str:
        if self.how:
            return self.how.to_expression()
        name = json.dumps(self.name, ensure_ascii=False)
        return f"place({name})" if self.km is None else f"near({name}, {self.km:g})"

    def holds(self, place: Row) -> bool:
        if self.how:
            address = str(place.get("address", ""))
            return self.how.holds(place["latitude"], place["longitude"], address)
        return any(self._lies_in(area, place) for area in self.areas)

    def _lies_in(self, area: Area, place: Row) -> bool:
        if area.kind in ("country", "region") and self.km is None:
            names = [area.region, area.country] if area.kind == "region" else [area.name]
            whole = ", ".join(name for name in names if name)
            return f", {place.get('address', '')}".endswith(f", {whole}")
        away = haversine_km(area.latitude, area.longitude, place["latitude"], place["longitude"])
        return bool(away <= (area.radius_km if self.km is None else self.km) + _ROUNDING_KM)


@dataclass(frozen=True, slots=True)
class PlaceCondition:
    """In any of ``spots``; in none of them if ``negated``."""

    words: str
    spots: tuple[Spot, ...]
    negated: bool = False

    @property
    def where(self) -> str:
        return _any_of([spot.where for spot in self.spots], self.negated)

    @property
    def when(self) -> str:
        return ""

    def holds(self, row: Row) -> bool:
        place = row.get("place")
        if not isinstance(place, dict):
            return False
        return any(spot.holds(place) for spot in self.spots) is not self.negated


@dataclass(frozen=True, slots=True)
class CameraCondition:
    """The camera's name holds every word of one of ``names``; of none if ``negated``."""

    words: str
    names: tuple[str, ...]
    negated: bool = False

    @property
    def where(self) -> str:
        if len(self.names) > 1 or self.negated:
            return _any_of([_camera(name) for name in self.names], self.negated)
        return _camera(self.names[0])

    @property
    def when(self) -> str:
        return ""

    def holds(self, row: Row) -> bool:
        camera = row.get("camera")
        if not isinstance(camera, str):
            return False
        known = set(re.findall(r"[\w-]+", camera.casefold()))
        return any(_names(name, known) for name in self.names) is not self.negated


@dataclass(frozen=True, slots=True)
class FactCondition:
    """Whether something is known of a photo at all; ``where`` is one of ``_FACTS``."""

    words: str
    where: str

    @property
    def when(self) -> str:
        return ""

    def holds(self, row: Row) -> bool:
        return _FACTS[self.where](row)


_FACTS: dict[str, Callable[[Row], bool]] = {
    "has_time": lambda row: row.get("time") is not None,
    "has_gps": lambda row: row.get("place") is not None,
    "not has_camera": lambda row: row.get("camera") is None,
    "not has_time": lambda row: row.get("time") is None,
    "not has_gps": lambda row: row.get("place") is None,
    'flag("screenshot")': lambda row: "screenshot" in row.get("flags", ()),
    'not flag("screenshot")': lambda row: "screenshot" not in row.get("flags", ()),
}


def _camera(name: str) -> str:
    parts = [f"camera == {json.dumps(word, ensure_ascii=False)}" for word in name.split()]
    return " and ".join(parts)


def _names(name: str, known: set[str]) -> bool:
    said = set(name.casefold().split())
    return all(word in known or _SHORT_MAKERS.get(word) in known for word in said)


def _any_of(expressions: list[str], negated: bool) -> str:
    joined = " or ".join(f"({expression})" for expression in expressions)
    if negated:
        return f"not ({joined})"
    return expressions[0] if len(expressions) == 1 else f"({joined})"
