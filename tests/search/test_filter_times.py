"""The time of day to the minute and the days of holidays, in filters: against plain Python."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import pytest

from photocraft_local.errors import FilterSyntaxError
from photocraft_local.search.catalog import Catalog
from photocraft_local.search.expression.context import Context
from photocraft_local.search.expression.parser import parse

EASTER = {2019: (4, 21), 2020: (4, 12), 2021: (4, 4), 2022: (4, 17)}


def random_moments() -> list[datetime]:
    rng = random.Random(7)
    spread = [
        datetime(2019, 1, 1) + timedelta(minutes=rng.randrange(2_100_000)) for _ in range(800)
    ]
    edges = [datetime(year, *day) for year, day in EASTER.items()]
    edges += [edge + timedelta(days=shift) for edge in edges for shift in (-2, -1, 1, 2)]
    edges += [datetime(2021, 6, 1, 18, 30), datetime(2021, 6, 1), datetime(2021, 6, 1, 23, 59)]
    seconds = (-1, 0, 1, 59, 60)
    return sorted({*spread, *(edge + timedelta(seconds=s) for edge in edges for s in seconds)})


MOMENTS = random_moments()


@pytest.fixture(scope="module")
def catalog(make_columns: Any) -> Catalog:
    rows = [{"uid": f"p{at:04d}", "time": m.isoformat()} for at, m in enumerate(MOMENTS)]
    return Catalog.from_columns(make_columns([*rows, {"uid": "undated"}]))


def found(catalog: Catalog, expression: str) -> list[str]:
    return sorted(catalog.filter(expression).uids())


def minute_of(moment: datetime) -> str:
    return f"{moment:%H:%M}"


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ('clock >= "18:30"', lambda m: minute_of(m) >= "18:30"),
        ('clock > "18:30"', lambda m: minute_of(m) > "18:30"),
        ('clock < "18:30"', lambda m: minute_of(m) < "18:30"),
        ('clock <= "18:30"', lambda m: minute_of(m) <= "18:30"),
        ('clock == "18:30"', lambda m: minute_of(m) == "18:30"),
        ('clock != "18:30"', lambda m: minute_of(m) != "18:30"),
        ('clock == "18"', lambda m: m.hour == 18),  # what a literal leaves open it spans
        ('clock > "18"', lambda m: m.hour > 18),
        ('"9:15" <= clock < "10:45"', lambda m: "09:15" <= minute_of(m) < "10:45"),
        ('clock >= "23:30" or clock < "0:30"', lambda m: not "00:30" <= minute_of(m) < "23:30"),
        ('clock in ("18:30", "18:31")', lambda m: minute_of(m) in ("18:30", "18:31")),
        ('clock < "24:00"', lambda m: True),
        ('not clock >= "12:00"', lambda m: m.hour < 12),
        ('clock >= "18:30" and hour == 18', lambda m: m.hour == 18 and m.minute >= 30),
    ],
)
def test_the_clock_is_exact_to_the_minute(catalog: Catalog, expression: str, holds: Any) -> None:
    expected = [f"p{at:04d}" for at, moment in enumerate(MOMENTS) if holds(moment)]
    assert found(catalog, expression) == expected
    assert found(catalog, parse(expression, Context()).text()) == expected


def easter_days(moment: datetime, first: int, last: int) -> bool:
    day = datetime(moment.year, moment.month, moment.day)
    sunday = datetime(moment.year, *EASTER[moment.year])
    return first <= (day - sunday).days <= last


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ('holiday("easter")', lambda m: easter_days(m, -2, 1)),
        ('holiday("Ostern")', lambda m: easter_days(m, -2, 1)),
        ('holiday("good friday")', lambda m: easter_days(m, -2, -2)),
        ('holiday("monday after easter")', lambda m: easter_days(m, 1, 1)),
        ('holiday("2 days before Easter")', lambda m: easter_days(m, -2, -2)),
        ('holiday("weekend before easter")', lambda m: easter_days(m, -8, -7)),
        ('not holiday("easter")', lambda m: not easter_days(m, -2, 1)),
        ('holiday("christmas")', lambda m: m.month == 12 and 24 <= m.day <= 26),
        ('holiday("easter") and hour < 6', lambda m: easter_days(m, -2, 1) and m.hour < 6),
    ],
)
def test_a_holiday_holds_on_its_days_of_every_year(
    catalog: Catalog, expression: str, holds: Any
) -> None:
    dated = [(f"p{at:04d}", moment) for at, moment in enumerate(MOMENTS) if moment.year in EASTER]
    names = {name for name, _ in dated}
    expected = [name for name, moment in dated if holds(moment)]
    assert [name for name in found(catalog, expression) if name in names] == expected
    assert found(catalog, parse(expression, Context()).text()) == found(catalog, expression)


@pytest.mark.parametrize(
    ("expression", "position", "message", "hint"),
    [
        ("clock == 18", 9, "in quotes, not 18", "field hour"),
        ('clock >= "25:00"', 9, "not a time of day", "24:00"),
        ('clock >= "18:60"', 9, "not a time of day", "24:00"),
        ('clock >= "six"', 9, "not a time of day", "18:30"),
        ('holiday("estaer")', 0, "no holiday named 'estaer'", "easter"),
        ('holiday("")', 0, "one text in quotes", ""),
        ("holiday(3)", 0, "one text in quotes", ""),
    ],
)
def test_a_mistake_says_what_to_write(
    catalog: Catalog, expression: str, position: int, message: str, hint: str
) -> None:
    with pytest.raises(FilterSyntaxError) as caught:
        catalog.filter(expression)
    assert caught.value.position == position
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_photo_without_a_time_is_neither_in_nor_out(catalog: Catalog) -> None:
    for expression in ('clock >= "18:30"', 'holiday("easter")'):
        assert "undated" not in found(catalog, expression)
        assert "undated" not in found(catalog, f"not {expression}")
