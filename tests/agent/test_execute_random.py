"""Random plans of metadata alone, over random libraries: the tools' answer is that of a plain
comparison of every photo with every other.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import get_args

import pytest
from made_library import Made, World, trips_of
from plan_oracle import Known, Oracle

from photocraft_local.agent.planner.plan import Apart, Pick, Plan, Relation, Wanted, Which
from photocraft_local.records import Photo

TOWNS = [
    ("Lisbon", "Lisbon", "Portugal", 38.72, -9.14),
    ("Porto", "Porto", "Portugal", 41.15, -8.61),
    ("Suva", "Central", "Fiji", -18.14, 178.44),
    ("Lavena", "Northern", "Fiji", -16.86, -179.90),
]
CAMERAS = ("Canon EOS R6", "Apple iPhone 12", "")
KINDS = ("day", "week", "weekend", "month", "year", "event", "trip", "place", "before", "after",
         "around")  # fmt: skip


def library(chance: random.Random, size: int) -> list[Made]:
    """Bursts of photos on days around two new years, some without time, place or camera."""
    made = []
    while len(made) < size:
        start = datetime(2019, 12, 20) + timedelta(minutes=chance.randrange(60 * 24 * 420))
        city, region, country, latitude, longitude = chance.choice(TOWNS)
        for _ in range(chance.randint(1, 6)):
            start += timedelta(seconds=chance.choice([0, 1, 59, 600, 3600, 9000, 86_400]))
            spot = (latitude + chance.gauss(0, 0.01), longitude + chance.gauss(0, 0.01))
            located = chance.random() < 0.85
            made.append(
                Made(
                    time=start if chance.random() < 0.9 else None,
                    spot=spot if located else None,
                    address=(city, region, country) if located else None,
                    camera=chance.choice(CAMERAS),
                )
            )
    return made[:size]


def condition(chance: random.Random) -> Known:
    kind = chance.randrange(4)
    if kind == 0:
        city = chance.choice(TOWNS)[0]
        return Known(f"in {city}", f'city == "{city}"', lambda p: _city(p) == city)
    if kind == 1:
        year = chance.choice([2019, 2020, 2021])
        return Known(f"{year}", f"year == {year}", lambda p: _time(p, lambda t: t.year == year))
    if kind == 2:
        hour = chance.randrange(24)
        text = f"from {hour}"
        return Known(text, f"hour >= {hour}", lambda p: _time(p, lambda t: t.hour >= hour))
    return Known("canon", 'camera == "Canon"', lambda p: p.camera.startswith("Canon"))


def _city(photo: Photo) -> str:
    return photo.place.city if photo.place else ""


def _time(photo: Photo, test: object) -> bool:
    return photo.taken is not None and bool(test(photo.taken.local))  # type: ignore[operator]


def wanted(chance: random.Random, depth: int = 0) -> Wanted:
    """Up to three relations deep, with unions, exceptions and picks."""
    deeper = depth < 3
    return Wanted(
        conditions=tuple(condition(chance) for _ in range(chance.choice([0, 1, 1, 2]))),
        relations=tuple(
            relation(chance, depth + 1) for _ in range(chance.choice([0, 0, 1, 1]) * deeper)
        ),
        either=tuple(
            wanted(chance, depth + 1) for _ in range(chance.choice([0, 0, 0, 2]) * deeper)
        ),
        but_not=tuple(
            wanted(chance, depth + 1) for _ in range(chance.choice([0, 0, 0, 1]) * deeper)
        ),
        pick=pick(chance) if chance.random() < 0.25 else None,
    )


def relation(chance: random.Random, depth: int) -> Relation:
    kind = chance.choice(KINDS)
    shifts = kind not in ("trip", "place", "before", "after", "around")
    return Relation(
        kind=kind,  # type: ignore[arg-type]
        anchor=wanted(chance, depth),
        which=chance.choice(get_args(Which)),
        shift=chance.choice([-2, -1, 0, 0, 1]) if shifts else 0,
        within=chance.choice([None, timedelta(minutes=10), timedelta(days=3)]),
        km=chance.choice([0.7, 3.0, 400.0]) if kind == "place" else None,
        apart=chance.choice(["", "", *get_args(Apart)]),
        negated=chance.random() < 0.2,
        words=kind,
    )


def pick(chance: random.Random) -> Pick:
    by = chance.choice(["first", "last", "north", "south", "east", "west"])
    return Pick(by, chance.choice([1, 2, 5]))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(12))
def test_random_plans_give_what_a_plain_comparison_gives(seed: int) -> None:
    chance = random.Random(seed)
    world = World(library(chance, 90))
    oracle = Oracle(world.photos, trips_of(world))
    num_found = 0
    for _ in range(30):
        plan = Plan(wanted(chance))
        told = world.carry_out(plan)
        truth = oracle.answer(plan.wanted)
        assert set(told.answer.uids) == truth, plan.wanted
        num_found += bool(truth)
        for pieces in told.answer.evidence.values():
            assert pieces
            assert all(piece.met and piece.rule and piece.value for piece in pieces)
        assert [call.name for call in told.calls].count("submit_answer") == 1
    assert num_found > 5
