"""Calendar days, weeks, weekends, months, years, events and trips as numbers in their order.

So "the one after" is plus one. A weekend is Saturday and Sunday. Knows
the catalog's columns, nothing of relations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from photocraft_local.library.events import away_from_home
from photocraft_local.tools.given import NOT_IN_LIBRARY, Given

if TYPE_CHECKING:
    from photocraft_local.search.catalog import Catalog

Keys = NDArray[np.int64]

UNITS = ("day", "week", "weekend", "month", "year", "event", "trip")
NONE = int(np.iinfo(np.int64).min)  # the photo is in no such unit
_DAY = 86_400


def unit_keys(catalog: Catalog, unit: str, first_weekday: int = 0) -> Keys:
    """int64 (n,): the number of each photo's unit, NONE where it has none. Weeks begin on
    ``first_weekday``, Monday 0."""
    if unit in ("event", "trip"):
        return _ranks(catalog, unit)
    columns = catalog.columns
    keys = np.full(len(columns), NONE, np.int64)
    times = columns.times[: columns.num_dated]
    keys[: columns.num_dated] = _calendar(times, unit, first_weekday)
    if unit == "weekend":
        keys[: columns.num_dated][_weekday(times) < 5] = NONE
    return keys


def given_keys(catalog: Catalog, unit: str, given: Given, first_weekday: int = 0) -> Keys:
    """The number of each given photo's own unit, NONE where it has none."""
    keys = np.full(len(given), NONE, np.int64)
    if unit in ("event", "trip"):
        known = np.flatnonzero(given.rows != NOT_IN_LIBRARY)
        keys[known] = unit_keys(catalog, unit)[given.rows[known]]
    else:
        known = np.flatnonzero(given.dated)
        keys[known] = _calendar(given.times[known], unit, first_weekday)
    return keys


def start_keys(
    catalog: Catalog, unit: str, shift: int, given: Given, first_weekday: int = 0
) -> Keys:
    """The unit from which each given photo starts to lean, NONE where it has none: a photo
    taken at home is of no trip, though there is one before and after it."""
    keys = given_keys(catalog, unit, given, first_weekday)
    if unit == "trip" and not shift:
        keys[~np.isin(keys, journey_keys(catalog))] = NONE
    return keys


def wanted_keys(
    catalog: Catalog, unit: str, shift: int, given: Given, first_weekday: int = 0
) -> Keys:
    """For each given photo the number of the unit that lies ``shift`` after its own; NONE if
    none does.

    The weekend after a Wednesday is the next one, that before it the last. Of trips, only
    journeys away from home count.
    """
    own = start_keys(catalog, unit, shift, given, first_weekday)
    if unit == "trip" and shift:
        return _journey(catalog, shift, own)
    if unit == "weekend" and shift > 0:
        own = own - ((_weekday(given.times) < 5) & (own != NONE))
    return np.where(own == NONE, NONE, own + shift)


def _calendar(times: Keys, unit: str, first_weekday: int) -> Keys:
    days = times // _DAY
    if unit == "day":
        return days
    if unit in ("week", "weekend"):
        first = first_weekday if unit == "week" else 0
        return (days + 3 - first) // 7  # 1970-01-01 was a Thursday
    months: Keys = times.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
    return months if unit == "month" else months // 12


def _weekday(times: Keys) -> Keys:
    """Monday 0 … Sunday 6."""
    return (times // _DAY + 3) % 7


def _ranks(catalog: Catalog, unit: str) -> Keys:
    """Events or trips numbered by their first photo."""
    numbers = getattr(catalog.columns, unit)
    ids, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    ranks = np.empty(len(ids), np.int64)
    known = np.flatnonzero(ids >= 0)
    ranks[known[np.argsort(first[known])]] = np.arange(len(known))
    ranks[ids < 0] = NONE
    return ranks[inverse.reshape(-1)]


def _journey(catalog: Catalog, shift: int, own: Keys) -> Keys:
    """The trip ``shift`` journeys after (before) each."""
    journeys = journey_keys(catalog)
    if shift > 0:
        at = np.searchsorted(journeys, own, "right") + shift - 1
    else:
        at = np.searchsorted(journeys, own, "left") + shift
    inside = (own != NONE) & (at >= 0) & (at < len(journeys))
    wanted = np.full(len(own), NONE, np.int64)
    wanted[inside] = journeys[at[inside]]
    return wanted


def journey_keys(catalog: Catalog) -> Keys:
    """Numbers of the trips that lead away from home, ascending; all if no home is known."""
    columns = catalog.columns
    num = columns.num_dated
    keys = unit_keys(catalog, "trip")[:num]
    away = away_from_home(columns.times[:num], columns.latitude[:num], columns.longitude[:num])
    known = keys != NONE
    trips = np.unique(keys[known])
    return trips if away is None else np.unique(keys[known & away])
