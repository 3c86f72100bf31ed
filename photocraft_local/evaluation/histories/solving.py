"""The solver: which photos of a life a rule means. It refuses what may be read in two ways.

A life is held as columns, one row a photo in the life's order, so that a condition is one step over
all of them. Knows no words of questions and no tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.evaluation.histories.rules import (
    SAME_PLACE_KM,
    Ambiguous,
    Pick,
    Relation,
    Rule,
)
from photocraft_local.evaluation.histories.seeing import Seen
from photocraft_local.places.distance import haversine_km

Rows = NDArray[np.intp]  # of photos, ascending
Mask = NDArray[np.bool_]  # one of each photo
_CLEAR_KM = 0.2  # from the border of a place
_HOUR = np.timedelta64(3600, "s")
_CLEAR = np.timedelta64(61, "s")  # from the end of an hour
_PLAIN = ("town", "country", "spot", "camera")
_FACTS = (*_PLAIN, "year", "month")
_MONDAY, _SUNDAY = 3, 4  # days from 1 January 1970 back to the beginning of its week


class Columns:
    """One view of a life. A time that is not known is NaT and its numbers are 0; a position that is
    not known is NaN."""

    def __init__(self, view: Sequence[Seen]) -> None:
        self.view = view
        self.time = np.array([one.time for one in view], "datetime64[us]")
        self.dated = ~np.isnat(self.time)
        self.event = np.array([one.event for one in view], np.int64)
        self.trip = np.array([one.trip for one in view], np.int64)
        points = [one.position or (np.nan, np.nan) for one in view]
        self.points = np.array(points, np.float64).reshape(-1, 2)
        self._facts: dict[tuple[str, Any], Mask] = {}
        self._labels: dict[str, Mask] = {}

    @cached_property
    def day(self) -> NDArray[np.int64]:
        return np.where(self.dated, self.time.astype("datetime64[D]").astype(np.int64), 0)

    @cached_property
    def week(self) -> NDArray[np.int64]:
        """The day on which it begins, a Monday."""
        return self.day - (self.day + _MONDAY) % 7

    @cached_property
    def year(self) -> NDArray[np.int64]:
        years = self.time.astype("datetime64[Y]").astype(np.int64) + 1970
        return np.where(self.dated, years, 0)

    @cached_property
    def month(self) -> NDArray[np.int64]:
        months = self.time.astype("datetime64[M]").astype(np.int64) % 12 + 1
        return np.where(self.dated, months, 0)

    def fact(self, name: str, value: Any) -> Mask:
        key = name, value
        if key not in self._facts:
            if name in _PLAIN:
                found = np.array([getattr(one, name) == value for one in self.view], np.bool_)
            else:
                found = getattr(self, name) == value
            self._facts[key] = found
        return self._facts[key]

    def shows(self, label: str) -> Mask:
        if label not in self._labels:
            self._labels[label] = np.array([label in one.labels for one in self.view], np.bool_)
        return self._labels[label]

    def seen(self, rows: Rows) -> list[Seen]:
        return [self.view[row] for row in rows.tolist()]

    def names(self, rows: Rows) -> frozenset[str]:
        return frozenset(self.view[row].name for row in rows.tolist())


class Solver:
    """Over one view of a life. ``wide``: a label also means those whose last word it is, so that
    a teddy bear is a bear."""

    def __init__(self, view: Sequence[Seen], labels: frozenset[str]) -> None:
        self._columns = Columns(view)
        self._all: Rows = np.arange(len(view))
        self._known: dict[tuple[Rule, bool], Rows] = {}
        self._wider = {
            label: frozenset(one for one in labels if one == label or one.split()[-1:] == [label])
            for label in labels
        }

    def photos(self, rule: Rule, *, wide: bool = False) -> list[Seen]:
        """In the life's order. Raises Ambiguous."""
        return self._columns.seen(self._rows(rule, wide))

    def names(self, rule: Rule, *, wide: bool = False) -> frozenset[str]:
        """Raises Ambiguous."""
        return self._columns.names(self._rows(rule, wide))

    def standing(self, relation: Relation) -> list[Seen]:
        """All that stand so, whatever they show, but for those that it leans on."""
        anchors, found = self._related(relation, self._all, wide=False)
        return self._columns.seen(np.setdiff1d(found, anchors, assume_unique=True))

    def other_readings(self, rule: Rule) -> Iterator[frozenset[str]]:
        """The photos of a chain where its end is said of what is looked for, not of what stands
        before it: "dogs on the day after the cake in Rome". One that leans on nothing is none."""
        if rule.relation is None:
            return
        anchor = rule.relation.anchor
        yield from self.other_readings(anchor)
        facts = {name: getattr(anchor, name) for name in _FACTS if getattr(anchor, name)}
        if facts and not any(getattr(rule, name) for name in facts):
            bare = replace(anchor, town="", country="", spot="", camera="", year=0, month=0)
            moved = replace(rule, relation=replace(rule.relation, anchor=bare), **facts)
            yield self._names_or_none(moved)
        if anchor.relation:
            bare = replace(anchor, relation=None)
            flat = replace(rule, relation=replace(rule.relation, anchor=bare))
            beside = replace(rule, relation=anchor.relation)
            yield self._names_or_none(flat) & self._names_or_none(beside)

    def _names_or_none(self, rule: Rule) -> frozenset[str]:
        try:
            return self.names(rule)
        except Ambiguous:
            return frozenset()

    def _rows(self, rule: Rule, wide: bool) -> Rows:
        wide = wide and self._is_wide(rule)
        if (rule, wide) not in self._known:
            self._known[rule, wide] = self._solved(rule, wide)
        return self._known[rule, wide]

    def _is_wide(self, rule: Rule) -> bool:
        labels = (*rule.looks, *rule.either, *rule.lacks)
        inner = rule.relation and self._is_wide(rule.relation.anchor)
        return bool(inner) or any(len(self._wider.get(label, ())) > 1 for label in labels)

    def _solved(self, rule: Rule, wide: bool) -> Rows:
        found = shown = self._shown(rule, wide)
        if rule.relation:
            anchors, found = self._related(rule.relation, shown, wide)
            if np.isin(found, anchors).any():
                raise Ambiguous("what it leans on would be part of the answer")
            _check_week(rule.relation, self._columns, anchors, shown)
        return _picked(rule.pick, self._columns, found) if rule.pick else found

    def _shown(self, rule: Rule, wide: bool) -> Rows:
        """Those that fulfil all but the relation."""
        fulfilled = np.ones(len(self._all), np.bool_)
        for mask in self._conditions(rule, wide):
            fulfilled = fulfilled & mask
        return np.flatnonzero(fulfilled)

    def _conditions(self, rule: Rule, wide: bool) -> Iterator[Mask]:
        meant = self._wider if wide else {}

        def shows(label: str) -> Mask:
            masks = [self._columns.shows(one) for one in meant.get(label, (label,))]
            seen: Mask = np.logical_or.reduce(masks)
            return seen

        for name in _FACTS:
            if value := getattr(rule, name):
                yield self._columns.fact(name, value)
        yield from map(shows, rule.looks)
        if rule.either:
            yield np.logical_or.reduce([shows(label) for label in rule.either])
        for label in rule.lacks:
            yield ~shows(label)

    def _related(self, relation: Relation, found: Rows, wide: bool) -> tuple[Rows, Rows]:
        """Those that it leans on; those of ``found`` that stand so."""
        anchors = self._rows(relation.anchor, wide)
        if not len(anchors) or not self._columns.dated[anchors].all():
            raise Ambiguous("leans on photos without a time, or on none")
        if relation.unit != "place":
            _only(self._columns.event[anchors], "leans on photos of several events")
        return anchors, _STANDING[relation.unit](relation, self._columns, anchors, found)


