"""The offline gazetteer: positions to names, names to areas, place names in a question.

Opens the compact file, building it on first use. Ranking of equal names lives in ``ranking``,
the reading of questions in ``mentions``. Knows nothing of photos.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from photocraft_local.places import mentions, ranking
from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.places.build import ensure_built
from photocraft_local.places.content import CITY, COUNTRY, REGION, Progress
from photocraft_local.places.gazetteer_file import GazetteerFile
from photocraft_local.places.keys import fold, spellings, without_article
from photocraft_local.places.ranking import Named
from photocraft_local.places.reverse import ReverseLookup
from photocraft_local.places.visited import NOWHERE, Visited
from photocraft_local.records import PlaceName


class Gazetteer:
    """Names of the world's 200,000 towns, 4,000 regions and 250 countries. Safe in threads."""

    def __init__(self, path: Path) -> None:
        self._file = GazetteerFile(path)

    @classmethod
    def open(cls, cache: Path, *, progress: Progress | None = None) -> Gazetteer:
        """The gazetteer in folder ``cache``; built there first if need be (some 10 s of CPU).

        Raises MissingExtraError if it is not built and its source packages are not installed,
        StorageFull if there is no room.
        """
        return cls(ensure_built(cache, progress))

    def close(self) -> None:
        self._file.close()

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
        code, country_name = self._file.countries[country]
        if place < 0:
            return "", "", country_name, code
        region = int(self._file.cities.region[place])
        return self._file.city_name(place), self._file.region_name(region), country_name, code

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
        rows = self._file.rows(
            "SELECT key, kind, ref FROM name WHERE key >= ? AND key < ?",
            (key[:2], key[:1] + chr(ord(key[1]) + 1)),
        )
        known = [
            (key, self._file.area(kind, ref)) for key, kind, ref in rows if self._big(kind, ref)
        ]
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
            rows = self._file.rows("SELECT kind, ref, main FROM name WHERE key = ?", (key,))
            if rows:
                return [(self._file.area(kind, ref), bool(main)) for kind, ref, main in rows]
        head, comma, tail = name.partition(",")
        wholes = self._named(tail) + self._coded(tail) if comma else []
        return ranking.narrowed(self._named(head), wholes) if wholes else []

    def _coded(self, name: str) -> list[Named]:
        """The country of an ISO code, the state of a US postal code; capitals only, since "in"
        and "me" are words."""
        code = name.strip()
        if len(code) != 2 or not code.isupper():
            return []
        countries = self._file.rows("SELECT id FROM country WHERE code = ?", (code,))
        states = self._file.rows("SELECT id FROM region WHERE code = ?", (f"US.{code}",))
        pairs = [(COUNTRY, ref) for (ref,) in countries] + [(REGION, ref) for (ref,) in states]
        return [(self._file.area(kind, ref), True) for kind, ref in pairs]

    def _big(self, kind: int, ref: int) -> bool:
        return kind != CITY or int(self._file.cities.population[ref]) >= 20_000

    @cached_property
    def _reverse(self) -> ReverseLookup:
        return ReverseLookup(self._file.cities)
