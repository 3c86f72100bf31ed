"""Filters by place with the real gazetteer, in several languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.errors import FilterSyntaxError
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.search.catalog import Catalog

POINTS = {
    "lisbon": (38.712, -9.139), "porto": (41.146, -8.611), "munich": (48.137, 11.575),
    "texas-paris": (33.660, -95.555), "zurich": (47.376, 8.541), "shanghai": (31.230, 121.474),
}  # fmt: skip


@pytest.fixture(scope="module")
def gazetteer(shared_cache: Path) -> Iterator[Gazetteer]:
    with Gazetteer.open(shared_cache) as places:
        yield places


@pytest.fixture(scope="module")
def catalog(gazetteer: Gazetteer, make_columns: Any) -> Catalog:
    rows = []
    for uid, point in POINTS.items():
        name = gazetteer.name(*point)
        assert name is not None
        rows.append(
            {"uid": uid, "gps": point, "city": name.city, "region": name.region,
             "country": name.country, "code": name.country_code}
        )  # fmt: skip
    return Catalog.from_columns(make_columns(rows))


@pytest.mark.parametrize(
    ("expression", "uids"),
    [
        ('place("Lissabon")', {"lisbon"}),
        ('place("里斯本")', {"lisbon"}),
        ('place("Portugal") and not place("Lisbon")', {"porto"}),
        ('place("Bavaria")', {"munich"}),
        ('place("Texas")', {"texas-paris"}),
        ('place("Paris")', {"texas-paris"}),  # the Paris where there are photos
        ('near("München", 10)', {"munich"}),
        ('city == "Munich"', {"munich"}),
        ('city == "Monaco di Baviera" or city == "München"', {"munich"}),
        ('country == "Deutschland"', {"munich"}),
        ('country in ("CH", "Chine")', {"zurich", "shanghai"}),
        ('match_address("switzerland")', {"zurich"}),
    ],
)
def test_places(catalog: Catalog, gazetteer: Gazetteer, expression: str, uids: set[str]) -> None:
    assert set(catalog.filter(expression, places=gazetteer).uids()) == uids


@pytest.mark.parametrize(
    ("name", "town"),
    [
        ("Granada", "Granada, Andalusia, Spain"),  # a country for place(): it is Grenada in Spanish
        ("Singapore", "Singapore, Singapore"),
        ("Luxembourg", "Luxembourg, Luxembourg"),
        ("Lisbon", "Lisbon, Portugal"),
    ],
)
def test_near_takes_the_town_where_a_country_or_region_has_its_name(
    catalog: Catalog, gazetteer: Gazetteer, name: str, town: str
) -> None:
    assert f"→ {town} (" in catalog.filter(f'near("{name}")', places=gazetteer).echo


@pytest.mark.parametrize("name", ["Jordan", "Georgia", "Mexico", "Bavaria"])
def test_near_refuses_a_country_without_a_town_of_its_name(
    catalog: Catalog, gazetteer: Gazetteer, name: str
) -> None:
    with pytest.raises(FilterSyntaxError, match=f"'{name}' is a (country|region)") as error:
        catalog.filter(f'near("{name}")', places=gazetteer)
    assert f'place("{name}")' in error.value.hint
