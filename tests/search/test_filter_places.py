"""Filters by place with the real gazetteer, in several languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.errors import FilterSyntaxError, PlaceNotFound
from photocraft_local.places.atlas import Atlas
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.places.named import named_place
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


# --- directions, ways, counties, continents, own names


@pytest.fixture(scope="module")
def atlas(gazetteer: Gazetteer) -> Atlas:
    named = (named_place("Home", 38.712, -9.139), named_place("Oma", 48.137, 11.575, 2.0))
    return Atlas(lambda: gazetteer, lambda: named)


@pytest.mark.parametrize(
    ("expression", "uids"),
    [
        ('north_of("Lisbon")', {"porto"}),
        ('south_of("Porto")', {"lisbon"}),
        ('not north_of("Lisbon")', set(POINTS) - {"porto"}),
        ('east_of("Zürich")', {"munich"}),
        ('north_of("Italy")', {"munich", "zurich"}),
        ('between("Cascais", "Évora")', {"lisbon"}),
        ('between("Lisbon", "Porto")', set()),
        ('not between("Cascais", "Évora")', set(POINTS) - {"lisbon"}),
        ('place("Europe")', {"lisbon", "porto", "munich", "zurich"}),
        ('place("Asien")', {"shanghai"}),
        ('not place("Europa")', {"shanghai", "texas-paris"}),
        ('place("Lamar County, Texas")', {"texas-paris"}),
        ('place("Oberbayern")', {"munich"}),
        ('place("Oberbayern") or place("Kent")', {"munich"}),
        ('place("home")', {"lisbon"}),
        ('place("zu Hause")', {"lisbon"}),
        ('near("oma", 5)', {"munich"}),
        ('not place("home") and place("Portugal")', {"porto"}),
        ('north_of("home")', {"porto"}),
    ],
)
def test_directions_ways_and_own_names(
    catalog: Catalog, atlas: Atlas, expression: str, uids: set[str]
) -> None:
    selection = catalog.filter(expression, places=atlas)
    assert set(selection.uids()) == uids
    again = catalog.filter(selection.expression, places=atlas)
    assert list(again.rows) == list(selection.rows)  # what it says of itself means the same
    assert selection.notes


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ('north_of("Europe")', "continent"),
        ('north_of("Lisbon", 5)', "takes one text"),
        ("north_of(5)", "takes one text"),
        ('between("Lisbon")', "two places"),
        ('between("Lisbon", "Porto", "Sintra")', "two places"),
        ('between("Lisbon", 7)', "two places"),
        ('between("Lisbon", "Spain")', "is a country"),
        ('near("Europe", 5)', "is a continent"),
        ('near("Kent", 5)', "is a county"),
    ],
)
def test_mistakes_in_place_functions_are_explained(
    catalog: Catalog, atlas: Atlas, expression: str, told: str
) -> None:
    with pytest.raises(FilterSyntaxError, match=told) as error:
        catalog.filter(expression, places=atlas)
    assert error.value.hint


def test_home_without_a_named_place_is_refused(catalog: Catalog, gazetteer: Gazetteer) -> None:
    nameless = Atlas(lambda: gazetteer)
    with pytest.raises(PlaceNotFound, match="'home'") as error:
        catalog.filter('place("home")', places=nameless)
    assert "photocraft places add home" in error.value.hint


QUESTIONS = (
    "in Lisbon", "not in Portugal", "near Munich", "within 300 km of Zürich", "north of Lisbon",
    "south of Porto", "northeast of Zürich", "in the north of Portugal", "southern Germany",
    "between Cascais and Évora", "in Europe", "not in Asia", "at home", "not at home",
    "Lisbon or Shanghai", "neither in Portugal nor in Germany", "more than 100 km from Munich",
    "Oberbayern", "Lamar County", "Switzerland", "north of Italy", "near Oma",
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_phrase_decides_like_its_filter(
    catalog: Catalog, atlas: Atlas, gazetteer: Gazetteer, question: str
) -> None:
    """Two ways to the same verdict: the filter over columns, the phrase for one position."""
    (phrase,) = atlas.find_places(question)
    expected = set()
    for uid, point in POINTS.items():
        name = gazetteer.name(*point)
        assert name is not None
        if phrase.holds(*point, name.address()):
            expected.add(uid)
    assert set(catalog.filter(phrase.to_expression(), places=atlas).uids()) == expected
    assert expected != set(POINTS)
