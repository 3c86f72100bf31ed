"""Which of several areas of one name is meant, and which names are nearly alike.

By population, by kind, and by where the person's photos are. Knows no file.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import box_around, haversine_km

Named = tuple[Area, bool]  # the area; whether the name is its main one

ALIAS_WEIGHT = 0.4  # another name counts less than the main one
_NAMESAKE_SHARE = 0.1  # a city with this share of a region's people is meant before the region
_AROUND = 1.5  # photos count as an area's up to this many radii from its centre


def ranked(named: Sequence[Named], near_points: npt.ArrayLike | None = None) -> list[Named]:
    """The areas, likeliest first: those that hold some of ``near_points`` before the others,
    countries before the rest, then by population."""
    cities = [area for area, _ in named if area.kind == "city"]
    points = None if near_points is None else np.asarray(near_points, np.float64).reshape(-1, 2)

    def order(pair: Named) -> tuple[bool, bool, float]:
        area, main = pair
        weight = area.population * (1.0 if main else ALIAS_WEIGHT)
        if area.kind == "region" and any(_is_meant_before(city, area) for city in cities):
            weight *= _NAMESAKE_SHARE / 2
        return _holds_any(area, points), area.kind == "country" and main, weight

    return sorted(named, key=order, reverse=True)


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


def _is_meant_before(city: Area, region: Area) -> bool:
    same_country = city.country_code == region.country_code
    return same_country and city.population >= _NAMESAKE_SHARE * region.population


def _holds_any(area: Area, points: npt.NDArray[np.float64] | None) -> bool:
    if points is None or not points.size:
        return False
    box = box_around(area.latitude, area.longitude, area.radius_km * _AROUND)
    near = points[box.contains(points[:, 0], points[:, 1])]
    away = haversine_km(area.latitude, area.longitude, near[:, 0], near[:, 1])
    return bool(np.any(away <= area.radius_km * _AROUND))
