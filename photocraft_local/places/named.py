"""Places that the person named: "home", "grandma's". The checked record and its area.

Owns what a valid name, position and radius are. Knows no library and no text.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

from photocraft_local.errors import UsageError
from photocraft_local.places.areas import Area
from photocraft_local.places.cues import word_classes
from photocraft_local.places.keys import fold

DEFAULT_RADIUS_KM = 0.5  # a house and the streets around it, and the error of a phone
MIN_RADIUS_KM, MAX_RADIUS_KM = 0.02, 200.0
MAX_LETTERS = 60
_WEIGHT = 1_000_000  # ranked like a large city: the person knows what the word means


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """Signed degrees (WGS 84); a photo within ``radius_km`` of the point lies there."""

    name: str
    latitude: float
    longitude: float
    radius_km: float = DEFAULT_RADIUS_KM

    @property
    def key(self) -> str:
        """The spelling that tells names apart: "Grandma's" and "grandma’s" are one."""
        return fold(self.name)

    def area(self) -> Area:
        return Area(
            self.name, "point", "", "", self.latitude, self.longitude, self.radius_km, _WEIGHT
        )


def named_place(
    name: str, latitude: float, longitude: float, radius_km: float = DEFAULT_RADIUS_KM
) -> NamedPlace:
    """A record with a tidied name and checked numbers. Raises UsageError."""
    return NamedPlace(
        tidy_name(name),
        _within("latitude", latitude, -90.0, 90.0, "degrees; it comes first"),
        _within("longitude", longitude, -180.0, 180.0, "degrees"),
        _within("radius", radius_km, MIN_RADIUS_KM, MAX_RADIUS_KM, "km"),
    )


def tidy_name(name: str) -> str:
    """The name with single blanks. UsageError for one that cannot be told from other words."""
    shown = ascii(name[:MAX_LETTERS])
    tidy = " ".join(unicodedata.normalize("NFC", name).split())
    if any(unicodedata.category(char)[0] == "C" for char in tidy):
        raise UsageError(
            f"the place name {shown} holds a control character", hint="use letters and blanks"
        )
    if len(tidy) > MAX_LETTERS:
        raise UsageError(
            f"the place name {shown}… has {len(tidy)} characters",
            hint=f"use at most {MAX_LETTERS}: it is what you will write in questions",
        )
    key = fold(tidy)
    if not any(char.isalpha() for char in key):
        raise UsageError(
            f"the place name {shown} has no letter", hint='name it like "home" or "grandma\'s"'
        )
    classes = word_classes()
    if key in classes["time"] | classes["edge"] | classes["before"] | classes["article"]:
        raise UsageError(
            f"{shown} has a meaning of its own in questions, so it cannot name a place",
            hint=f'add a word: "{tidy} house"',
        )
    return tidy


def _within(what: str, value: float, low: float, high: float, unit: str) -> float:
    if not (math.isfinite(value) and low <= value <= high):
        raise UsageError(
            f"there is no place with a {what} of {value:g}"
            if what != "radius"
            else f"the radius is {value:g} km",
            hint=f"the {what} goes from {low:g} to {high:g} {unit}",
        )
    return float(value)
