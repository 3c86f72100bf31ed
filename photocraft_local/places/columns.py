"""The cities as NumPy columns in the order of the file, and what is worked out from them.

Knows no tables and no names of places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from photocraft_local.places.areas import city_reach_km
from photocraft_local.places.distance import haversine_km, unit_vectors
from photocraft_local.places.raw import RawCity

ROW_DEGREES = 0.1  # cities are sorted by rows of latitude this high, then by longitude
Columns = dict[str, npt.NDArray[Any]]
Circle = tuple[float | None, float | None, float | None, int]  # centre, radius, people

_CITY = 100_000  # may have quarters
_OUTERMOST = 0.03  # of the towns, left out of an extent
_KM_PER_ROW = 111.195 * ROW_DEGREES


def row_of(latitudes: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Number of the row of latitude; the order of cities in the file."""
    degrees = np.asarray(latitudes, np.float64) + 90.0
    rows: npt.NDArray[np.int64] = np.floor(degrees / ROW_DEGREES).astype(np.int64)
    return rows


def sorted_cities(cities: Iterable[RawCity]) -> list[RawCity]:
    """By row of latitude, then longitude: the order that the reverse look-up searches in.
    Places without a known population are mostly parts of towns; they are left out."""
    kept = [city for city in cities if city.population > 0]
    rows = row_of(np.array([city.latitude for city in kept], np.float32))
    order = np.lexsort((np.array([city.longitude for city in kept], np.float32), rows))
    return [kept[i] for i in order]


def city_columns(
    cities: Sequence[RawCity], countries: dict[str, int], regions: dict[str, int]
) -> Columns:
    columns: Columns = {
        "latitude": np.array([city.latitude for city in cities], np.float32),
        "longitude": np.array([city.longitude for city in cities], np.float32),
        "population": np.array([city.population for city in cities], np.int32),
        "country": np.array([countries[city.country_code] for city in cities], np.int16),
        "region": np.array([regions.get(city.region_code, -1) for city in cities], np.int16),
    }
    return columns | {"part": _parts(columns)}


def _parts(columns: Columns) -> npt.NDArray[np.bool_]:
    """Which places are quarters of a city ("Times Square"): in the disc of one of the same
    region with many more people. A position there is named after the city."""
    population, region, country = (columns[key] for key in ("population", "region", "country"))
    rows = row_of(columns["latitude"])
    part = np.zeros(rows.size, bool)
    for city in np.flatnonzero(population >= _CITY):
        reach = city_reach_km(int(population[city]))
        height = int(np.ceil(reach / _KM_PER_ROW)) + 1
        near = slice(*np.searchsorted(rows, [rows[city] - height, rows[city] + height + 1]))
        depth = haversine_km(
            columns["latitude"][city],
            columns["longitude"][city],
            columns["latitude"][near],
            columns["longitude"][near],
        )
        depth /= reach
        share = population[near] / population[city]
        quarter = ((depth <= 0.5) & (share <= 1 / 10)) | ((depth <= 1) & (share <= 1 / 30))
        part[near] |= quarter & (region[near] == region[city]) & (country[near] == country[city])
    return part


def circles_of(columns: Columns, groups: npt.NDArray[Any], num_groups: int) -> list[Circle]:
    """Per group of cities: centre of population, radius that holds 95 % of them, people."""
    points = unit_vectors(columns["latitude"], columns["longitude"])
    result: list[Circle] = []
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(num_groups + 1))
    for group in range(num_groups):
        members = order[starts[group] : starts[group + 1]]
        if not members.size:
            result.append((None, None, None, 0))
            continue
        people = columns["population"][members].astype(np.float64)
        x, y, z = people @ points[members]
        latitude = float(np.degrees(np.arctan2(z, np.hypot(x, y))))
        longitude = float(np.degrees(np.arctan2(y, x)))
        away = haversine_km(
            latitude, longitude, columns["latitude"][members], columns["longitude"][members]
        )
        result.append((latitude, longitude, float(np.quantile(away, 0.95)), int(people.sum())))
    return result


def extents_of(
    columns: Columns, groups: npt.NDArray[Any], num_groups: int
) -> list[tuple[float, float, float, float]]:
    """Per group of cities: south, west, north, east of all but the outermost 3 % on each side,
    so that far islands do not move the middle. Zeros for a group without cities."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(num_groups + 1))
    result: list[tuple[float, float, float, float]] = []
    for group in range(num_groups):
        members = order[starts[group] : starts[group + 1]]
        if not members.size:
            result.append((0.0, 0.0, 0.0, 0.0))
            continue
        sides = [
            np.quantile(columns[name][members], [_OUTERMOST, 1 - _OUTERMOST])
            for name in ("latitude", "longitude")
        ]
        (south, north), (west, east) = (side.round(4).tolist() for side in sides)
        result.append((south, west, north, east))
    return result
