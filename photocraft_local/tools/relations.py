"""Where photos stand to given ones: in the same or a shifted calendar unit, event or trip, before
or after them, near them. Decided exactly, for any number of photos at once.

Times are wall clocks to the second. Knows the catalog's columns and nothing of how the given
photos were found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from photocraft_local.errors import UsageError
from photocraft_local.places.distance import EARTH_RADIUS_KM, haversine_km
from photocraft_local.records import Json
from photocraft_local.tools.durations import Side, Window, in_time
from photocraft_local.tools.given import Given
from photocraft_local.tools.units import NONE, UNITS, given_keys, start_keys, unit_keys, wanted_keys

if TYPE_CHECKING:
    from photocraft_local.search.catalog import Catalog

Rows = NDArray[np.intp]

NO_ANCHOR = -1
_MOST_PAIRED = 500  # given photos, where several criteria must hold for the same one
_MOST_POINTS = 20_000  # distinct positions to be near


@dataclass(frozen=True, slots=True)
class Relation:
    """What must hold of a photo for at least one of the given ones, all at once for the same.

    ``which`` of the given photos count. ``apart`` leaves out photos in a given one's own unit.
    ``negate`` turns it round: photos for which it is known not to hold.
    """

    unit: str = ""
    shift: int = 0
    windows: tuple[Window, ...] = ()
    km: float | None = None
    which: str = "each"
    apart: str = ""
    negate: bool = False
    first_weekday: int = 0  # of a week, Monday 0

    @classmethod
    def of(cls, arguments: Mapping[str, Json], first_weekday: int = 0) -> Relation:
        """From a call's arguments. A given photo's own instant is neither before nor after it,
        but between the two if both are asked for. Raises UsageError, TimeWordsError."""
        sides = [side for side in get_args(Side) if side in arguments]
        if not sides and not {"unit", "km"} & set(arguments):
            raise UsageError(
                "unit, before, after and km are all missing",
                hint="give at least one of them: that is how the photos stand to the given ones",
            )
        if "shift" in arguments and "unit" not in arguments:
            raise UsageError("shift needs a unit", hint=f"unit is one of {', '.join(UNITS)}")
        return cls(
            unit=arguments.get("unit", ""),
            shift=arguments.get("shift", 0),
            windows=tuple(in_time(arguments[side], side, own=len(sides) == 2) for side in sides),
            km=arguments.get("km"),
            which=arguments.get("which", "each"),
            apart=arguments.get("apart", ""),
            negate=arguments.get("negate", False),
            first_weekday=first_weekday,
        )

    @property
    def needs_time(self) -> bool:
        return bool(self.unit or self.windows)

    @property
    def needed(self) -> str:
        """The facts without which a photo stands in no such relation."""
        facts = [self.unit] if self.unit in ("event", "trip") else ["time"] * self.needs_time
        return " and ".join(facts + ["place"] * (self.km is not None))


@dataclass(frozen=True, slots=True)
class Standing:
    """``rows`` stand in the relation, ascending; ``anchors`` name for each one of ``used`` by
    its index (NO_ANCHOR where the relation is turned round). ``used`` are the given photos that
    count, ``unusable`` those that lack a needed fact."""

    rows: Rows
    anchors: Rows
    used: Given
    unusable: Given


def standing(catalog: Catalog, relation: Relation, given: Given) -> Standing:
    """Raises UsageError if no given photo can be used, or if they are too many to compare."""
    usable = _usable(catalog, relation, given)
    if not usable.any():
        at_home = relation.unit == "trip" and not relation.shift
        raise UsageError(
            f"none of the {len(given)} given photos has the {relation.needed} that is needed",
            hint="a photo that was taken at home is of no trip"
            if at_home
            else "choose other photos; get_metadata tells what is known of one",
        )
    used = _counted(relation.which, given[usable])
    anchors = _joined(catalog, relation, used)
    if relation.apart:
        keys = unit_keys(catalog, relation.apart, relation.first_weekday)
        own = given_keys(catalog, relation.apart, used, relation.first_weekday)
        anchors[np.isin(keys, own) | (keys == NONE)] = NO_ANCHOR
    unusable = given[~usable]
    if relation.negate:
        rows = np.flatnonzero(_has_facts(catalog, relation) & (anchors == NO_ANCHOR))
        return Standing(rows, np.full(len(rows), NO_ANCHOR, np.intp), used, unusable)
    rows = np.flatnonzero(anchors != NO_ANCHOR)
    return Standing(rows, anchors[rows], used, unusable)


def _has_facts(catalog: Catalog, relation: Relation) -> NDArray[np.bool_]:
    columns = catalog.columns
    known = np.ones(len(columns), np.bool_)
    if relation.needs_time:
        known[columns.num_dated :] = False
    if relation.km is not None:
        known &= columns.located
    return known


def _usable(catalog: Catalog, relation: Relation, given: Given) -> NDArray[np.bool_]:
    known = np.ones(len(given), np.bool_)
    if relation.needs_time:
        known &= given.dated
    if relation.km is not None:
        known &= given.located
    if relation.unit:
        unit, shift, first = relation.unit, relation.shift, relation.first_weekday
        known &= start_keys(catalog, unit, shift, given, first) != NONE
    return known


def _counted(which: str, usable: Given) -> Given:
    """The first or last in time, or all; undated ones stand last and count only if all are."""
    if which == "each":
        return usable
    ranked = usable[usable.dated] if usable.dated.any() else usable
    return ranked[:1] if which == "first" else ranked[-1:]


def _joined(catalog: Catalog, relation: Relation, used: Given) -> Rows:
    """For each photo the index of a given one to which all criteria hold, or NO_ANCHOR."""
    criteria: list[Callable[[Given], Rows]] = []
    if relation.unit:
        criteria.append(lambda given: _in_unit(catalog, relation, given))
    if relation.windows:
        criteria.append(lambda given: _in_windows(catalog, relation.windows, given))
    if relation.km is not None:
        criteria.append(lambda given: _within_km(catalog, relation.km or 0.0, given))
    if len(criteria) == 1:
        return criteria[0](used)
    if len(used) > _MOST_PAIRED:
        raise UsageError(
            f"{len(used)} given photos are too many to compare in time and place at once",
            hint=f"give at most {_MOST_PAIRED}, or which=first, or one of unit, before, after, km",
        )
    found = np.full(len(catalog), NO_ANCHOR, np.intp)
    for at in range(len(used)):
        holds = [criterion(used[at : at + 1]) != NO_ANCHOR for criterion in criteria]
        found[reduce(np.logical_and, holds) & (found == NO_ANCHOR)] = at
    return found


def _in_unit(catalog: Catalog, relation: Relation, used: Given) -> Rows:
    unit, first_weekday = relation.unit, relation.first_weekday
    wanted = wanted_keys(catalog, unit, relation.shift, used, first_weekday)
    known = np.flatnonzero(wanted != NONE)
    keys, first = np.unique(wanted[known], return_index=True)
    return _looked_up(unit_keys(catalog, unit, first_weekday), keys, known[first])


def _looked_up(values: NDArray[np.int64], keys: NDArray[np.int64], indices: Rows) -> Rows:
    """For each value the index that belongs to the equal one of ``keys`` (sorted, distinct)."""
    found = np.full(len(values), NO_ANCHOR, np.intp)
    if not len(keys):
        return found
    at = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    same = (keys[at] == values) & (values != NONE)
    found[same] = indices[at[same]]
    return found


def _in_windows(catalog: Catalog, windows: tuple[Window, ...], used: Given) -> Rows:
    """In any of the windows of any given photo; the nearest such photo is told."""
    times = catalog.columns.times[: catalog.columns.num_dated]
    found = np.full(len(catalog), NO_ANCHOR, np.intp)
    for window in windows:
        starts = window.origin(used.times)  # ascending, as the given photos are
        if window.low >= 0:  # the latest given photo that lies far enough back
            at = np.searchsorted(starts, times - window.low, "right") - 1
        else:  # the earliest that lies far enough ahead
            at = np.searchsorted(starts, times - window.high, "right")
        inside = (at >= 0) & (at < len(starts))
        offsets = times - starts[np.clip(at, 0, len(starts) - 1)]
        inside &= (offsets >= window.low) & (offsets < window.high)
        dated = np.flatnonzero(inside)
        new = dated[found[dated] == NO_ANCHOR]
        found[new] = at[new]
    return found


def _within_km(catalog: Catalog, km: float, used: Given) -> Rows:
    """Near any given photo; compared only with photos of about the same latitude."""
    columns = catalog.columns
    located = np.flatnonzero(columns.located)
    located = located[np.argsort(columns.latitude[located], kind="stable")]
    latitudes = columns.latitude[located]
    points = np.stack([used.latitude, used.longitude], axis=1)
    points, first = np.unique(points, axis=0, return_index=True)
    if len(points) > _MOST_POINTS:
        raise UsageError(
            f"the given photos are at {len(points)} places, too many to be near",
            hint="choose fewer photos, or which=first",
        )
    found = np.full(len(catalog), NO_ANCHOR, np.intp)
    band = np.degrees(km / EARTH_RADIUS_KM) + 1e-9
    for (latitude, longitude), at in zip(points.tolist(), first.tolist(), strict=True):
        low, high = np.searchsorted(latitudes, [latitude - band, latitude + band])
        rows = located[low : int(high) + 1]
        rows = rows[found[rows] == NO_ANCHOR]
        away = haversine_km(latitude, longitude, columns.latitude[rows], columns.longitude[rows])
        found[rows[away <= km]] = at
    return found
