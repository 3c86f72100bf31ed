"""Positions to names and names to areas, on the gazetteer built from the real packages."""

from __future__ import annotations

import csv
import math
import threading
from pathlib import Path

import numpy as np
import pytest

from photocraft_local.places.areas import Area, city_radius_km
from photocraft_local.places.distance import haversine_km
from photocraft_local.places.gazetteer import Gazetteer

POSITIONS = [
    (41.8902, 12.4922, "Rome", "Lazio", "IT"),
    (44.0600, 12.5700, "Rimini", "Emilia-Romagna", "IT"),
    (48.8584, 2.2945, "Paris", "Île-de-France", "FR"),  # the Eiffel tower, not Vanves
    (40.6340, 14.6020, "Amalfi", "Campania", "IT"),
    (46.0200, 7.7490, "Zermatt", "Valais", "CH"),
    (40.6602, -73.9690, "Brooklyn", "New York", "US"),
    (40.7580, -73.9855, "New York City", "New York", "US"),  # Times Square is a quarter
    (35.6595, 139.7005, "Tokyo", "Tokyo", "JP"),  # Shibuya
    (52.5163, 13.3777, "Berlin", "Berlin", "DE"),  # Brandenburg Gate
    (38.6977, -9.2063, "Lisbon", "Lisbon", "PT"),  # Belém
    (51.1784, -115.5708, "Banff", "Alberta", "CA"),
    (-33.8568, 151.2153, "Sydney", "New South Wales", "AU"),
    (-16.5004, -151.7415, "Vaitape", "Leeward Islands", "PF"),  # Bora Bora
    (-16.8000, 179.9900, "Savusavu", "Northern", "FJ"),  # across the antimeridian
    # borders: the country of the ground, not of the nearest centre
    (41.9029, 12.4534, "Vatican City", "", "VA"),
    (43.7384, 7.4246, "Monaco", "Municipality of Monaco", "MC"),
    (47.5596, 7.5886, "Basel", "Basel-City", "CH"),
    (47.5850, 7.5600, "Saint-Louis", "Grand Est", "FR"),
    (47.5930, 7.6100, "Weil am Rhein", "Baden-Württemberg", "DE"),
    (47.6600, 9.1750, "Konstanz", "Baden-Württemberg", "DE"),
    (47.6500, 9.1700, "Kreuzlingen", "Thurgau", "CH"),
    (32.5400, -117.0300, "Tijuana", "Baja California", "MX"),
    (43.0790, -79.0780, "Niagara Falls", "Ontario", "CA"),
]


@pytest.mark.parametrize(("lat", "lon", "city", "region", "country"), POSITIONS)
def test_name_of_a_position(
    gazetteer: Gazetteer, lat: float, lon: float, city: str, region: str, country: str
) -> None:
    name = gazetteer.name(lat, lon)
    assert name is not None
    assert (name.city, name.region, name.country_code) == (city, region, country)
    assert 0 <= name.distance_km <= 75


@pytest.mark.parametrize(
    ("lat", "lon"),
    [(40.0, -30.0), (0.0, 0.0), (-60.0, 100.0), (90.0, 0.0), (-90.0, 0.0), (91.0, 0.0), (0, 181.0)],
)
def test_no_name_at_sea_and_off_the_globe(gazetteer: Gazetteer, lat: float, lon: float) -> None:
    assert gazetteer.name(lat, lon) is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_name_for_what_is_no_number(gazetteer: Gazetteer, value: float) -> None:
    assert gazetteer.name(value, 2.0) is None
    assert gazetteer.name(48.0, value) is None


@pytest.mark.parametrize(("lat", "lon", "code"), [(23.0, 10.0, "DZ"), (72.0, -40.0, "GL")])
def test_in_the_wild_only_the_country_is_named(
    gazetteer: Gazetteer, lat: float, lon: float, code: str
) -> None:
    name = gazetteer.name(lat, lon)
    assert name is not None
    assert (name.city, name.region, name.country_code) == ("", "", code)
    assert 75 < name.distance_km < 1000


def test_many_positions_are_named_like_single_ones(gazetteer: Gazetteer) -> None:
    rng = np.random.default_rng(20)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, 10_000)))
    lon = rng.uniform(-180, 180, 10_000)
    lat[::2] = rng.normal(48, 3, 5000)  # half of them where many towns are
    lon[::2] = rng.normal(8, 4, 5000)
    names = gazetteer.names(lat, lon)
    for at in range(0, 10_000, 97):
        assert names[at] == gazetteer.name(lat[at], lon[at])
    assert sum(name is None for name in names) > 1000  # the sea
    assert sum(name is not None for name in names) > 5000


def test_no_positions_are_no_names(gazetteer: Gazetteer) -> None:
    assert gazetteer.names([], []) == []


