"""A data set as the runner takes it: questions, and one library of pictures for each user.

Knows no layout; those are in the folders of the data sets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from photocraft_local.evaluation.problems import Problems
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.library.given import SOURCE, Given, GivenMetadata
from photocraft_local.records import CaptureTime, GeoPoint

_NO_DAY = date(2020, 1, 1)  # of an album without any date
_TIMES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y:%m:%d %H:%M:%S", "%Y-%m-%d %H:%M",
          "%Y-%m-%d")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Album:
    """One user's photos. ``given``: by absolute path; a photo that is not named has none.
    ``asked_on``: the day of its questions, where it is not the newest photo's. ``places``: what the
    user calls a spot → latitude, longitude, radius in km."""

    name: str
    folder: Path
    pictures: Mapping[str, Path]  # by the data set's id
    given: Given
    fingerprint: str  # of all that its library is made of
    asked_on: date | None = None
    places: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)

    @property
    def days(self) -> dict[str, date]:
        """Of each dated photo, by its id."""
        given = {name: self.given.get(bytes(path)) for name, path in self.pictures.items()}
        return {name: one.taken.local.date() for name, one in given.items() if one and one.taken}

    @property
    def last_day(self) -> date:
        """Of the newest photo, if nothing else is said: the day on which its questions are asked,
        so that "last summer" means the same in each run."""
        return self.asked_on or max(self.days.values(), default=_NO_DAY)


@dataclass(slots=True)
class Dataset:
    name: str
    folder: Path
    questions: list[EvalQuestion]
    albums: dict[str, Album]
    fingerprint: str
    problems: Problems = field(default_factory=Problems)


def can_be_asked(question: EvalQuestion, album: Album, problems: Problems, called: str) -> bool:
    """Whether its pictures are there, those of its answer too. ``called``: what the data set calls
    an album."""
    if not album.pictures:
        where = f"{called} {album.name} has no picture"
        problems.add("missing-user", f"query {question.id}", where)
        return False
    if unknown := sorted(question.gold - set(album.pictures)):
        problems.add("unknown-answer", f"query {question.id}", f"photo {', '.join(unknown)}")
        return False
    return True


def id_of(value: Any) -> str:
    """Ids are strings; numbers are taken as they are written. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"an id is {value!r}")
    return str(value)


def given_metadata(where: str, fields: Mapping[str, Any], problems: Problems) -> GivenMetadata:
    """Of ``time``, ``latitude``, ``longitude``, ``address``, ``camera``; each may be missing or
    null. A value that cannot be used is named and counts as missing."""

    def bad(name: str) -> None:
        problems.add("bad-value", where, f"{name} is {fields[name]!r}")

    def text(name: str) -> str:
        value = fields.get(name)
        if value is None or isinstance(value, str):
            return (value or "").strip()
        bad(name)
        return ""

    taken = None
    if clock := text("time"):
        taken = _time(clock)
        if taken is None:
            bad("time")
    location = None
    latitude, longitude = _number(fields.get("latitude")), _number(fields.get("longitude"))
    if latitude is not None and longitude is not None:
        is_place = abs(latitude) <= 90 and abs(longitude) <= 180 and (latitude or longitude)
        location = GeoPoint(latitude, longitude) if is_place else None
    for name, number in (("latitude", latitude), ("longitude", longitude)):
        if fields.get(name) is not None and (number is None or location is None):
            bad(name)
    return GivenMetadata(taken, location, text("address"), text("camera"))


def _time(text: str) -> CaptureTime | None:
    for form in _TIMES:
        try:
            return CaptureTime(datetime.strptime(text, form), source=SOURCE)
        except ValueError:
            continue
    return None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):  # words; a whole number of 400 digits
        return None
    return number if math.isfinite(number) else None