def _only(values: NDArray[np.int64], why: str) -> int:
    """The value that all have. Raises Ambiguous."""
    if (values != values[0]).any():
        raise Ambiguous(why)
    return int(values[0])


def _those(found: Rows, mask: Mask) -> Rows:
    kept: Rows = found[mask]
    return kept


def _event(relation: Relation, life: Columns, anchors: Rows, found: Rows) -> Rows:
    wanted = life.event[anchors[0]] + relation.shift
    return _those(found, (life.event[found] == wanted) & life.dated[found])


def _trip(relation: Relation, life: Columns, anchors: Rows, found: Rows) -> Rows:
    own = _only(life.trip[anchors], "leans on photos of no trip")
    if own == 0:
        raise Ambiguous("leans on photos of no trip")
    wanted = own + relation.shift
    return _those(found, (life.trip[found] == wanted) & (wanted > 0))


def _day(relation: Relation, life: Columns, anchors: Rows, found: Rows) -> Rows:
    wanted = _only(life.day[anchors], "leans on photos of several days") + relation.shift
    return _those(found, (life.day[found] == wanted) & life.dated[found])


def _week(relation: Relation, life: Columns, anchors: Rows, found: Rows) -> Rows:
    wanted = _only(life.week[anchors], "leans on photos of several weeks") + 7 * relation.shift
    return _those(found, (life.week[found] == wanted) & life.dated[found])