def test_the_search_finds_what_looking_at_every_place_finds(gazetteer: Gazetteer) -> None:
    """Against a plain scan over all cities, by the rule that reverse.py states."""
    cities = gazetteer._file.cities
    rng = np.random.default_rng(21)
    near = rng.integers(0, cities.latitude.size, 150)
    lat = cities.latitude[near] + rng.normal(0, 0.2, near.size)
    lon = cities.longitude[near] + rng.normal(0, 0.2, near.size)
    lat, lon = np.clip(lat, -80, 80), np.clip(lon, -180, 180)
    places, countries, _ = gazetteer._reverse.nearest(lat, lon)
    reach = 0.3 + 0.0085 * np.sqrt(cities.population.astype(float))
    for at in range(near.size):
        away = haversine_km(lat[at], lon[at], cities.latitude, cities.longitude)
        score = np.where(away <= reach, away / reach, 1 + away - reach)
        score[cities.part | (away > 75) | (cities.country != countries[at])] = np.inf
        if places[at] >= 0:
            assert score[places[at]] <= score.min() + 0.3  # flat-earth distances differ a little


def test_every_geotagged_real_photo_is_named_in_its_country(
    gazetteer: Gazetteer, shared: Path
) -> None:
    with (shared / "data" / "exif" / "manifest.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    columns = {key.lower(): key for key in rows[0]}
    lat_key = next(columns[key] for key in columns if "lat" in key)
    lon_key = next(columns[key] for key in columns if "lon" in key or "lng" in key)
    points = [(float(r[lat_key]), float(r[lon_key])) for r in rows if r[lat_key] and r[lon_key]]
    assert len(points) >= 10
    named = [gazetteer.name(lat, lon) for lat, lon in points if (lat, lon) != (0, 0)]
    assert all(name is not None and name.country for name in named)


FOUND = [
    # cities in the five languages and as people there say them
    ("Lisbon", "Lisbon", "city", "PT"),
    ("Lissabon", "Lisbon", "city", "PT"),
    ("Lisboa", "Lisbon", "city", "PT"),
    ("lisboa", "Lisbon", "city", "PT"),
    ("里斯本", "Lisbon", "city", "PT"),
    ("Firenze", "Florence", "city", "IT"),
    ("Florenz", "Florence", "city", "IT"),
    ("Florencia", "Florence", "city", "IT"),
    ("New York", "New York City", "city", "US"),
    ("Nueva York", "New York City", "city", "US"),
    ("纽约", "New York City", "city", "US"),
    ("Wien", "Vienna", "city", "AT"),
    ("München", "Munich", "city", "DE"),
    ("Muenchen", "Munich", "city", "DE"),
    ("Munich", "Munich", "city", "DE"),
    ("Cologne", "Köln", "city", "DE"),
    ("Koln", "Köln", "city", "DE"),
    ("Genf", "Geneva", "city", "CH"),
    ("Nizza", "Nice", "city", "FR"),
    ("Peking", "Beijing", "city", "CN"),
    ("北京市", "Beijing", "city", "CN"),
    ("东京", "Tokyo", "city", "JP"),
    ("Αθήνα", "Athens", "city", "GR"),
    ("Москва", "Moscow", "city", "RU"),
    ("St. Petersburg", "Saint Petersburg", "city", "RU"),
    ("Sankt Gallen", "Sankt Gallen", "city", "CH"),
    ("São Paulo", "São Paulo", "city", "BR"),
    ("sao paulo", "São Paulo", "city", "BR"),
    ("The Hague", "The Hague", "city", "NL"),
    ("the hague", "The Hague", "city", "NL"),
    ("Zermatt", "Zermatt", "city", "CH"),
    ("Washington DC", "Washington", "city", "US"),
    ("Paris", "Paris", "city", "FR"),
    ("Paris, Texas", "Paris", "city", "US"),
    ("Cambridge, MA", "Cambridge", "city", "US"),
    ("Washington", "Washington", "city", "US"),
    ("Buenos Aires", "Buenos Aires", "city", "AR"),
    ("Rio", "Rio de Janeiro", "city", "BR"),
    ("Portland, Maine", "Portland", "city", "US"),
    ("Valencia, Spain", "Valencia", "city", "ES"),
    # regions
    ("Tuscany", "Tuscany", "region", "IT"),
    ("Toskana", "Tuscany", "region", "IT"),
    ("托斯卡纳", "Tuscany", "region", "IT"),
    ("Bavaria", "Bavaria", "region", "DE"),
    ("Bayern", "Bavaria", "region", "DE"),
    ("California", "California", "region", "US"),
    ("加州", "California", "region", "US"),
    ("Scotland", "Scotland", "region", "GB"),
    ("England", "England", "region", "GB"),
    ("Schottland", "Scotland", "region", "GB"),
    ("Algarve", "Faro", "region", "PT"),
    ("Crete", "Crete", "region", "GR"),
    ("Hokkaido", "Hokkaido", "region", "JP"),
    ("Andalucía", "Andalusia", "region", "ES"),
    # countries, with codes
    ("Germany", "Germany", "country", "DE"),
    ("Deutschland", "Germany", "country", "DE"),
    ("Allemagne", "Germany", "country", "DE"),
    ("Alemania", "Germany", "country", "DE"),
    ("德国", "Germany", "country", "DE"),
    ("the Netherlands", "The Netherlands", "country", "NL"),
    ("Holland", "The Netherlands", "country", "NL"),
    ("US", "United States", "country", "US"),
    ("USA", "United States", "country", "US"),
    ("U.S.", "United States", "country", "US"),
    ("UK", "United Kingdom", "country", "GB"),
    ("PT", "Portugal", "country", "PT"),
    ("Türkei", "Turkey", "country", "TR"),
    ("Czech Republic", "Czechia", "country", "CZ"),
    ("Georgia", "Georgia", "country", "GE"),
    ("Luxembourg", "Luxembourg", "country", "LU"),
    ("Singapore", "Singapore", "country", "SG"),
    # islands and lakes
    ("Mallorca", "Mallorca", "point", ""),
    ("Lake Garda", "Lake Garda", "point", ""),
    ("Gardasee", "Lake Garda", "point", ""),
    ("Cinque Terre", "Cinque Terre", "point", ""),
]


@pytest.mark.parametrize(("asked", "name", "kind", "country"), FOUND)
def test_area_of_a_name(
    gazetteer: Gazetteer, asked: str, name: str, kind: str, country: str
) -> None:
    best = gazetteer.find(asked)[0]
    assert (best.name, best.kind, best.country_code) == (name, kind, country)
    assert best.radius_km > 0
    assert best.population > 0


@pytest.mark.parametrize(
    "asked", ["Xyzzy", "", " ", "in", "'; DROP TABLE name; --", "%", "x" * 9999]
)
def test_an_unknown_name_is_no_area(gazetteer: Gazetteer, asked: str) -> None:
    assert gazetteer.find(asked) == []


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("Lisbbon", "Lisbon"),
        ("Berln", "Berlin"),
        ("Munnich", "Munich"),
        ("Toscany", "Tuscany"),
        ("Barcelonna", "Barcelona"),
        ("Reykjavic", "Reykjavík"),
        ("Portugl", "Portugal"),
    ],
)
def test_a_slip_is_suggested_right(gazetteer: Gazetteer, slip: str, meant: str) -> None:
    assert gazetteer.find(slip) == []
    assert gazetteer.suggest(slip)[0] == meant


