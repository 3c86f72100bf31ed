"""An atlas of a made life for tests: where its photos are, what its person named; and phrases in
one line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from photocraft_local.places.atlas import Atlas
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.places.named import named_place
from photocraft_local.places.phrase import PlacePhrase, PlaceSpot
from photocraft_local.places.visited import Visited

VISITED = {
    (38.7139, -9.1394): 60, (38.6979, -9.4215): 6, (38.7974, -9.3904): 5, (41.1496, -8.6110): 6,
    (40.2803, -7.5036): 3, (43.7696, 11.2558): 9, (43.3188, 11.3308): 6, (43.8669, 10.2502): 7,
    (35.6812, 139.7671): 8, (35.0116, 135.7681): 6, (34.6851, 135.8048): 3,
    (55.9533, -3.1883): 6, (57.4778, -4.2247): 4, (40.7580, -73.9855): 12,
}  # fmt: skip
NAMED = (
    named_place("home", 38.7139, -9.1394),
    named_place("Büro", 38.7335, -9.1450),
    named_place("grandma's", 41.16, -8.65, 0.2),
    named_place("Oma", 41.16, -8.65, 0.2),
    named_place("The Cabin", 40.28, -7.50, 1.0),
    named_place("gym", 38.72, -9.15, 0.1),
    named_place("dacha", 43.9, 10.3, 0.3),
)


def made_visits(gazetteer: Gazetteer) -> Visited:
    points = [point for point, number in VISITED.items() for _ in range(number)]
    latitude, longitude = np.array(points).T
    names = gazetteer.names(latitude, longitude)
    columns = []
    for key in ("city", "region", "country"):
        words = [getattr(name, key) for name in names]
        table = ["", *dict.fromkeys(word for word in words if word)]
        columns.append((np.array([table.index(word) for word in words], np.int32), table))
    return Visited.of(
        latitude, longitude, [codes for codes, _ in columns], [table for _, table in columns]
    )


def made_atlas(gazetteer: Gazetteer) -> Atlas:
    visited = made_visits(gazetteer)
    return Atlas(lambda: gazetteer, lambda: NAMED, lambda: visited)


def told(phrases: Sequence[PlacePhrase]) -> str:
    """ "not in Italy / Spain; near 25 Lisbon, Portugal"; empty without a phrase."""
    return "; ".join(_told(phrase) for phrase in phrases)


def _told(phrase: PlacePhrase) -> str:
    if phrase.problem:
        return f"problem: {phrase.text}"
    spots = " / ".join(map(_spot, phrase.spots))
    return f"not {spots}" if phrase.negated else spots


def _spot(spot: PlaceSpot) -> str:
    how = spot.relation if spot.relation != "toward" else ""
    to = f" ~ {spot.to.area.label()}" if spot.to else ""
    km = f"{spot.km:g}" if spot.km is not None else ""
    parts = (how, spot.side or "", km, spot.area.label() + to)
    return " ".join(part for part in parts if part)