def _check_week(relation: Relation, life: Columns, anchors: Rows, shown: Rows) -> None:
    """Some let a week begin on Sunday, and the week after something may be seven days. Raises
    Ambiguous."""
    if relation.unit != "week":
        return
    days, day = life.day[shown], int(life.day[anchors[0]])
    sunday = day - (day + _SUNDAY) % 7 + 7 * relation.shift
    first = {0: sunday, 1: day + 1, -1: day - 7}[relation.shift]
    in_week = life.week[shown] == life.week[anchors[0]] + 7 * relation.shift
    for start in (sunday, first):
        if (((days >= start) & (days < start + 7)) != in_week)[life.dated[shown]].any():
            raise Ambiguous("a week reads in several ways")


def _hour(relation: Relation, life: Columns, anchors: Rows, found: Rows) -> Rows:
    """The same after each of the photos that it leans on, and not near the hour's end."""
    times = life.time[anchors]
    results = []
    for at in sorted({times.min(), times.max()}):
        steps = relation.shift * (life.time[found] - at)  # NaT is near nothing
        if (np.abs(steps - _HOUR) < _CLEAR).any():
            raise Ambiguous("a photo at the end of the hour")
        results.append(_those(found, (steps > np.timedelta64(0)) & (steps <= _HOUR)))
    if any(not np.array_equal(one, other) for one, other in pairwise(results)):
        raise Ambiguous("an hour from the first of them is none from the last")
    return results[0]


def _place(relation: Relation, life: Columns, anchors: Rows, found: Rows) -> Rows:
    points, years = life.points[anchors], life.year[anchors]
    if np.isnan(points).any() or (years != years[0]).any():
        raise Ambiguous("leans on photos of several years, or of no place")
    known = life.dated[found] & ~np.isnan(life.points[found, 0])
    others = _those(found, known & (life.year[found] != years[0]))
    if not len(others):
        return others
    latitude, longitude = life.points[others].T
    away = np.stack([haversine_km(at, to, latitude, longitude) for at, to in points.tolist()])
    near = away <= SAME_PLACE_KM
    clear = np.abs(away - SAME_PLACE_KM) > _CLEAR_KM
    if not clear.all() or (near.any(axis=0) != near.all(axis=0)).any():
        raise Ambiguous("not one place, or photos at its border")
    return _those(others, near[0])


_STANDING: dict[str, Callable[[Relation, Columns, Rows, Rows], Rows]] = {
    "event": _event,
    "trip": _trip,
    "day": _day,
    "week": _week,
    "hour": _hour,
    "place": _place,
}


def _picked(pick: Pick, life: Columns, found: Rows) -> Rows:
    if len(found) <= pick.count or not life.dated[found].all():
        raise Ambiguous("nothing to choose from, or photos without a time")
    ranked = found[np.argsort(life.time[found], kind="stable")]
    if pick.by == "last":
        ranked = ranked[::-1]
    if life.time[ranked[pick.count - 1]] == life.time[ranked[pick.count]]:
        raise Ambiguous("two photos of the same moment")
    return np.sort(ranked[: pick.count])