def test_nothing_is_suggested_for_nonsense(gazetteer: Gazetteer) -> None:
    assert gazetteer.suggest("qqqqxqq") == []
    assert gazetteer.suggest("") == []


def test_namesakes_are_ranked_by_population(gazetteer: Gazetteer) -> None:
    cities = [area for area in gazetteer.find("Springfield") if area.name == "Springfield"]
    assert len(cities) > 5
    assert [area.population for area in cities] == sorted(
        (area.population for area in cities), reverse=True
    )


def test_namesakes_where_the_photos_are_come_first(gazetteer: Gazetteer) -> None:
    spain, texas = [(37.88, -4.78), (40.4, -3.7)], [(33.66, -95.56)]
    assert gazetteer.find("Córdoba")[0].country_code == "AR"
    assert gazetteer.find("Córdoba", near_points=spain)[0].country_code == "ES"
    assert gazetteer.find("Paris", near_points=texas)[0].region == "Texas"
    assert gazetteer.find("Paris", near_points=np.zeros((0, 2)))[0].country_code == "FR"
    georgia = gazetteer.find("Georgia", near_points=[(33.75, -84.39)])[0]
    assert (georgia.kind, georgia.country_code) == ("region", "US")


def test_the_radius_of_a_city_follows_its_formula(gazetteer: Gazetteer) -> None:
    florence = gazetteer.find("Florence")[0]
    assert florence.radius_km == pytest.approx(
        1.5 + 0.0085 * math.sqrt(florence.population), abs=0.1
    )
    assert city_radius_km(0) == 1.5
    assert city_radius_km(1_000_000) == pytest.approx(10.0)


def test_a_position_named_after_a_city_lies_in_its_area(gazetteer: Gazetteer) -> None:
    for lat, lon, *_ in POSITIONS:
        name = gazetteer.name(lat, lon)
        assert name is not None
        same = [
            area
            for area in gazetteer.find(name.city)
            if area.kind == "city" and area.country_code == name.country_code
        ]
        away = [haversine_km(lat, lon, area.latitude, area.longitude) for area in same]
        outside = min(float(km) - area.radius_km for km, area in zip(away, same, strict=True))
        assert outside < 75


def test_labels_tell_namesakes_apart() -> None:
    paris = Area("Paris", "city", "US", "Texas", 33.66, -95.56, 2.8, 24_782, "United States")
    assert paris.label() == "Paris, Texas, United States"
    assert Area("Italy", "country", "IT", "", 43, 12, 500, 1, "Italy").label() == "Italy"


def test_two_threads_may_share_it(gazetteer: Gazetteer) -> None:
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(50):
            if gazetteer.find("Lisbon")[0].country_code != "PT":
                wrong.append("find")
            if (name := gazetteer.name(48.8584, 2.2945)) is None or name.city != "Paris":
                wrong.append("name")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
