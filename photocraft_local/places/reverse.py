"""Positions → the populated place that each belongs to, over the gazetteer's arrays.

A big city owns its surroundings: inside the discs of several places the one wins in which the
position lies deepest, relative to the disc; outside of all discs, the nearest edge. The country
comes from the time-zone polygons, so that a border is a border. Knows no names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from photocraft_local.places.areas import KM_PER_ROOT_HEAD, NAMING_MARGIN_KM, city_reach_km
from photocraft_local.places.columns import ROW_DEGREES, row_of
from photocraft_local.places.distance import haversine_km, unit_vectors
from photocraft_local.places.zones import zone_name

CAP_KM = 75.0  # further from every place: no city
_NEAR_KM = 12.0  # first pass; enough for nearly all positions where people live
_BIG = 50_000  # places whose disc reaches further than ``_SMALL_REACH_KM``
_SMALL_REACH_KM = city_reach_km(_BIG)
_KM_PER_DEGREE = 111.195
_KEY = 1024.0  # row · _KEY + longitude orders the cities by row, then longitude

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cities:
    """Columns of the populated places, sorted by (row of latitude, longitude)."""

    latitude: npt.NDArray[np.float32]
    longitude: npt.NDArray[np.float32]
    population: npt.NDArray[np.int32]
    country: npt.NDArray[np.int16]
    region: npt.NDArray[np.int16]
    part: npt.NDArray[np.bool_]  # a quarter of a bigger city: no position is named after it
    zones: dict[str, list[int]]  # IANA zone → countries that use it


class ReverseLookup:
    """Nearest place, aware of population and borders."""

    def __init__(self, cities: Cities) -> None:
        self._cities = cities
        people = cities.population.astype(np.float64)
        self._reaches = NAMING_MARGIN_KM + KM_PER_ROOT_HEAD * np.sqrt(people)
        everything = np.flatnonzero(~cities.part)
        self._all = _Sorted(cities, everything)
        self._big = _Sorted(cities, everything[cities.population[everything] >= _BIG])

    def nearest(self, latitudes: Floats, longitudes: Floats) -> tuple[Ints, Ints, Floats]:
        """For n positions: place (or -1), country (or -1), and km to the place's centre.

        The country can be known without a place: in the wild, from its zone. The distance is
        then that to the country's nearest place; without a country it is nan.
        """
        place = np.full(latitudes.size, -1, np.int64)
        country = np.full(latitudes.size, -1, np.int64)
        valid = np.flatnonzero((np.abs(latitudes) <= 90) & (np.abs(longitudes) <= 180))
        lat, lon = latitudes[valid], longitudes[valid]
        zone, allowed = self._zones(lat, lon)
        best = self._best(lat, lon, zone, allowed)
        single = np.where(allowed.sum(1) == 1, allowed.argmax(1), -1)[zone]
        country[valid] = np.where(best >= 0, self._cities.country[best], single)
        place[valid] = best
        centre = place.copy()
        wild = np.flatnonzero((place < 0) & (country >= 0))
        centre[wild] = self._nearest_of(country[wild], latitudes[wild], longitudes[wild])
        return place, country, self._distances(latitudes, longitudes, centre)

    def _zones(self, lat: Floats, lon: Floats) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Zone number per position, and which countries each zone allows (all, if unknown)."""
        names = [zone_name(float(a), float(b)) or "" for a, b in zip(lat, lon, strict=True)]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        num_countries = int(self._cities.country.max()) + 1
        allowed = np.zeros((max(len(numbers), 1), num_countries), bool)
        for name, number in numbers.items():
            allowed[number, self._cities.zones.get(name, slice(None))] = True
        return np.array([numbers[name] for name in names], np.int64), allowed

    def _best(self, lat: Floats, lon: Floats, zone: Ints, allowed: npt.NDArray[np.bool_]) -> Ints:
        best, score = self._scored(self._big, lat, lon, zone, allowed, CAP_KM)
        near, near_score = self._scored(self._all, lat, lon, zone, allowed, _NEAR_KM)
        best = np.where(near_score < score, near, best)
        score = np.minimum(score, near_score)
        far = np.flatnonzero(score > 1 + _NEAR_KM - _SMALL_REACH_KM)  # a nearer edge may be missed
        if far.size:
            wide, wide_score = self._scored(
                self._all, lat[far], lon[far], zone[far], allowed, CAP_KM
            )
            best[far] = np.where(wide_score < score[far], wide, best[far])
        return best

    def _scored(
        self,
        index: _Sorted,
        lat: Floats,
        lon: Floats,
        zone: Ints,
        allowed: npt.NDArray[np.bool_],
        radius_km: float,
    ) -> tuple[Ints, Floats]:
        """Per position the best place within ``radius_km`` and its score (inf if none)."""
        best = np.full(lat.size, -1, np.int64)
        score = np.full(lat.size, np.inf)
        for start in range(0, lat.size, 2048):
            part = slice(start, start + 2048)
            query, city = index.pairs(lat[part], lon[part], radius_km)
            query += start
            good = allowed[zone[query], self._cities.country[city]]
            query, city = query[good], city[good]
            away = _flat_km(
                lat[query], lon[query], self._cities.latitude[city], self._cities.longitude[city]
            )
            reach = self._reaches[city]
            value = np.where(away <= reach, away / reach, 1 + away - reach)
            value[away > radius_km] = np.inf
            _keep_least(query, city, value, best, score)
        return best, score

    def _nearest_of(self, country: Ints, lat: Floats, lon: Floats) -> Ints:
        """The nearest place of the given country, however far."""
        nearest = np.full(country.size, -1, np.int64)
        cities = self._cities
        for number in np.unique(country):
            members = np.flatnonzero(cities.country == number)
            centres = unit_vectors(cities.latitude[members], cities.longitude[members])
            for asked in np.array_split(np.flatnonzero(country == number), country.size // 256 + 1):
                points = unit_vectors(lat[asked], lon[asked])
                nearest[asked] = members[np.argmax(points @ centres.T, axis=1)]
        return nearest

    def _distances(self, lat: Floats, lon: Floats, place: Ints) -> Floats:
        away = np.full(place.size, np.nan)
        known = np.flatnonzero(place >= 0)
        centres = place[known]
        latitude, longitude = self._cities.latitude[centres], self._cities.longitude[centres]
        away[known] = haversine_km(lat[known], lon[known], latitude, longitude)
        return away


class _Sorted:
    """A subset of the cities as one ascending key: all places of a row between two longitudes
    are one slice."""

    def __init__(self, cities: Cities, members: Ints) -> None:
        self._members = members
        rows = row_of(cities.latitude[members])
        self._keys = rows * _KEY + cities.longitude[members].astype(np.float64)

    def pairs(self, lat: Floats, lon: Floats, radius_km: float) -> tuple[Ints, Ints]:
        """(query, city) for every city in a box of ``radius_km`` around each query, grouped by
        query in ascending order."""
        height = radius_km / _KM_PER_DEGREE
        num_rows = int(np.ceil(height / ROW_DEGREES)) * 2 + 1
        rows = row_of(lat)[:, None] + np.arange(num_rows) - num_rows // 2
        edge = np.minimum(np.abs(lat) + height, 89.9)
        width = np.minimum(height / np.cos(np.radians(edge)), 180.0)
        shifts = np.array([-360.0, 0.0, 360.0])
        low = (lon - width)[:, None] + shifts
        high = (lon + width)[:, None] + shifts
        base = rows[:, :, None] * _KEY
        first = np.searchsorted(self._keys, base + np.maximum(low, -180.0)[:, None, :])
        last = np.searchsorted(self._keys, base + np.minimum(high, 180.0)[:, None, :], "right")
        counts = np.maximum(last - first, 0).reshape(-1)
        query = np.repeat(np.arange(lat.size), counts.reshape(lat.size, -1).sum(1))
        ends = np.cumsum(counts)
        offsets = np.arange(query.size) - np.repeat(ends - counts, counts)
        return query, self._members[np.repeat(first.reshape(-1), counts) + offsets]


def _flat_km(lat1: Any, lon1: Any, lat2: Any, lon2: Any) -> Floats:
    """Distance on the local tangent plane: within 0.2 % up to 100 km, below 80° of latitude."""
    turn = np.abs(lon1 - lon2)
    turn = np.minimum(turn, 360.0 - turn)
    middle = np.cos(np.radians((lat1 + lat2) / 2))
    result: Floats = _KM_PER_DEGREE * np.hypot(lat1 - lat2, turn * middle)
    return result


def _keep_least(query: Ints, city: Ints, value: Floats, best: Ints, score: Floats) -> None:
    """Write each query's least value and its city into ``best`` and ``score``."""
    if not query.size:
        return
    starts = np.flatnonzero(np.append(True, query[1:] != query[:-1]))
    least = np.minimum.reduceat(value, starts)
    lengths = np.diff(np.append(starts, query.size))
    hits = np.flatnonzero((value == np.repeat(least, lengths)) & np.isfinite(value))
    owners, first = np.unique(query[hits], return_index=True)
    best[owners] = city[hits[first]]
    score[owners] = value[hits[first]]
