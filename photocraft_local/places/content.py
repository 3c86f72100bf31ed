"""What the gazetteer file holds: arrays of cities for the way from positions to names, and folded
names for the way from names to areas.

Owns the tables and which names are kept. Knows nothing of files and locks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from photocraft_local.places import raw, sources
from photocraft_local.places.columns import (
    Columns,
    circles_of,
    city_columns,
    extents_of,
    sorted_cities,
)
from photocraft_local.places.counties import read_counties
from photocraft_local.places.keys import fold

COUNTRY, REGION, CITY, SPOT, COUNTY, GROUP = range(6)  # kinds in table ``name``

Progress = Callable[[str, float], None]  # what is being done, share done 0…1
NameKey = tuple[str, int, int]  # folded name, kind, number of the area within its kind

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE array (key TEXT PRIMARY KEY, dtype TEXT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE country (
    id INTEGER PRIMARY KEY, code TEXT NOT NULL, name TEXT NOT NULL, latitude REAL, longitude REAL,
    radius_km REAL, population INTEGER NOT NULL, extent TEXT NOT NULL);
CREATE TABLE region (
    id INTEGER PRIMARY KEY, country INTEGER NOT NULL, code TEXT NOT NULL, name TEXT NOT NULL,
    latitude REAL, longitude REAL, radius_km REAL, population INTEGER NOT NULL,
    extent TEXT NOT NULL);
CREATE TABLE county (
    id INTEGER PRIMARY KEY, country INTEGER NOT NULL, region INTEGER NOT NULL, name TEXT NOT NULL,
    latitude REAL, longitude REAL, radius_km REAL, population INTEGER NOT NULL,
    extent TEXT NOT NULL, members TEXT NOT NULL);
CREATE TABLE cluster (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL,
    members TEXT NOT NULL);
CREATE TABLE spot (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, latitude REAL NOT NULL, longitude REAL NOT NULL,
    radius_km REAL NOT NULL, weight INTEGER NOT NULL, code TEXT NOT NULL);
CREATE TABLE name (
    key TEXT NOT NULL, kind INTEGER NOT NULL, ref INTEGER NOT NULL, main INTEGER NOT NULL,
    PRIMARY KEY (key, kind, ref)) WITHOUT ROWID;
"""

_SMALL_TOWN = 15_000  # below, only Latin names and those of the country's own script are kept
_CITY = 100_000  # from here on, names in all scripts
_EAST_ASIA = {"CN", "TW", "HK", "MO", "JP", "KR", "KP", "SG"}


def fill(db: sqlite3.Connection, progress: Progress) -> None:
    """Write all tables but ``meta`` from the source packages."""
    progress("reading countries and regions", 0.0)
    countries = list(sources.read_countries())
    regions = list(sources.read_regions())
    progress("reading cities", 0.05)
    cities = sorted_cities(sources.read_cities())
    progress("writing places", 0.5)
    country_number = {country.code: number for number, country in enumerate(countries)}
    region_number = {region.code: number for number, region in enumerate(regions)}
    columns = city_columns(cities, country_number, region_number)
    _store_arrays(db, columns, cities)
    _store_countries(db, columns, countries)
    _store_regions(db, columns, regions, country_number)
    counties = [county for county in read_counties() if county.region_code in region_number]
    counties = _store_counties(db, columns, cities, counties, region_number)
    groups = list(sources.read_groups(countries))
    _store_groups(db, groups, countries)
    spots = list(sources.read_spots())
    _store_spots(db, spots)
    progress("writing names", 0.6)
    names: dict[NameKey, int] = {}
    for key, main in _names(countries, regions, cities, spots):
        names[key] = max(main, names.get(key, 0))
    for kind, known in ((COUNTY, [c.known for c in counties]), (GROUP, [g.known for g in groups])):
        for number, words in enumerate(known):
            names |= dict(_folded(words, (), kind, number))
    for number, group in enumerate(groups):
        names |= dict(_folded((group.name,), (), GROUP, number))
    progress("writing names", 0.8)
    db.executemany(
        "INSERT INTO name VALUES (?, ?, ?, ?)", ((*key, names[key]) for key in sorted(names))
    )


def _store_arrays(db: sqlite3.Connection, columns: Columns, cities: Sequence[raw.RawCity]) -> None:
    encoded = [city.name.encode() for city in cities]
    ends = np.cumsum([len(name) for name in encoded]).astype(np.uint32)
    of_zone: dict[str, set[int]] = {}
    for city, country in zip(cities, columns["country"].tolist(), strict=True):
        of_zone.setdefault(city.zone, set()).add(country)
    zones = {zone: sorted(numbers) for zone, numbers in sorted(of_zone.items())}
    rows = [(key, array.dtype.str, array.tobytes()) for key, array in sorted(columns.items())]
    rows.append(("name_ends", ends.dtype.str, ends.tobytes()))
    rows.append(("names", "utf-8", b"".join(encoded)))
    rows.append(("zones", "json", json.dumps(zones).encode()))
    db.executemany("INSERT INTO array VALUES (?, ?, ?)", rows)


