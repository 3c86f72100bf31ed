"""Mistakes in filters come back with position and hint; garbage raises nothing else."""

from __future__ import annotations

import ast
import random
import time
from typing import Any

import pytest

from photocraft_local.errors import FilterSyntaxError, SearchError
from photocraft_local.search.catalog import Catalog


@pytest.fixture(scope="module")
def catalog(make_columns: Any) -> Catalog:
    rows = [
        {"time": "2021-06-14T10:31:05", "gps": (38.7, -9.1), "city": "Lisbon", "camera": "X"},
        {"time": "2020-01-01T00:00:00"},
        {},
    ]
    return Catalog.from_columns(make_columns(rows))


@pytest.mark.parametrize(
    ("expression", "position", "message", "hint"),
    [
        ("yaer == 2021", 0, "unknown field 'yaer'", "did you mean year"),
        ("has_time and citty == 'x'", 13, "unknown field 'citty'", "city"),
        ("nearby('x', 3)", 0, "unknown function 'nearby'", "near"),
        ("year = 2021", 5, "'='", "=="),
        ("year == 2021 && month == 3", 13, "'&'", "and"),
        ("year == 2021 | has_gps", 13, "'|'", "or"),
        ("year == 2021 AND has_gps", 13, "'AND'", "and"),
        ("! has_gps", 0, "'!'", "not"),
        ("city like 'Lis%'", 5, "'like'", "=="),
        ("year between 2019 and 2021", 5, "'between'", "low <= field"),
        ("city is None", 5, "'is'", "=="),
        ('date == "2021-02-30"', 8, "February 2021 has 28 days", "2021-06-14"),
        ('date == "2021-13"', 8, "months go from 01 to 12", ""),
        ('date == "0000"', 8, "no year 0", ""),
        ('time < "2021-06-14T25:00"', 7, "time of day", "23:59:59"),
        ('date < "2021-06-14T10:00"', 7, "no time of day", "time"),
        ('time < "2021-06-14T10:00+02:00"', 7, "time zone", "wall clock"),
        ('time < "2021-06-14T10:00:00Z"', 7, "time zone", "wall clock"),
        ('time < "last summer"', 7, "not a date", "2021-06"),
        ("date == 2021-06-14", 8, "without quotes", '"2021-06-14"'),
        ("date == 2021", 8, "quotes", "year"),
        ("month == 13", 9, "no month 13", "1 to 12"),
        ('month == "Juni"', 9, "no month 'juni'", "june"),
        ('weekday == "mo"', 11, "no weekday 'mo'", "monday"),
        ("weekday == 7", 11, "no weekday 7", "sunday"),
        ('day == "2021-06-14"', 7, "number", "date"),
        ("hour == 24", 8, "no hour 24", "0 to 23"),
        ("year == True", 8, "year", ""),
        ("year == 1e999", 8, "not a number", ""),
        ("year == 12abc", 8, "not a number", ""),
        ("city < 'b'", 7, "no order", "=="),
        ("city == 3", 8, "quotes", ""),
        ("city == ''", 8, "empty", ""),
        ("city == 'Rome", 8, "not closed", "'"),
        ("city == Rome", 8, "unknown field 'Rome'", '"Rome"'),
        ("city", 0, "stands by itself", "=="),
        ("has_gps > 1", 10, "true or false", "not has_gps"),
        ("'Rome'", 0, "by itself", "place("),
        ("2021", 0, "by itself", "year == 2021"),
        ("1 < 2", 2, "two constants", "field"),
        ("year == month", 5, "two fields", "value"),
        ("year in 2021", 8, "a list", ""),
        ("year in ()", 9, "empty", ""),
        ("year in (2020; 2021)", 13, "comma", ""),
        ("'a' in year", 7, "not a text", ""),
        ("3 in (3, 4)", 0, "constant", ""),
        ("(year == 2021", 13, "ends where )", ""),
        ("year == 2021)", 12, "')'", ""),
        ("year == 2021 and", 16, "ends", ""),
        ("year ==", 7, "ends", ""),
        ("", 0, "empty", "date"),
        ("  \n ", 0, "empty", "date"),
        ("year == 2021 year", 13, "'year'", ""),
        ("box(1, 2, 3)", 0, "takes 4 numbers", "south"),
        ("box(91, 2, 92, 3)", 0, "latitude 91", "-90"),
        ("box(1, 2, 3, 200)", 0, "longitude 200", "-180"),
        ("box('a', 2, 3, 4)", 0, "numbers", ""),
        ("near('38.7,-9.1', 0)", 0, "0 km", ""),
        ("near('38.7,-9.1', 3, 4)", 0, "near() takes", "Lisbon"),
        ("near('95,0', 3)", 0, "latitude 95", ""),
        ("near()", 0, "near() takes", "Lisbon"),
        ("flag('screnshot')", 0, "no flag 'screnshot'", "screenshot"),
        ("flag(3)", 0, "one text", ""),
        ("place(city)", 6, "not fields", ""),
        ("match_address('')", 0, "one text", ""),
        ("__import__('os').system('x')", 0, "unknown function", ""),
        ("city.__class__", 0, "unknown field", ""),
        ("lambda: 1", 0, "unknown field", ""),
        ("year + 1 == 2021", 5, "'+'", ""),
        ("year == 2021 if 1 else 2", 13, "'if'", ""),
        ("[x for x in year]", 0, "'['", ""),
        ("(year, month)", 5, "','", ""),
        ("\x00", 0, "", ""),
        ("é == 1 and ü", 0, "unknown field 'é'", ""),
        ("has_gps and 日本 == 1", 12, "unknown field '日本'", ""),
        ("not " * 60 + "has_gps", 160, "nested", "simplify"),
        ("(" * 5000, 40, "nested", ""),
        ("has_gps and " * 3000 + "has_gps", 20_000, "characters", "set"),
        ("year == " + "9" * 5000, 8, "not a number", ""),
        ("year in (" + "1," * 2500 + "1)", 4009, "2000 values", ""),
    ],
)  # fmt: skip
def test_a_mistake_says_where_and_what_to_do(
    catalog: Catalog, expression: str, position: int, message: str, hint: str
) -> None:
    with pytest.raises(FilterSyntaxError) as error:
        catalog.filter(expression)
    assert error.value.position == position
    assert message in error.value.message
    assert f"character {position + 1}:" in error.value.message or len(expression) > 20_000
    assert hint in error.value.hint
    assert error.value.hint
    assert len(error.value.message) < 300


