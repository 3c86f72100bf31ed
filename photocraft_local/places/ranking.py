"""Which of several areas of one name is meant, and which names are nearly alike.

By population, by kind, and by where the person's photos are. Knows no file.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import haversine_km

Named = tuple[Area, bool]  # the area; whether the name is its main one

_ALIAS_WEIGHT = 0.4  # another name counts less than the main one
_NAMESAKE_SHARE = 0.1  # a city with this share of its region's people is meant before the region
_AROUND = 1.5  # photos count as an area's up to this many radii from its centre


def ranked(named: Sequence[Named], near_points: npt.ArrayLike | None = None) -> list[Area]:
    """The areas, likeliest first: those that hold some of ``near_points`` before the others,
    countries before the rest, then by population."""
    cities = [area for area, _ in named if area.kind == "city"]
    order: dict[Area, tuple[float, ...]] = {}
    for area, main in named:
        weight = area.population * (1.0 if main else _ALIAS_WEIGHT)
        if area.kind == "region" and any(_is_capital_of(city, area) for city in cities):
            weight *= _NAMESAKE_SHARE / 2
        order[area] = (_points_in(area, near_points), area.kind == "country", weight)
    return sorted(order, key=lambda area: order[area], reverse=True)


def narrowed(named: Sequence[Named], wholes: Sequence[Named]) -> list[Named]:
    """Those areas that lie in one of ``wholes`` (regions or countries)."""
    return [pair for pair in named if any(lies_in(pair[0], whole) for whole, _ in wholes)]


def lies_in(area: Area, whole: Area) -> bool:
    """Whether a city or region belongs to a region or country, by name and code."""
    if area.country_code != whole.country_code or area.kind == whole.kind:
        return False
    if whole.kind == "country":
        return True
    return whole.kind == "region" and area.kind == "city" and area.region == whole.region


def closest(key: str, known: Sequence[tuple[str, Area]], limit: int) -> list[str]:
    """Names of the areas whose folded name is most like ``key``, big ones first among equals."""
    matcher = difflib.SequenceMatcher(b=key, autojunk=False)
    scores: dict[str, tuple[float, int]] = {}
    for other, area in known:
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() < 0.7 or matcher.quick_ratio() < 0.7:
            continue
        score = (round(matcher.ratio(), 1), area.population)
        if score[0] >= 0.7:
            scores[area.name] = max(score, scores.get(area.name, score))
    return sorted(scores, key=lambda name: scores[name], reverse=True)[:limit]


def _is_capital_of(city: Area, region: Area) -> bool:
    return lies_in(city, region) and city.population >= _NAMESAKE_SHARE * region.population


def _points_in(area: Area, points: npt.ArrayLike | None) -> bool:
    if points is None:
        return False
    degrees = np.asarray(points, np.float64).reshape(-1, 2)
    away = haversine_km(area.latitude, area.longitude, degrees[:, 0], degrees[:, 1])
    return bool(np.any(away <= area.radius_km * _AROUND))
