"""Which of several areas of one name is meant, how doubtful that is, and which names are nearly
alike.

By population, by kind, and by where the person's photos are. Knows no file.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import haversine_km
from photocraft_local.places.keys import fold
from photocraft_local.places.visited import NOWHERE, Visited

Named = tuple[Area, bool]  # the area; whether the name is its main one

ALIAS_WEIGHT = 0.4  # another name counts less than the main one
_NAMESAKE_SHARE = 0.1  # a city with this share of a region's people is meant before the region
_RIVAL_SHARE = 0.25  # a namesake with this share of the people is worth a note
_BIG, _WORLD_CITY, _TIMES = 20_000, 300_000, 30  # people, and how many times more
_APART_KM = 50.0  # between the edges of places that are told apart


def ranked(named: Sequence[Named], visited: Visited = NOWHERE) -> list[Named]:
    """The areas, likeliest first: those that hold photos before the others, countries before
    the rest, then by population."""
    cities = [area for area, _ in named if area.kind == "city"]
    rivals = [area for area, main in named if main and area.kind == "city"]

    def order(pair: Named) -> tuple[bool, bool, float]:
        area, main = pair
        weight = area.population * (1.0 if main else ALIAS_WEIGHT)
        if area.kind in ("region", "county") and any(
            _is_meant_before(city, area) for city in cities
        ):
            weight *= _NAMESAKE_SHARE / 2
        # Grenada is Granada in Spanish, but the Spanish city has more people.
        outnumbered = any(
            city.country_code != area.country_code and city.population > area.population
            for city in rivals
        )
        whole = area.kind in ("country", "continent") and main and not outnumbered
        if not main and area.kind == "city" and _has_a_city_of_its_own(area, rivals):
            weight *= _NAMESAKE_SHARE  # "Cancun" is no spelling of Changchun
        here = visited.count(area) > 0 and not _is_lost_beside(area, rivals, visited)
        return here, whole, weight

    return sorted(named, key=order, reverse=True)


def _has_a_city_of_its_own(area: Area, rivals: Sequence[Area]) -> bool:
    """Whether a big city far from ``area`` bears as its main name what only also names it."""
    return any(
        city.population >= _BIG and city.country_code != area.country_code for city in rivals
    )


def _is_lost_beside(area: Area, rivals: Sequence[Area], visited: Visited) -> bool:
    """A quarter that no photo is named after has no say beside a world city: photos from Lisbon's
    quarter São Paulo are photos of Lisbon."""
    if area.kind != "city" or visited.is_named(area):
        return False
    return any(
        city.population >= _WORLD_CITY and city.population >= _TIMES * area.population
        for city in rivals
        if city != area
    )


def narrowed(named: Sequence[Named], wholes: Sequence[Named]) -> list[Named]:
    """Those areas that lie in one of ``wholes`` (regions or countries)."""
    return [pair for pair in named if any(lies_in(pair[0], whole) for whole, _ in wholes)]


def town_among(areas: Sequence[Area]) -> Area:
    """What distances are measured from: the likeliest area, or a town that bears the name rather
    than the region or country around it."""
    best = areas[0]
    if best.kind in ("region", "country", "county"):
        return next((area for area in areas if _is_the_town(area, best)), best)
    return best


def _is_the_town(town: Area, whole: Area) -> bool:
    """Lisbon in the region of Lisbon, Singapore in Singapore, and Granada, which has more people
    than the country Grenada."""
    if town.kind != "city":
        return False
    if whole.kind != "country":
        return (town.country_code, town.region) == (whole.country_code, whole.region)
    own = (town.country_code, town.name) == (whole.country_code, whole.name)
    return own or town.population > whole.population


@dataclass(frozen=True, slots=True)
class Doubt:
    ambiguous: bool = False
    notes: tuple[str, ...] = ()


def doubt_about(name: str, chosen: Area, areas: Sequence[Area], visited: Visited) -> Doubt:
    """Whether a namesake far away could have been meant as well, and a note on the choice."""
    names = {fold(name.partition(",")[0]), fold(chosen.name)}
    number = visited.count(chosen)
    rivals = [
        area
        for area in areas
        if fold(area.name) in names
        and (area.population > _RIVAL_SHARE * chosen.population or visited.count(area) > number)
        and chosen.kind != "point"
        and not lies_in(chosen, area)
        and not lies_in(area, chosen)
        and _gap_km(area, chosen) > _APART_KM
    ]
    if not rivals:
        return Doubt()
    why = "where photos of yours are" if number else "the larger one"
    if number and any(visited.count(rival) for rival in rivals):
        why = "the larger one where photos of yours are"
    other = max(rivals, key=lambda area: area.population)
    return Doubt(True, (f"{name!r} is taken as {chosen.label()} ({why}), not {other.label()}",))


def apart(one: Area, other: Area) -> bool:
    """Whether neither can hold the other: two towns, two countries, a town and another land."""
    return one.kind == other.kind or not (lies_in(one, other) or lies_in(other, one))


def _gap_km(one: Area, other: Area) -> float:
    away = haversine_km(one.latitude, one.longitude, other.latitude, other.longitude)
    return float(away) - one.radius_km - other.radius_km


def lies_in(area: Area, whole: Area) -> bool:
    """Whether a city, county or region belongs to a larger area, by name and code."""
    if whole.kind == "continent":
        return fold(area.country or area.name) in whole.members
    if area.country_code != whole.country_code or area.kind == whole.kind:
        return False
    if whole.kind == "country":
        return True
    if whole.kind == "county" and (area.region, area.kind) == (whole.region, "city"):
        return fold(area.name) in whole.members
    return whole.kind == "region" and area.kind != "country" and area.region == whole.region


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
