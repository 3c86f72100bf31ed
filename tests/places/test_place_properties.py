"""What must hold for any place: directions, ways, nearness; and that the tables tell the truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from phrase_atlas import made_visits

from photocraft_local.places.areas import Area
from photocraft_local.places.distance import haversine_km
from photocraft_local.places.gazetteer import Gazetteer
from photocraft_local.places.misspelt import slips
from photocraft_local.places.phrase import PlacePhrase, PlaceSpot, near_km
from photocraft_local.places.sectors import REACH_KM, SIDES, Corridor, Toward, rhumb_bearing
from photocraft_local.places.sources import read_table
from photocraft_local.places.visited import Visited
from photocraft_local.places.zones import zone_name

degrees = st.tuples(st.floats(-70, 70), st.floats(-180, 180))
areas = st.builds(
    lambda point, radius: Area("X", "city", "XX", "", *point, radius, 1000),
    degrees,
    st.floats(0.1, 30),
)
OPPOSITE = {"north": "south", "east": "west", "northeast": "southwest", "southeast": "northwest"}


@st.composite
def around(draw: Callable[..., object], most_km: float = 1500.0) -> tuple[Area, float, float]:
    """An area and a point in its surroundings."""
    area = draw(areas)
    assert isinstance(area, Area)
    latitude = area.latitude + draw(st.floats(-1, 1)) * most_km / 111.2  # type: ignore[operator]
    turn = draw(st.floats(-1, 1)) * most_km / 111.2 / np.cos(np.radians(area.latitude))  # type: ignore[operator]
    return area, float(np.clip(latitude, -85, 85)), float((area.longitude + turn + 180) % 360 - 180)


@given(around())
def test_the_four_quarters_part_the_surroundings(case: tuple[Area, float, float]) -> None:
    area, latitude, longitude = case
    away = haversine_km(area.latitude, area.longitude, latitude, longitude)
    hits = [side for side in SIDES[::2] if Toward(area, side).contains(latitude, longitude)]
    assert len(hits) == (1 if area.radius_km < away <= REACH_KM else 0)


@given(around())
def test_opposite_directions_share_nothing(case: tuple[Area, float, float]) -> None:
    area, latitude, longitude = case
    for side, other in OPPOSITE.items():
        both = [
            bool(Toward(area, way).contains(latitude, longitude))  # type: ignore[arg-type]
            for way in (side, other)
        ]
        assert not all(both)


@given(degrees, st.floats(0.01, 10))
def test_what_lies_on_the_same_meridian_is_north_or_south(
    point: tuple[float, float], north: float
) -> None:
    latitude, longitude = point
    assert rhumb_bearing(latitude, longitude, latitude + north, longitude) == pytest.approx(0)
    assert rhumb_bearing(latitude + north, longitude, latitude, longitude) == pytest.approx(180)


@given(areas, degrees, st.floats(0.05, 0.95))
def test_the_way_between_is_the_same_both_ways_and_leaves_out_the_ends(
    start: Area, point: tuple[float, float], share: float
) -> None:
    away = float(haversine_km(start.latitude, start.longitude, *point))
    assume(100 < away < 10_000)
    end = Area("Y", "city", "YY", "", *point, 5.0, 1000)
    there, back = Corridor(start, end), Corridor(end, start)
    assert there.half_width_km == pytest.approx(back.half_width_km)
    from photocraft_local.places.distance import unit_vectors

    first, last = (unit_vectors(area.latitude, area.longitude) for area in (start, end))
    angle = np.arccos(np.clip(first @ last, -1, 1))
    middle = (np.sin((1 - share) * angle) * first + np.sin(share * angle) * last) / np.sin(angle)
    latitude = float(np.degrees(np.arctan2(middle[2], np.hypot(middle[0], middle[1]))))
    longitude = float(np.degrees(np.arctan2(middle[1], middle[0])))
    outside = min(share, 1 - share) * away > 31
    assert bool(there.contains(latitude, longitude)) or not outside
    assert bool(there.contains(latitude, longitude)) == bool(back.contains(latitude, longitude))
    for area in (start, end):
        assert not there.contains(area.latitude, area.longitude)


@given(around(200.0), st.floats(0.1, 100), st.floats(1, 3))
def test_near_lies_inside_a_larger_distance(
    case: tuple[Area, float, float], km: float, more: float
) -> None:
    area, latitude, longitude = case
    small = PlaceSpot("X", area, "within", km)
    large = PlaceSpot("X", area, "within", km * more)
    if small.holds(latitude, longitude, ""):
        assert large.holds(latitude, longitude, "")
    if PlaceSpot("X", area).holds(latitude, longitude, ""):
        assert PlaceSpot("X", area, "near", near_km(area)).holds(latitude, longitude, "")


@given(areas, areas)
def test_containment_of_centres_is_symmetric_to_distance(one: Area, other: Area) -> None:
    away = haversine_km(one.latitude, one.longitude, other.latitude, other.longitude)
    assume(abs(away - one.radius_km) > 0.01)
    assert one.holds(other.latitude, other.longitude, "") == (away <= one.radius_km)
    swapped = haversine_km(other.latitude, other.longitude, one.latitude, one.longitude)
    assert swapped == pytest.approx(away)


@given(around(), st.booleans())
def test_a_negated_phrase_holds_where_the_other_does_not(
    case: tuple[Area, float, float], near: bool
) -> None:
    area, latitude, longitude = case
    spot = PlaceSpot("X", area, "near", 25.0) if near else PlaceSpot("X", area)
    plain = PlacePhrase(0, 1, "x", (spot,))
    turned = PlacePhrase(0, 1, "x", (spot,), negated=True)
    assert plain.holds(latitude, longitude, "") != turned.holds(latitude, longitude, "")
    assert turned.to_expression() == f"not {plain.to_expression()}"


def test_the_part_of_a_land_is_inside_it(gazetteer: Gazetteer) -> None:
    italy = gazetteer.find("Italy")[0]
    milan, naples = gazetteer.find("Milan")[0], gazetteer.find("Naples")[0]
    address = "Milan, Lombardy, Italy"
    north, south = (PlaceSpot("Italy", italy, "part", side=side) for side in ("north", "south"))  # type: ignore[arg-type]
    assert north.holds(milan.latitude, milan.longitude, address)
    assert not south.holds(milan.latitude, milan.longitude, address)
    assert south.holds(naples.latitude, naples.longitude, "Naples, Campania, Italy")
    assert not north.holds(60.0, milan.longitude, "Oslo, Norway")


@pytest.mark.parametrize(
    ("one", "other", "number"),
    [("lisbon", "lisbon", 0), ("lisobn", "lisbon", 1), ("lisbn", "lisbon", 1), ("abc", "xyz", 3),
     ("viarregio", "viareggio", 2), ("", "ab", 2), ("tokio", "tokyo", 1)],
)  # fmt: skip
def test_slips(one: str, other: str, number: int) -> None:
    assert slips(one, other, 3) == slips(other, one, 3) == number
    assert slips(one, other, 0) == min(number, 1)


# --- the tables


def test_each_monument_lies_in_its_country(gazetteer: Gazetteer) -> None:
    rows = read_table("landmarks.tsv")
    assert len(rows) >= 400
    names = gazetteer.names([float(row[1]) for row in rows], [float(row[2]) for row in rows])
    wrong = [
        (row[0], row[5], name)
        for row, name in zip(rows, names, strict=True)
        if row[5] and (name is None or name.country_code != row[5])
    ]
    assert wrong == []
    assert [row[0] for row in rows if not 0.05 <= float(row[3]) <= 400] == []
    assert [row[0] for row in rows if zone_name(float(row[1]), float(row[2])) is None] == []


def test_each_monument_is_found_by_each_of_its_names(gazetteer: Gazetteer) -> None:
    for row in [*read_table("landmarks.tsv"), *read_table("spots.tsv")]:
        for name in (row[0], *row[-1].split("|")):
            if name:
                points = [area for area in gazetteer.find(name) if area.kind == "point"]
                assert any(area.name == row[0] for area in points), name


def test_no_name_of_a_monument_is_given_twice() -> None:
    from photocraft_local.places.keys import fold

    seen: dict[str, str] = {}
    for row in [*read_table("landmarks.tsv"), *read_table("spots.tsv")]:
        for key in {fold(name) for name in (row[0], *row[-1].split("|")) if name}:
            assert key not in seen, (key, row[0], seen[key])
            seen[key] = row[0]


def test_continents_hold_every_country_once(gazetteer: Gazetteer) -> None:
    names = ("Europe", "Asia", "Africa", "North America", "South America", "Oceania", "Antarctica")
    found = [gazetteer.find(name)[0] for name in names]
    assert {area.kind for area in found} == {"continent"}
    members = [member for area in found for member in area.members]
    assert len(members) == len(set(members)) >= 245
    assert {"portugal", "iceland"} <= found[0].members
    for name in ("Europa", "欧洲", "Skandinavien", "América Latina", "Moyen-Orient", "东南亚"):
        assert gazetteer.find(name)[0].kind == "continent"


@pytest.mark.parametrize(
    ("county", "inside", "outside"),
    [
        ("Kent", (51.28, 1.08), (51.5, -0.12)),  # Canterbury, London
        ("Los Angeles County", (34.1478, -118.1445), (33.7455, -117.8677)),  # Pasadena, Santa Ana
        ("Province of Siena", (43.0988, 11.7874), (43.7696, 11.2558)),  # Montepulciano, Florence
        ("Dordogne", (45.1840, 0.7211), (44.8378, -0.5792)),  # Périgueux, Bordeaux
        ("Oberbayern", (47.4917, 11.0955), (49.4521, 11.0767)),  # Garmisch, Nuremberg
    ],
)
def test_a_county_holds_its_towns(
    gazetteer: Gazetteer, county: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    area = gazetteer.find(county)[0]
    assert area.kind == "county"
    for point, held in ((inside, True), (outside, False)):
        name = gazetteer.name(*point)
        assert name is not None
        assert area.holds(*point, name.address()) is held


def test_a_name_that_a_town_bears_means_the_town(gazetteer: Gazetteer) -> None:
    for name in ("Leicester", "Siena", "Málaga", "York"):
        assert gazetteer.find(name)[0].kind == "city"


# --- where the photos are


def test_visits_are_counted_by_name_and_by_distance(gazetteer: Gazetteer) -> None:
    visited = made_visits(gazetteer)
    counts = {
        name: visited.count(gazetteer.find(name)[0])
        for name in ("Portugal", "Tuscany", "Kyoto", "Europe", "Province of Siena", "Spain", "Oslo")
    }
    assert counts == {
        "Portugal": 80, "Tuscany": 22, "Kyoto": 6, "Europe": 112, "Province of Siena": 6,
        "Spain": 0, "Oslo": 0,
    }  # fmt: skip


def test_visits_of_a_large_library_are_counted() -> None:
    """50,000 photos in 200 towns."""
    rng = np.random.default_rng(7)
    town = rng.integers(0, 200, 50_000)
    latitude = rng.uniform(-60, 70, 200)[town] + rng.normal(0, 0.02, town.size)
    longitude = rng.uniform(-180, 180, 200)[town] + rng.normal(0, 0.02, town.size)
    latitude[::10] = np.nan
    codes = [
        (town + 1).astype(np.int32),
        (town // 5 + 1).astype(np.int32),
        (town // 20 + 1).astype(np.int32),
    ]
    words = [["", *map(str, range(number))] for number in (200, 40, 10)]
    visited = Visited.of(latitude, longitude, codes, words)
    assert int(visited.weights.sum()) == 45_000
    assert sum(visited.addresses.values()) == 50_000


def test_no_photo_is_no_visit() -> None:
    nothing = Visited.of(np.array([np.nan]), np.array([np.nan]))
    assert not nothing
    assert nothing.count(Area("X", "city", "XX", "", 0.0, 0.0, 10.0, 1)) == 0
    assert not Visited.at(None)
