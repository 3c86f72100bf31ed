"""What a plan of metadata alone means, worked out photo by photo from the plan's own words.

Independent of the tools: plain Python over the photos, every pair compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from made_library import Trips

from photocraft_local.agent.planner.conditions import Row
from photocraft_local.agent.planner.plan import Pick, Relation, Wanted
from photocraft_local.records import Photo

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Known:
    """A condition in the filter language, and the same in Python."""

    words: str
    where: str
    test: Callable[[Photo], bool]
    when: str = ""

    def holds(self, row: Row) -> bool:
        return True  # the re-check of the planner is tested elsewhere


class Empty(Exception):
    """A set that the plan leans on has no photo."""


class Unknown(Exception):
    """Nothing is known of what a set leans on."""


class Undecidable(Exception):
    """A set that the plan leans on lacks the facts that are needed: the answer is not known."""


class Oracle:
    def __init__(self, photos: Sequence[Photo], trips: Trips) -> None:
        self._photos = sorted(photos, key=lambda photo: (_time_or_late(photo), photo.photo_id))
        self._trips = trips

    def answer(self, wanted: Wanted) -> set[str]:
        """The UIDs; none where a part of the plan has nothing to start from."""
        try:
            return {photo.uid for photo in self._found(wanted, self._photos)}
        except (Empty, Unknown, Undecidable):
            return set()

    def _found(self, wanted: Wanted, pool: list[Photo]) -> list[Photo]:
        """In order of time. Raises Empty, Unknown, Undecidable."""
        found = list(pool)
        for condition in wanted.conditions:
            assert isinstance(condition, Known)
            found = [photo for photo in found if condition.test(photo)]
        for relation in wanted.relations:
            found = self._standing(relation, _some(found))
        if wanted.either:
            pool = _some(found)
            union = [uid for part in wanted.either for uid in self._part(part, pool, Unknown)]
            found = [photo for photo in found if photo.uid in union]
        for part in wanted.but_not:
            out = self._part(part, _some(found))
            found = [photo for photo in found if photo.uid not in out]
        if wanted.pick:
            chosen = _picked(wanted.pick, found)
            found = [photo for photo in found if photo in chosen]
        return _some(found)

    def _part(self, part: Wanted, pool: list[Photo], *nothing: type[Exception]) -> set[str]:
        try:
            return {photo.uid for photo in self._found(part, pool)}
        except (Empty, *nothing):
            return set()

    def _known(self, anchor: Wanted) -> list[Photo]:
        try:
            return self._found(anchor, self._photos)
        except Empty:
            raise Unknown from None

    # -- relations

    def _standing(self, relation: Relation, pool: list[Photo]) -> list[Photo]:
        anchors = [
            photo
            for photo in self._known(relation.anchor)
            if self._can_be_leant_on(relation, photo)
        ]
        if not anchors:
            raise Undecidable
        if relation.which != "each":
            dated = [photo for photo in anchors if photo.taken] or anchors
            anchors = [dated[0] if relation.which == "first" else dated[-1]]
        return [
            photo
            for photo in pool
            if self._has_facts(relation, photo)
            and self._stands(relation, photo, anchors) is not relation.negated
        ]

    def _stands(self, relation: Relation, photo: Photo, anchors: list[Photo]) -> bool:
        if relation.apart:
            own = self._unit(relation.apart, photo)
            if own is None or own in {self._unit(relation.apart, anchor) for anchor in anchors}:
                return False
        return any(self._pair(relation, photo, anchor) for anchor in anchors)

    def _has_facts(self, relation: Relation, photo: Photo) -> bool:
        known = photo.location if relation.kind == "place" else photo.taken
        return known is not None

    def _can_be_leant_on(self, relation: Relation, photo: Photo) -> bool:
        """A photo taken at home is of no trip."""
        at_home = self._trips.by_uid.get(photo.uid) not in self._trips.journeys
        return self._has_facts(relation, photo) and not (relation.kind == "trip" and at_home)

    def _pair(self, relation: Relation, photo: Photo, anchor: Photo) -> bool:
        if relation.kind == "place":
            return km_between(photo, anchor) <= (0.5 if relation.km is None else relation.km)
        here, there = time_of(photo), time_of(anchor)
        far = abs(here - there) > relation.within if relation.within else False
        if relation.kind == "after":
            return here > there and not far
        if relation.kind == "before":
            return here < there and not far
        if relation.kind == "around":
            return abs(here - there) <= (relation.within or HOUR)
        if relation.kind == "event":
            order = self._ordered([one.event_id for one in self._photos if one.taken])
            return order[photo.event_id] == order[anchor.event_id] + relation.shift
        if relation.kind == "trip":
            assert not relation.shift
            return self._trips.by_uid[photo.uid] == self._trips.by_uid[anchor.uid]
        return in_shifted(relation.kind, relation.shift, here.date(), there.date())

    @staticmethod
    def _ordered(numbers: Sequence[int | None]) -> dict[int | None, int]:
        return {number: at for at, number in enumerate(dict.fromkeys(numbers))}

    def _unit(self, name: str, photo: Photo) -> object:
        if photo.taken is None:
            return None
        day = time_of(photo).date()
        if name == "trip":
            return self._trips.by_uid[photo.uid]
        return {"day": day, "month": (day.year, day.month), "year": day.year}[name]


def _some(photos: list[Photo]) -> list[Photo]:
    if not photos:
        raise Empty
    return photos


def in_shifted(unit: str, shift: int, day: date, anchor: date) -> bool:
    """Whether ``day`` lies in the anchor's unit, moved: by walking there day by day."""
    if unit == "day":
        return day == anchor + timedelta(days=shift)
    if unit == "week":
        return _monday(day) == _monday(anchor) + timedelta(weeks=shift)
    if unit == "weekend":
        saturday = _monday(anchor) + timedelta(days=5)
        if shift > 0 and anchor.weekday() < 5:
            shift -= 1
        return day - saturday - timedelta(weeks=shift) in (timedelta(0), timedelta(days=1))
    months = (day.year - anchor.year) * 12 + day.month - anchor.month
    return day.year - anchor.year == shift if unit == "year" else months == shift


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def time_of(photo: Photo) -> datetime:
    assert photo.taken
    return photo.taken.local


def _time_or_late(photo: Photo) -> datetime:
    return photo.taken.local if photo.taken else datetime.max


def km_between(one: Photo, other: Photo) -> float:
    """By the spherical law of cosines, which the package does not use."""
    assert one.location
    assert other.location
    a, b = math.radians(one.location.latitude), math.radians(other.location.latitude)
    turn = math.radians(one.location.longitude - other.location.longitude)
    cosine = math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(turn)
    return 6371.0088 * math.acos(max(-1.0, min(1.0, cosine)))


def _picked(pick: Pick, found: list[Photo]) -> list[Photo]:
    if pick.by in ("first", "last"):
        dated = [photo for photo in found if photo.taken]
        return dated[: pick.count] if pick.by == "first" else dated[-pick.count :]
    located = [photo for photo in found if photo.location]

    def far(photo: Photo) -> float:
        assert photo.location
        spot = photo.location
        return {
            "north": -spot.latitude,
            "south": spot.latitude,
            "east": -spot.longitude,
            "west": spot.longitude,
        }[pick.by]

    return sorted(located, key=far)[: pick.count]