def _store_countries(
    db: sqlite3.Connection, columns: Columns, countries: Sequence[raw.RawCountry]
) -> None:
    circles = circles_of(columns, columns["country"], len(countries))
    extents = extents_of(columns, columns["country"], len(countries))
    db.executemany(
        "INSERT INTO country VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (number, country.code, country.name, *circle[:3], country.population, extent)
            for number, (country, circle, extent) in enumerate(
                zip(countries, circles, map(json.dumps, extents), strict=True)
            )
        ),
    )


def _store_regions(
    db: sqlite3.Connection,
    columns: Columns,
    regions: Sequence[raw.RawRegion],
    countries: dict[str, int],
) -> None:
    circles = circles_of(columns, columns["region"], len(regions))
    extents = extents_of(columns, columns["region"], len(regions))
    rows = (
        (number, countries.get(region.code[:2], -1), region.code, region.name, *circle, extent)
        for number, (region, circle, extent) in enumerate(
            zip(regions, circles, map(json.dumps, extents), strict=True)
        )
    )
    db.executemany("INSERT INTO region VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _store_counties(
    db: sqlite3.Connection,
    columns: Columns,
    cities: Sequence[raw.RawCity],
    counties: Sequence[raw.RawCounty],
    regions: dict[str, int],
) -> list[raw.RawCounty]:
    """Writes those with a kept town and gives them in the order of their numbers."""
    owner = np.full(len(cities), -1, np.int64)
    row_of_city = {city.number: row for row, city in enumerate(cities)}
    for number, county in enumerate(counties):
        owner[[row_of_city[town] for town in county.towns if town in row_of_city]] = number
    circles = circles_of(columns, owner, len(counties))
    extents = extents_of(columns, owner, len(counties))
    kept: list[raw.RawCounty] = []
    for number, county in enumerate(counties):
        rows = np.flatnonzero(owner == number)
        if not rows.size:
            continue
        members = sorted({fold(cities[row].name) for row in rows.tolist()})
        country, region = int(columns["country"][rows[0]]), regions[county.region_code]
        db.execute(
            "INSERT INTO county VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (len(kept), country, region, county.known[0], *circles[number],
             json.dumps(extents[number]), json.dumps(members, ensure_ascii=False)),
        )  # fmt: skip
        kept.append(county)
    return kept


def _store_groups(
    db: sqlite3.Connection,
    groups: Sequence[raw.RawGroup],
    countries: Sequence[raw.RawCountry],
) -> None:
    for number, group in enumerate(groups):
        inside = [country for country in countries if country.code in group.countries]
        people = sum(country.population for country in inside)
        members = json.dumps(sorted(fold(country.name) for country in inside))
        db.execute("INSERT INTO cluster VALUES (?, ?, ?, ?)", (number, group.name, people, members))


def _store_spots(db: sqlite3.Connection, spots: Sequence[raw.RawSpot]) -> None:
    db.executemany(
        "INSERT INTO spot VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (number, spot.name, spot.latitude, spot.longitude, spot.radius_km, spot.weight,
             spot.country_code)
            for number, spot in enumerate(spots)
        ),
    )  # fmt: skip


def _names(
    countries: Sequence[raw.RawCountry],
    regions: Sequence[raw.RawRegion],
    cities: Sequence[raw.RawCity],
    spots: Sequence[raw.RawSpot],
) -> Iterator[tuple[NameKey, int]]:
    """Every kept name, and 1 if it is the area's main one or as good."""
    for number, country in enumerate(countries):
        yield from _folded((country.name, *country.known), (), COUNTRY, number)
    for number, region in enumerate(regions):
        yield from _folded((region.name, *region.known), region.others, REGION, number)
    for number, city in enumerate(cities):
        yield from _folded((city.name, *city.known), _kept(city), CITY, number)
    for number, spot in enumerate(spots):
        yield from _folded((spot.name, *spot.known), (), SPOT, number)


def _folded(
    main: Iterable[str], others: Iterable[str], kind: int, number: int
) -> Iterator[tuple[NameKey, int]]:
    first = {fold(name) for name in main} - {""}
    for key in first:
        yield (key, kind, number), 1
    for key in {fold(name) for name in others} - first - {""}:
        yield (key, kind, number), 0


def _kept(city: raw.RawCity) -> Iterator[str]:
    """Alternate names worth keeping: no airport codes, no machine transliterations, and scripts
    that someone may type for a place of this size."""
    for name in city.others:
        if len(name) < 2 or not name[0].isalpha() or "," in name or "،" in name:
            continue
        if name.isascii():
            if name[0].islower() or len(name) < 3 or (name.isupper() and len(name) <= 4):
                continue
        elif not _worth_script(max(name), city):
            continue
        yield name


def _worth_script(char: str, city: raw.RawCity) -> bool:
    if char < "\u0250" or "\u1e00" <= char < "\u2070" or city.population >= _CITY:
        return True  # Latin with accents, or a city
    east_asian = "\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3"
    if east_asian:
        return city.country_code in _EAST_ASIA or city.population >= _SMALL_TOWN
    return city.population >= _SMALL_TOWN
