"""What a question means, as data, and the solver that finds its photos in a life.

A rule's conditions all hold at once; a relation leans on the photos of another rule. The solver
refuses what may be read in two ways. Knows no words of questions and no tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from photocraft_local.evaluation.histories.seeing import Seen
from photocraft_local.places.distance import haversine_km
from photocraft_local.records import Json

Unit = Literal["hour", "event", "day", "week", "trip", "place"]
HOUR, SAME_PLACE_KM, _CLEAR_KM = timedelta(hours=1), 0.5, 0.2
_CLEAR = timedelta(seconds=61)  # from the end of an hour


class Ambiguous(ValueError):
    """A rule that may be read in two ways in this life, or leans on nothing."""


@dataclass(frozen=True, slots=True)
class Pick:
    by: Literal["first", "last"]
    count: int = 1


@dataclass(frozen=True, slots=True)
class Relation:
    """``shift`` 1 is the one after, -1 the one before. An hour has a shift of 1 or -1; a place
    is the same place in another year."""

    unit: Unit
    shift: int
    anchor: Rule


@dataclass(frozen=True, slots=True)
class Rule:
    """``looks``: all are shown; ``either``: at least one; ``lacks``: none. 0 and "" are no
    condition."""

    looks: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    town: str = ""
    country: str = ""
    spot: str = ""
    year: int = 0
    month: int = 0
    camera: str = ""
    relation: Relation | None = None
    pick: Pick | None = None

    @property
    def hops(self) -> int:
        """Steps to the answer: the photos themselves, and one for each that they lean on."""
        return 1 + (self.relation.anchor.hops if self.relation else 0)

    @property
    def kind(self) -> str:
        """Intra-event: inside one event, day or trip that a clue gives away."""
        inside = self.relation and self.relation.unit not in ("place", "week")
        return "intra-event" if inside else "inter-event"

    def to_json(self) -> Json:
        """Only what is a condition."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rule:
        """Raises TypeError, KeyError or ValueError for what is no rule."""
        fields = dict(data)
        for name in ("looks", "either", "lacks"):
            if name in fields:
                fields[name] = tuple(map(str, fields[name]))
        if relation := fields.get("relation"):
            anchor = cls.from_json(relation["anchor"])
            fields["relation"] = Relation(relation["unit"], int(relation["shift"]), anchor)
        if pick := fields.get("pick"):
            fields["pick"] = Pick(pick["by"], int(pick["count"]))
        return cls(**fields)


class Solver:
    """Over one view of a life. ``wide``: a label also means those whose last word it is, so that
    a teddy bear is a bear."""

    def __init__(self, view: Sequence[Seen], labels: frozenset[str]) -> None:
        self._view = view
        self._known: dict[tuple[Rule, bool], list[Seen]] = {}
        self._showing: dict[str, list[Seen]] = {}
        for one in view:
            for label in one.labels:
                self._showing.setdefault(label, []).append(one)
        self._wider = {
            label: frozenset(one for one in labels if one == label or one.split()[-1:] == [label])
            for label in labels
        }

    def photos(self, rule: Rule, *, wide: bool = False) -> list[Seen]:
        """In the life's order. Raises Ambiguous."""
        if wide and not self._is_wide(rule):
            return self.photos(rule)
        if (rule, wide) in self._known:
            return self._known[rule, wide]
        found = self._solved(rule, wide)
        self._known[rule, wide] = found
        return found

    def _is_wide(self, rule: Rule) -> bool:
        labels = (*rule.looks, *rule.either, *rule.lacks)
        inner = rule.relation and self._is_wide(rule.relation.anchor)
        return bool(inner) or any(len(self._wider.get(label, ())) > 1 for label in labels)

    def _solved(self, rule: Rule, wide: bool) -> list[Seen]:
        tests = [*_facts(rule), *self._looks(rule, wide)]
        narrow = rule.looks and not wide
        group = self._showing.get(rule.looks[0], []) if narrow else self._view
        found = [one for one in group if all(test(one) for test in tests)]
        if rule.relation:
            anchors, found = self._related(rule.relation, found, wide)
            if anchors & {one.name for one in found}:
                raise Ambiguous("what it leans on would be part of the answer")
        return _picked(rule.pick, found) if rule.pick else found

    def standing(self, relation: Relation) -> list[Seen]:
        """All that stand so, whatever they show, but for those that it leans on."""
        anchors, found = self._related(relation, self._view, wide=False)
        return [one for one in found if one.name not in anchors]

    def _looks(self, rule: Rule, wide: bool) -> Iterator[Callable[[Seen], bool]]:
        meant = self._wider if wide else {}

        def shows(one: Seen, label: str) -> bool:
            return bool(meant.get(label, frozenset({label})) & one.labels)

        if rule.looks:
            yield lambda one: all(shows(one, label) for label in rule.looks)
        if rule.either:
            yield lambda one: any(shows(one, label) for label in rule.either)
        if rule.lacks:
            yield lambda one: not any(shows(one, label) for label in rule.lacks)

    def _related(
        self, relation: Relation, found: Sequence[Seen], wide: bool
    ) -> tuple[set[str], list[Seen]]:
        """Names of those that it leans on; those of ``found`` that stand so."""
        anchors = self.photos(relation.anchor, wide=wide)
        usable = [one for one in anchors if one.time is not None]
        if len(usable) < len(anchors) or not usable:
            raise Ambiguous("leans on photos without a time, or on none")
        if relation.unit != "place" and len({one.event for one in usable}) > 1:
            raise Ambiguous("leans on photos of several events")
        names = {one.name for one in anchors}
        return names, _STANDING[relation.unit](relation, usable, found)

    def other_readings(self, rule: Rule) -> Iterator[frozenset[str]]:
        """The photos of a chain where its end is said of what is looked for, not of what stands
        before it: "dogs on the day after the cake in Rome". One that leans on nothing is none."""
        if rule.relation is None:
            return
        yield from self.other_readings(rule.relation.anchor)
        anchor = rule.relation.anchor
        facts = {name: getattr(anchor, name) for name in _FACTS if getattr(anchor, name)}
        if facts and not any(getattr(rule, name) for name in facts):
            bare = replace(anchor, town="", country="", spot="", camera="", year=0, month=0)
            moved = replace(rule, relation=replace(rule.relation, anchor=bare), **facts)
            yield self._names(moved)
        if anchor.relation:
            bare = replace(anchor, relation=None)
            flat = replace(rule, relation=replace(rule.relation, anchor=bare))
            yield self._names(flat) & self._names(replace(rule, relation=anchor.relation))

    def _names(self, rule: Rule) -> frozenset[str]:
        try:
            return frozenset(one.name for one in self.photos(rule))
        except Ambiguous:
            return frozenset()


