"""Position: EXIF rationals, XMP text and sidecar numbers → signed degrees or none with a flag.

Owns every rule about doubtful positions (design: unknown sign, 0/0, out of range, exactly 0,0,
no fix → no place). Does not know names of places.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from photocraft_local.files.tiff import Tags, Value, text
from photocraft_local.records import GeoPoint

_NULL_ISLAND_DEGREES: Final = 1e-6  # 10 cm: nearer to 0,0 than any receiver measures
_NUMBERS: Final = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_SIGNS: Final = {"N": 1, "E": 1, "S": -1, "W": -1}


class Position(NamedTuple):
    """A place, or the flag that says why there is none; both empty if nothing was stated."""

    point: GeoPoint | None = None
    flag: str = ""


NO_POSITION: Final = Position()


def exif_position(tags: Tags) -> Position:
    """The position of a GPS directory (tags 1–4 and 9)."""
    if not tags:
        return NO_POSITION
    latitude, longitude = tags.get(2), tags.get(4)
    if 9 in tags and text(tags[9]).upper() == "V":
        return Position(flag="gps-void")
    if latitude is None or longitude is None:
        return Position(flag="gps-invalid") if latitude is not longitude else NO_POSITION
    return _checked(
        _exif_degrees(latitude, tags.get(1), "NS"), _exif_degrees(longitude, tags.get(3), "EW")
    )


def xmp_position(properties: dict[str, str]) -> Position:
    """The position of XMP properties, e.g. ``48,53.3236N`` or ``21,2,35.7E``."""
    latitude, longitude = properties.get("exif:GPSLatitude"), properties.get("exif:GPSLongitude")
    if properties.get("exif:GPSStatus", "").upper() == "V":
        return Position(flag="gps-void")
    if latitude is None or longitude is None:
        return NO_POSITION
    return _checked(
        _text_degrees(latitude, properties.get("exif:GPSLatitudeRef", ""), "NS"),
        _text_degrees(longitude, properties.get("exif:GPSLongitudeRef", ""), "EW"),
    )


def signed_position(latitude: object, longitude: object) -> Position:
    """The position of two signed decimal numbers (sidecars)."""
    try:
        pair = float(str(latitude)), float(str(longitude))
    except ValueError:
        return Position(flag="gps-invalid")
    return _checked(pair[0], pair[1])


class _NoHemisphere(float):
    """Degrees whose sign is unknown."""


def _checked(latitude: float, longitude: float) -> Position:
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):  # also catches NaN
        return Position(flag="gps-invalid")
    if max(abs(latitude), abs(longitude)) < _NULL_ISLAND_DEGREES:
        return Position(flag="gps-null-island")
    if isinstance(latitude, _NoHemisphere) or isinstance(longitude, _NoHemisphere):
        return Position(flag="gps-without-hemisphere")
    return Position(GeoPoint(float(latitude), float(longitude)))


def _exif_degrees(value: Value, letter: Value | None, letters: str) -> float:
    if isinstance(value, bytes):
        return _text_degrees(text(value), text(letter), letters)
    parts: list[float] = []
    for part in value[:3]:
        if isinstance(part, tuple):
            numerator, denominator = part
            parts.append(numerator / denominator if denominator else math.nan)
        else:
            parts.append(float(part))
    return _signed(_sum_parts(parts), text(letter), letters)


def _sum_parts(parts: list[float]) -> float:
    """Degrees, minutes, seconds → degrees; NaN where a needed part is undefined.

    A part may be left undefined (n/0) when the one before it carries the fraction.
    """
    if len(parts) == 3:  # by far the most frequent: whole degrees, all parts defined
        degrees, minutes, seconds = parts
        if degrees >= 0 and 0 <= minutes <= 60 and 0 <= seconds <= 60:
            return degrees + minutes / 60 + seconds / 3600
    total = math.nan
    whole = False
    for unit, part in zip((1.0, 60.0, 3600.0), parts, strict=False):
        if math.isnan(part):
            # Seconds may be missing; minutes only after fractional degrees.
            return total if unit == 3600.0 or not whole else math.nan
        if unit > 1 and not 0 <= part <= 60:
            return math.nan
        total = part if unit == 1.0 else math.copysign(abs(total) + part / unit, total)
        whole = part == int(part) if math.isfinite(part) else False
    return total


def _text_degrees(value: str, letter: str, letters: str) -> float:
    """``48,53.32N``, ``48 53 19.4``, ``48.8887`` with the letter inside or beside it."""
    words = value.strip().upper()
    if words and words[-1] in _SIGNS:
        letter, words = words[-1], words[:-1]
    elif words and words[0] in _SIGNS:
        letter, words = words[0], words[1:]
    parts = [float(word) for word in _NUMBERS.findall(words)[:3]]
    if not parts:
        return math.nan
    degrees = _sum_parts(parts)
    return _signed(-degrees if words.lstrip().startswith("-") else degrees, letter, letters)


def _signed(degrees: float, letter: str, letters: str) -> float:
    first = letter.strip()[:1].upper()
    if not first or first not in letters:
        # A wrong letter is worse than none: the two values may be swapped.
        return math.nan if first in _SIGNS and first else _NoHemisphere(degrees)
    if degrees < 0 and first in "NE":
        return math.nan  # sign and letter contradict each other
    return _SIGNS[first] * abs(degrees)
