"""Where a library's photos are: counts by city, region and country, and a thinned map of points.

Made once for a state of the library from its columns; tells how many photos an area holds. Knows
nothing of photos themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import box_around, haversine_km
from photocraft_local.places.keys import fold

_PER_DEGREE = 200  # cells of the map a degree: about 0.55 km high
_AROUND = 1.5  # photos count as a city's up to this many radii from its centre
_LEAST_KM = 1.0  # a photo beside a monument counts as one of it
Address = tuple[str, str, str]  # city, region, country


@dataclass(frozen=True, slots=False)
class Visited:
    """``addresses`` count photos by (city, region, country); ``cells`` are (n, 2) degrees with
    ``weights`` photos in each."""

    addresses: Mapping[Address, int] = field(default_factory=dict)
    cells: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    weights: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def of(
        cls,
        latitude: npt.NDArray[np.float64],
        longitude: npt.NDArray[np.float64],
        codes: Sequence[npt.NDArray[np.int32]] = (),
        words: Sequence[Sequence[str]] = (),
    ) -> Visited:
        """From columns of n photos: degrees (nan where unknown), and codes of city, region and
        country into their three tables of words, code 0 being "none"."""
        known = np.isfinite(latitude) & np.isfinite(longitude)
        grid = np.floor(np.stack([latitude[known], longitude[known]], axis=1) * _PER_DEGREE)
        keys = grid[:, 0].astype(np.int64) * 1_000_000 + grid[:, 1].astype(np.int64)
        _, first, weights = np.unique(keys, return_index=True, return_counts=True)
        points = np.stack([latitude[known][first], longitude[known][first]], axis=1)
        return cls(dict(_addresses(codes, words)), points, weights.astype(np.int64))

    @classmethod
    def at(cls, points: npt.ArrayLike | None) -> Visited:
        """Photos of which only (n, 2) degrees are known."""
        both = np.asarray([] if points is None else points, np.float64).reshape(-1, 2)
        return cls.of(both[:, 0], both[:, 1])

    def __bool__(self) -> bool:
        return bool(self.addresses) or bool(len(self.cells))

    def count(self, area: Area) -> int:
        """How many photos lie in the area, for ranking: by name where names decide, else by
        the map, generously."""
        if not area.is_round and self.addresses:
            return self._named(area)
        if area.kind == "continent" or not len(self.cells):
            return 0
        radius = max(area.radius_km * _AROUND, _LEAST_KM)
        box = box_around(area.latitude, area.longitude, radius)
        inside = np.flatnonzero(box.contains(self.cells[:, 0], self.cells[:, 1]))
        near = self.cells[inside]
        away = haversine_km(area.latitude, area.longitude, near[:, 0], near[:, 1])
        return int(self.weights[inside[away <= radius]].sum())

    def is_named(self, area: Area) -> bool:
        """Whether photos are named after this very town; true where names are not known."""
        return not self.addresses or (fold(area.name), fold(area.country)) in self._towns

    @cached_property
    def _towns(self) -> frozenset[tuple[str, str]]:
        return frozenset((fold(city), fold(country)) for city, _, country in self.addresses)

    @cached_property
    def labels(self) -> dict[str, dict[str, str]]:
        """First letter → folded name → label ("Porto, Portugal") of every town, region and
        country with photos."""
        found: dict[str, dict[str, str]] = {}
        for address in self.addresses:
            for level in range(3):
                if key := fold(address[level]):
                    parts = [part for part in address[level:] if part]
                    label = ", ".join(dict.fromkeys(parts))
                    found.setdefault(key[0], {}).setdefault(key, label)
        return found

    def _named(self, area: Area) -> int:
        if area.kind == "continent":
            return sum(self._countries.get(name, 0) for name in area.members)
        if area.kind == "country":
            return self._countries.get(fold(area.name), 0)
        if area.kind == "region":
            return self._regions.get((fold(area.name), fold(area.country)), 0)
        key = fold(area.region), fold(area.country)
        return sum(
            number
            for (city, region, country), number in self.addresses.items()
            if fold(city) in area.members and (fold(region), fold(country)) == key
        )

    @cached_property
    def _countries(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for (_, _, country), number in self.addresses.items():
            counts[fold(country)] = counts.get(fold(country), 0) + number
        return counts

    @cached_property
    def _regions(self) -> dict[tuple[str, str], int]:
        counts: dict[tuple[str, str], int] = {}
        for (_, region, country), number in self.addresses.items():
            key = fold(region), fold(country)
            counts[key] = counts.get(key, 0) + number
        return counts


def _addresses(
    codes: Sequence[npt.NDArray[np.int32]], words: Sequence[Sequence[str]]
) -> Iterator[tuple[Address, int]]:
    if len(codes) != 3:
        return
    joined = np.zeros(len(codes[0]), np.int64)
    for column, table in zip(codes, words, strict=True):
        joined = joined * len(table) + column
    keys, counts = np.unique(joined, return_counts=True)
    for key, number in zip(keys.tolist(), counts.tolist(), strict=True):
        if key:
            rest, country = divmod(key, len(words[2]))
            city, region = divmod(rest, len(words[1]))
            yield (words[0][city], words[1][region], words[2][country]), number


NOWHERE = Visited()
