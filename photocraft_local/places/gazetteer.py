"""The offline gazetteer: positions to names, names to areas, place names in a question.

Opens the compact file, building it on first use. Ranking of equal names lives in ``ranking``,
the reading of questions in ``mentions``. Knows nothing of photos.
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
from photocraft_local.places import mentions, ranking
from photocraft_local.places.areas import Area, PlaceMention, city_radius_km
from photocraft_local.places.build import connect, ensure_built
from photocraft_local.places.content import CITY, COUNTRY, COUNTY, GROUP, REGION, SPOT, Progress
from photocraft_local.places.keys import fold, spellings, without_article
from photocraft_local.places.ranking import Named
from photocraft_local.places.reverse import Cities, ReverseLookup
from photocraft_local.places.visited import NOWHERE, Visited
from photocraft_local.records import PlaceName


class Gazetteer:
    """Names of the world's 200,000 towns, 4,000 regions and 250 countries. Safe in threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = connect(path)
        self._lock = threading.Lock()

    @classmethod
    def open(cls, cache: Path, *, progress: Progress | None = None) -> Gazetteer:
        """The gazetteer in folder ``cache``; built there first if need be (some 10 s of CPU).

        Raises MissingExtraError if it is not built and its source packages are not installed,
        StorageFull if there is no room.
        """
        return cls(ensure_built(cache, progress))

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Gazetteer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # positions → names

    def name(self, latitude: float, longitude: float) -> PlaceName | None:
        """Names for a position in signed degrees; None at sea and off the globe.

        Where no town is within 75 km but the country is certain, city and region are empty and
        the distance is that to the country's nearest town.
        """
        return self.names([latitude], [longitude])[0]

    def names(self, latitudes: npt.ArrayLike, longitudes: npt.ArrayLike) -> list[PlaceName | None]:
        """``name`` of many positions at once: 10,000 in well under a second. NaN gives None."""
        lat = np.asarray(latitudes, np.float64).reshape(-1)
        lon = np.asarray(longitudes, np.float64).reshape(-1)
        places, countries, distances = self._reverse.nearest(lat, lon)
        answers: dict[tuple[int, int], tuple[str, str, str, str]] = {}
        result: list[PlaceName | None] = []
        triples = zip(places.tolist(), countries.tolist(), distances.tolist(), strict=True)
        for place, country, distance in triples:
            if country < 0:
                result.append(None)
                continue
            if (place, country) not in answers:
                answers[place, country] = self._words(place, country)
            result.append(PlaceName(*answers[place, country], distance_km=distance))
        return result

    def _words(self, place: int, country: int) -> tuple[str, str, str, str]:
        code, country_name = self._countries[country]
        if place < 0:
            return "", "", country_name, code
        region = int(self._cities.region[place])
        return self._city_name(place), self._region_name(region), country_name, code

    # names → areas

    def find(self, name: str, *, near_points: npt.ArrayLike | None = None) -> list[Area]:
        """Areas of that name, the likeliest first; empty if the name is unknown (``suggest``
        has near names).

        Names count in English, German, French, Spanish, Chinese and as people there say them;
        also ISO codes of countries ("PT"). ``near_points`` are (n, 2) degrees, e.g. where a
        library's photos are: areas that hold some of them come first. "Paris, Texas" narrows by
        the part behind the comma.
        """
        return self.found(name, Visited.at(near_points))

    def found(self, name: str, visited: Visited = NOWHERE) -> list[Area]:
        """``find``, ranked by where a library's photos are."""
        named = self._named(name) or self._named(without_article(name))
        coded = [pair for pair in self._coded(name) if pair[0].kind == "country"]
        return list(dict.fromkeys(area for area, _ in ranking.ranked(coded + named, visited)))

    def suggest(self, name: str, *, limit: int = 3) -> list[str]:
        """Names of well-known areas that are spelt nearly like ``name``, the nearest first."""
        key = fold(name)
        if len(key) < 2:
            return []
        rows = self._rows(
            "SELECT key, kind, ref FROM name WHERE key >= ? AND key < ?",
            (key[:2], key[:1] + chr(ord(key[1]) + 1)),
        )
        known = [(key, self._area(kind, ref)) for key, kind, ref in rows if self._big(kind, ref)]
        return ranking.closest(key, known, limit)

    def find_in_text(
        self, text: str, *, near_points: npt.ArrayLike | None = None
    ) -> list[PlaceMention]:
        """Places that a question names, longest match first, none overlapping; see ``mentions``
        for what counts as naming a place."""
        return self.mentioned(text, Visited.at(near_points))

    def mentioned(self, text: str, visited: Visited = NOWHERE) -> list[PlaceMention]:
        """``find_in_text``, read and ranked by where a library's photos are."""
        return mentions.find(
            text, lambda name: ranking.ranked(self._named(name), visited), visited.count
        )

    def _named(self, name: str) -> list[Named]:
        """Areas that bear the name, unordered, and whether it is their main one; "Paris, Texas"
        are those of the first name that lie in one of the second."""
        for key in spellings(name):
            rows = self._rows("SELECT kind, ref, main FROM name WHERE key = ?", (key,))
            if rows:
                return [(self._area(kind, ref), bool(main)) for kind, ref, main in rows]
        head, comma, tail = name.partition(",")
        wholes = self._named(tail) + self._coded(tail) if comma else []
        return ranking.narrowed(self._named(head), wholes) if wholes else []

    def _coded(self, name: str) -> list[Named]:
        """The country of an ISO code, the state of a US postal code; capitals only, since "in"
        and "me" are words."""
        code = name.strip()
        if len(code) != 2 or not code.isupper():
            return []
        countries = self._rows("SELECT id FROM country WHERE code = ?", (code,))
        states = self._rows("SELECT id FROM region WHERE code = ?", (f"US.{code}",))
        pairs = [(COUNTRY, ref) for (ref,) in countries] + [(REGION, ref) for (ref,) in states]
        return [(self._area(kind, ref), True) for kind, ref in pairs]

    def _big(self, kind: int, ref: int) -> bool:
        return kind != CITY or int(self._cities.population[ref]) >= 20_000

    def _area(self, kind: int, ref: int) -> Area:
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
        row = self._rows(
            f"SELECT {owner}, name, latitude, longitude, radius_km, population, "  # noqa: S608
            f"extent FROM {table} WHERE id = ?",
            (ref,),
        )[0]
        code, country = self._countries[row[0]]
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
        row = self._rows(
            "SELECT country, region, name, latitude, longitude, radius_km, population, extent,"
            " members FROM county WHERE id = ?",
            (ref,),
        )[0]
        code, country = self._countries[row[0]]
        return Area(
            name=row[2],
            kind="county",
            country_code=code,
            region=self._region_name(row[1]),
            latitude=row[3],
            longitude=row[4],
            radius_km=row[5],
            population=row[6],
            country=country,
            members=frozenset(json.loads(row[8])),
            extent=_extent(row[7]),
        )

    def _group_area(self, ref: int) -> Area:
        row = self._rows("SELECT name, population, members FROM cluster WHERE id = ?", (ref,))[0]
        members = frozenset(json.loads(row[2]))
        return Area(row[0], "continent", "", "", 0.0, 0.0, 0.0, row[1], members=members)

    def _city_area(self, ref: int) -> Area:
        cities = self._cities
        code, country = self._countries[int(cities.country[ref])]
        population = int(cities.population[ref])
        return Area(
            name=self._city_name(ref),
            kind="city",
            country_code=code,
            region=self._region_name(int(cities.region[ref])),
            latitude=round(float(cities.latitude[ref]), 5),
            longitude=round(float(cities.longitude[ref]), 5),
            radius_km=round(city_radius_km(population), 1),
            population=population,
            country=country,
        )

    def _spot_area(self, ref: int) -> Area:
        row = self._rows(
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

    # the file

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(query, values).fetchall()
        except sqlite3.DatabaseError as exc:
            raise LibraryCorrupt(
                f"the gazetteer {self._path} is damaged: {exc}",
                hint=f"remove the file {self._path}; the next run builds it anew",
            ) from exc

    def _array(self, key: str) -> npt.NDArray[Any]:
        dtype, data = self._rows("SELECT dtype, data FROM array WHERE key = ?", (key,))[0]
        return np.frombuffer(data, dtype)

    @cached_property
    def _cities(self) -> Cities:
        zones = self._rows("SELECT data FROM array WHERE key = 'zones'")[0][0]
        columns = ("latitude", "longitude", "population", "country", "region", "part")
        return Cities(**{key: self._array(key) for key in columns}, zones=json.loads(zones))

    @cached_property
    def _reverse(self) -> ReverseLookup:
        return ReverseLookup(self._cities)

    @cached_property
    def _countries(self) -> dict[int, tuple[str, str]]:
        return {row[0]: row[1:] for row in self._rows("SELECT id, code, name FROM country")}

    @cached_property
    def _country_names(self) -> dict[str, str]:
        return dict(self._countries.values())

    @cached_property
    def _regions(self) -> list[str]:
        return [name for (name,) in self._rows("SELECT name FROM region ORDER BY id")]

    @cached_property
    def _names(self) -> tuple[bytes, npt.NDArray[Any]]:
        return self._rows("SELECT data FROM array WHERE key = 'names'")[0][0], self._array(
            "name_ends"
        )

    def _city_name(self, place: int) -> str:
        names, ends = self._names
        start = int(ends[place - 1]) if place else 0
        return names[start : int(ends[place])].decode()

    def _region_name(self, region: int) -> str:
        return self._regions[region] if region >= 0 else ""


def _extent(text: str) -> tuple[float, float, float, float]:
    south, west, north, east = json.loads(text)
    return south, west, north, east
