"""Small builders for the tools' JSON schemas, so that like arguments read alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from photocraft_local.tools.sets import NAME_PATTERN

Schema = dict[str, Any]

MAX_WORDS = 1000  # characters of a text argument
MAX_EXPRESSION = 10_000  # characters of a filter expression
MAX_UID = 80


def arguments(*required: str, **properties: Schema) -> Schema:
    """The schema of a whole call: nothing but ``properties``, all of ``required``."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def words(description: str, *, longest: int = MAX_WORDS) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": description}


def choice(description: str, choices: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(choices), "description": description}


def flag(description: str) -> Schema:
    return {"type": "boolean", "description": description}


def whole(description: str, least: int, most: int) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most, "description": description}


def number(description: str, least: float, most: float) -> Schema:
    return {"type": "number", "minimum": least, "maximum": most, "description": description}


def uid(description: str) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": MAX_UID, "description": description}


def many(item: Schema, description: str, *, least: int = 1, most: int = 100) -> Schema:
    return {
        "type": "array",
        "items": item,
        "minItems": least,
        "maxItems": most,
        "description": description,
    }


def uids(description: str, *, least: int = 1, most: int = 100) -> Schema:
    return many(uid("UID of a photo, e.g. p7k3mq"), description, least=least, most=most)


def set_name(description: str) -> Schema:
    return {
        "type": "string",
        "pattern": NAME_PATTERN,
        "description": description + " A name has 1 to 32 letters, digits and _, a letter first.",
    }


SAVE_AS = set_name("Keep the result under this name for later calls, e.g. beach_days.")
WITHIN = set_name("Look only inside this saved set; default: the whole library.")
WHEN = words(
    "When it was taken, in words or ISO form: '2021-06', 'May 2021', 'between 3 May 2021 and "
    "10 May 2021', 'in the evening', 'summer 2019'. Local wall-clock time of the photo. The "
    "result echoes what was understood."
)
WHERE = words(
    "Filter expression over the photo's facts, e.g. \"year == 2021 and city == 'Porto'\", "
    "\"place('Italy') and hour >= 18\", \"near('Lisbon', 20) and not flag('screenshot')\" (km), "
    "\"weekday in ('sat', 'sun')\", \"date >= '2021-06-01'\", \"has_gps\". Fields: time, date, "
    "year, month (1-12), day, weekday, hour (0-23), clock ('18:30'), address, city, region, "
    "country, camera, event, trip, has_gps, has_time, has_place, has_camera, width, height "
    "(pixels); functions: flag(word), near(place or 'lat,lon', km), place(name), "
    "north_of(place) and the other sides, between(place, place), box(lat1, lon1, lat2, lon2), "
    "match_address(words), holiday(name); joined by and, or, not.",
    longest=MAX_EXPRESSION,
)
WHEN_BRIEF = words("When it was taken, in words or ISO form as in filter_photos, e.g. 'May 2021'.")
WHERE_BRIEF = words(
    "Filter expression as in filter_photos, e.g. \"place('Italy') and hour >= 18\".",
    longest=MAX_EXPRESSION,
)