_PLAIN = ("town", "country", "spot", "camera")
_FACTS = (*_PLAIN, "year", "month")


def _facts(rule: Rule) -> Iterator[Callable[[Seen], bool]]:
    wanted = {name: getattr(rule, name) for name in _PLAIN if getattr(rule, name)}
    if wanted:
        yield lambda one: all(getattr(one, name) == value for name, value in wanted.items())
    if rule.year:
        yield lambda one: one.time is not None and one.time.year == rule.year
    if rule.month:
        yield lambda one: one.time is not None and one.time.month == rule.month


def _event(relation: Relation, anchors: list[Seen], found: Sequence[Seen]) -> list[Seen]:
    wanted = anchors[0].event + relation.shift
    return [one for one in found if one.event == wanted and one.time]


def _trip(relation: Relation, anchors: list[Seen], found: Sequence[Seen]) -> list[Seen]:
    own = {one.trip for one in anchors}
    if len(own) > 1 or 0 in own:
        raise Ambiguous("leans on photos of no trip")
    wanted = own.pop() + relation.shift
    return [one for one in found if one.trip == wanted and wanted > 0]


def _day(relation: Relation, anchors: list[Seen], found: Sequence[Seen]) -> list[Seen]:
    days = {one.time.date() for one in anchors if one.time}
    wanted = days.pop() + timedelta(days=relation.shift)
    return [one for one in found if one.time and one.time.date() == wanted]


def _week(relation: Relation, anchors: list[Seen], found: Sequence[Seen]) -> list[Seen]:
    weeks = [one.time.date() - timedelta(days=one.time.weekday()) for one in anchors if one.time]
    wanted = weeks[0] + timedelta(weeks=relation.shift)
    return [
        one
        for one in found
        if one.time and one.time.date() - timedelta(days=one.time.weekday()) == wanted
    ]


def _hour(relation: Relation, anchors: list[Seen], found: Sequence[Seen]) -> list[Seen]:
    """The same after each of the photos that it leans on, and not near the hour's end."""
    times = [one.time for one in anchors if one.time]
    results = []
    for at in sorted({min(times), max(times)}):
        steps = [(one, relation.shift * (one.time - at)) for one in found if one.time]
        if any(abs(step - HOUR) < _CLEAR for _, step in steps):
            raise Ambiguous("a photo at the end of the hour")
        results.append([one for one, step in steps if timedelta() < step <= HOUR])
    if any(one != other for one, other in pairwise(results)):
        raise Ambiguous("an hour from the first of them is none from the last")
    return results[0]


def _place(relation: Relation, anchors: list[Seen], found: Sequence[Seen]) -> list[Seen]:
    points = [one.position for one in anchors if one.position]
    years = {one.time.year for one in anchors if one.time}
    if len(points) < len(anchors) or len(years) > 1:
        raise Ambiguous("leans on photos of several years, or of no place")
    others = [one for one in found if one.position and one.time and one.time.year not in years]
    if not others:
        return []
    latitude, longitude = np.array([one.position for one in others], np.float64).T
    away = np.stack([haversine_km(*point, latitude, longitude) for point in points])
    near = away <= SAME_PLACE_KM
    clear = np.abs(away - SAME_PLACE_KM) > _CLEAR_KM
    if not clear.all() or (near.any(axis=0) != near.all(axis=0)).any():
        raise Ambiguous("not one place, or photos at its border")
    return [one for one, is_near in zip(others, near[0].tolist(), strict=True) if is_near]


_STANDING: dict[str, Callable[[Relation, list[Seen], Sequence[Seen]], list[Seen]]] = {
    "event": _event,
    "trip": _trip,
    "day": _day,
    "week": _week,
    "hour": _hour,
    "place": _place,
}


def _picked(pick: Pick, found: list[Seen]) -> list[Seen]:
    if len(found) <= pick.count or any(one.time is None for one in found):
        raise Ambiguous("nothing to choose from, or photos without a time")
    ranked = sorted(found, key=lambda one: (one.time, one.name))
    border = (-pick.count - 1, -pick.count) if pick.by == "last" else (pick.count - 1, pick.count)
    if ranked[border[0]].time == ranked[border[1]].time:
        raise Ambiguous("two photos of the same moment")
    return ranked[: pick.count] if pick.by == "first" else ranked[-pick.count :]
