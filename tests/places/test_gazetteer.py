"""Positions to names and names to areas, on the gazetteer built from the real packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from photocraft_local.places.gazetteer import Gazetteer


@pytest.fixture(scope="module")
def gazetteer(shared_cache: Path) -> Iterator[Gazetteer]:
    with Gazetteer.open(shared_cache) as opened:
        yield opened


POSITIONS = [
    (41.8902, 12.4922, "Rome", "IT"),
    (44.0600, 12.5700, "Rimini", "IT"),
    (48.8584, 2.2945, "Paris", "FR"),  # not Vanves
    (40.6340, 14.6020, "Amalfi", "IT"),
    (46.0200, 7.7490, "Zermatt", "CH"),
    (40.6602, -73.9690, "Brooklyn", "US"),
    (41.9029, 12.4534, "Vatican City", "VA"),
    (47.5596, 7.5886, "Basel", "CH"),
    (47.5850, 7.5600, "Saint-Louis", "FR"),
    (47.5930, 7.6100, "Weil am Rhein", "DE"),
]


@pytest.mark.parametrize(("lat", "lon", "city", "country"), POSITIONS)
def test_name_of_a_position(
    gazetteer: Gazetteer, lat: float, lon: float, city: str, country: str
) -> None:
    name = gazetteer.name(lat, lon)
    assert name is not None
    assert (name.city, name.country_code) == (city, country)


FOUND = [
    ("Lisbon", "Lisbon", "PT"),
    ("Lissabon", "Lisbon", "PT"),
    ("Lisboa", "Lisbon", "PT"),
    ("里斯本", "Lisbon", "PT"),
    ("Firenze", "Florence", "IT"),
    ("New York", "New York City", "US"),
    ("Tuscany", "Tuscany", "IT"),
    ("Bavaria", "Bavaria", "DE"),
    ("Germany", "Germany", "DE"),
    ("Deutschland", "Germany", "DE"),
    ("德国", "Germany", "DE"),
    ("Paris, Texas", "Paris", "US"),
]


@pytest.mark.parametrize(("asked", "name", "country"), FOUND)
def test_area_of_a_name(gazetteer: Gazetteer, asked: str, name: str, country: str) -> None:
    best = gazetteer.find(asked)[0]
    assert (best.name, best.country_code) == (name, country)
