"""What only the person of a library can say: names of places, and on which day questions are asked.

``person.json`` beside the questions, written with made-up histories and easily by hand:
``{"today": "2026-01-01", "places": {"home": {"at": [38.72, -9.14], "radius_km": 0.3}}}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from photocraft_local.evaluation.problems import Problems, document

FILE = "person.json"
_RADIUS_KM = 0.5

Spot = tuple[float, float, float]  # latitude, longitude, radius in km


@dataclass(frozen=True, slots=True)
class Person:
    """``today``: None where it is the newest photo's day."""

    today: date | None = None
    places: Mapping[str, Spot] = field(default_factory=dict)


def write_person(folder: Path, person: Person) -> None:
    told = {
        "today": person.today.isoformat() if person.today else None,
        "places": {
            name: {"at": [latitude, longitude], "radius_km": radius}
            for name, (latitude, longitude, radius) in person.places.items()
        },
    }
    (folder / FILE).write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", "utf-8")


def read_person(folder: Path, problems: Problems) -> Person:
    """Nobody's, if there is no file. A value that cannot be used is named and counts as missing."""
    path = folder / FILE
    told = document(path, problems) if path.exists() else {}
    if not isinstance(told, dict):
        if told is not None:
            problems.add("bad-line", FILE)
        return Person()
    today = None
    if told.get("today") is not None:
        try:
            today = date.fromisoformat(told["today"])
        except (TypeError, ValueError):
            problems.add("bad-value", FILE, f"today is {told['today']!r}")
    places = {} if told.get("places") is None else told["places"]
    if not isinstance(places, dict):
        problems.add("bad-value", FILE, "places is no object")
        places = {}
    found = {}
    for name, value in places.items():
        try:
            found[name] = _spot(name, value)
        except (KeyError, TypeError, ValueError, OverflowError) as exc:
            problems.add("bad-value", FILE, f"place {name!r}: {exc}")
    return Person(today, found)


def _spot(name: str, value: Any) -> Spot:
    latitude, longitude = map(float, value["at"])
    radius = float(value.get("radius_km", _RADIUS_KM))
    is_spot = abs(latitude) <= 90 and abs(longitude) <= 180 and 0 < radius < float("inf")
    if not name.strip() or not is_spot:
        raise ValueError(f"{value!r} is no spot")
    return latitude, longitude, radius
