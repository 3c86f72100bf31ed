"""The compact gazetteer file as it is read: columns of cities, names by number, rows → areas.

Owns the connection and that a damaged file is told as one. Knows no ranking and no text.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from photocraft_local.errors import LibraryCorrupt
from photocraft_local.places.areas import Area, city_radius_km
from photocraft_local.places.build import connect
from photocraft_local.places.content import CITY, COUNTY, GROUP, REGION, SPOT
from photocraft_local.places.reverse import Cities


class GazetteerFile:
    """Safe in threads; opened read-only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = connect(path)
        self._lock = threading.Lock()

    def close(self) -> None:
        self._db.close()

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query. Raises LibraryCorrupt for a damaged file."""
        try:
            with self._lock:
                return self._db.execute(query, values).fetchall()
        except sqlite3.DatabaseError as exc:
            raise LibraryCorrupt(
                f"the gazetteer {self.path} is damaged: {exc}",
                hint=f"remove the file {self.path}; the next run builds it anew",
            ) from exc

    def _array(self, key: str) -> npt.NDArray[Any]:
        dtype, data = self.rows("SELECT dtype, data FROM array WHERE key = ?", (key,))[0]
        return np.frombuffer(data, dtype)

    @cached_property
    def cities(self) -> Cities:
        """All towns as columns; a town's number is its row."""
        zones = self.rows("SELECT data FROM array WHERE key = 'zones'")[0][0]
        columns = ("latitude", "longitude", "population", "country", "region", "part")
        return Cities(**{key: self._array(key) for key in columns}, zones=json.loads(zones))

    @cached_property
    def countries(self) -> dict[int, tuple[str, str]]:
        """Number → (ISO code, name)."""
        return {row[0]: row[1:] for row in self.rows("SELECT id, code, name FROM country")}

    @cached_property
    def _country_names(self) -> dict[str, str]:
        return dict(self.countries.values())

    @cached_property
    def _regions(self) -> list[str]:
        return [name for (name,) in self.rows("SELECT name FROM region ORDER BY id")]

    @cached_property
    def _names(self) -> tuple[bytes, npt.NDArray[Any]]:
        return self.rows("SELECT data FROM array WHERE key = 'names'")[0][0], self._array(
            "name_ends"
        )

    def city_name(self, place: int) -> str:
        names, ends = self._names
        start = int(ends[place - 1]) if place else 0
        return names[start : int(ends[place])].decode()

    def region_name(self, region: int) -> str:
        return self._regions[region] if region >= 0 else ""

    # areas

    def area(self, kind: int, ref: int) -> Area:
        """The area with that number within its kind (``content`` lists the kinds)."""
        if kind == CITY:
            return self._city_area(ref)
        if kind == SPOT:
            return self._spot_area(ref)
        if kind == COUNTY:
            return self._county_area(ref)
        if kind == GROUP:
            return self._group_area(ref)
        table = "region" if kind == REGION else "country"
        owner = "country" if kind == REGION else "id"
        row = self.rows(
            f"SELECT {owner}, name, latitude, longitude, radius_km, population, "  # noqa: S608
            f"extent FROM {table} WHERE id = ?",
            (ref,),
        )[0]
        code, country = self.countries[row[0]]
        return Area(
            name=row[1],
            kind="region" if kind == REGION else "country",
            country_code=code,
            region=row[1] if kind == REGION else "",
            latitude=row[2] or 0.0,
            longitude=row[3] or 0.0,
            radius_km=row[4] or 0.0,
            population=row[5],
            country=country,
            extent=_extent(row[6]),
        )

    def _county_area(self, ref: int) -> Area:
        row = self.rows(
            "SELECT country, region, name, latitude, longitude, radius_km, population, extent,"
            " members FROM county WHERE id = ?",
            (ref,),
        )[0]
        code, country = self.countries[row[0]]
        return Area(
            name=row[2],
            kind="county",
            country_code=code,
            region=self.region_name(row[1]),
            latitude=row[3],
            longitude=row[4],
            radius_km=row[5],
            population=row[6],
            country=country,
            members=frozenset(json.loads(row[8])),
            extent=_extent(row[7]),
        )

    def _group_area(self, ref: int) -> Area:
        row = self.rows("SELECT name, population, members FROM cluster WHERE id = ?", (ref,))[0]
        members = frozenset(json.loads(row[2]))
        return Area(row[0], "continent", "", "", 0.0, 0.0, 0.0, row[1], members=members)

    def _city_area(self, ref: int) -> Area:
        cities = self.cities
        code, country = self.countries[int(cities.country[ref])]
        population = int(cities.population[ref])
        return Area(
            name=self.city_name(ref),
            kind="city",
            country_code=code,
            region=self.region_name(int(cities.region[ref])),
            latitude=round(float(cities.latitude[ref]), 5),
            longitude=round(float(cities.longitude[ref]), 5),
            radius_km=round(city_radius_km(population), 1),
            population=population,
            country=country,
        )

    def _spot_area(self, ref: int) -> Area:
        row = self.rows(
            "SELECT name, latitude, longitude, radius_km, weight, code FROM spot WHERE id = ?",
            (ref,),
        )[0]
        country = self._country_names.get(row[5], "")
        return Area(
            name=row[0],
            kind="point",
            country_code=row[5],
            region="",
            latitude=row[1],
            longitude=row[2],
            radius_km=row[3],
            population=row[4],
            country=country,
        )


def _extent(text: str) -> tuple[float, float, float, float]:
    south, west, north, east = json.loads(text)
    return south, west, north, east