PIECES = [
    "year", "date", "time", "month", "hour", "weekday", "city", "camera", "address", "event",
    "has_gps", "has_time", "near", "place", "box", "flag", "match_address", "and", "or", "not",
    "in", "(", ")", "[", "]", ",", "==", "!=", "<", "<=", ">", ">=", "=", "'Lisbon'", '"2021-06"',
    '"2021-02-31"', '"monday"', "2021", "6", "-9.1", "38.7", "1e9", "-", "+", ".", "True", "None",
    '"', "'", "\\", "\n", "\x00", "é", "日", "\ud800", "#", "lambda", "__class__", ":", ";", "*",
]  # fmt: skip
GOOD = [
    'time >= "2019-05-03T10:00" and time < "2019-06-01" and box(40.1, -9.2, 41.0, -8.0)',
    'not (city == "Rome" or near("38.7,-9.1", 5)) and weekday in ("sat", "sun")',
    '2019 <= year < 2021 and month in (6, 7) and flag("screenshot") or not has_time',
]


def test_garbage_raises_nothing_but_search_errors(catalog: Catalog) -> None:
    rng = random.Random(1)
    accepted, places = 0, []
    for turn in range(6_000):
        if turn % 2:
            text = " ".join(rng.choices(PIECES, k=rng.randint(1, 12)))
        else:
            letters = list(rng.choice(GOOD))
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(letters))
                letters[at : at + rng.randint(0, 3)] = rng.choice(PIECES)
            text = "".join(letters)
        try:
            selection = catalog.filter(text)
        except SearchError as error:
            places.append((getattr(error, "position", 0), len(text)))
            assert error.hint, text  # noqa: PT017
        else:
            accepted += 1
            echo = selection.expression
            assert set(catalog.filter(echo).uids()) == set(selection.uids()), (text, echo)
    assert accepted > 20
    assert all(0 <= position <= length for position, length in places)


def test_long_lists_and_chains_do_not_run_away(catalog: Catalog) -> None:
    started = time.process_time()
    days = ", ".join(f"{year}" for year in range(1, 2000))
    assert len(catalog.filter(f"year in ({days})")) == 0
    assert len(catalog.filter(" or ".join(["event == 1", "has_gps"] * 700))) == 1
    assert len(catalog.filter(" and ".join(f"event != {n}" for n in range(1_100)))) == 0
    assert time.process_time() - started < 30


def test_all_that_is_accepted_is_python(catalog: Catalog) -> None:
    """The language is a subset of Python's expressions."""
    for text in GOOD:
        catalog.filter(text)
        ast.parse(text, mode="eval")
