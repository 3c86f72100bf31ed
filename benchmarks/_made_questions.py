"""Questions to the made life, in recurring shapes, each with its exact photos by what is true.

Half of the shapes stay inside one event or trip that another photo gives away (intra-event), half
go across events (inter-event). Knows nothing of tools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import numpy as np
from _made_life import CITIES, HOME, SIGHTS, THINGS, YEARS, Shot

MOST_PHOTOS = 20  # of an answer
Kind = Literal["intra", "inter"]


@dataclass(frozen=True)
class Question:
    text: str
    shape: str
    kind: Kind
    gold: frozenset[str]


@dataclass(frozen=True)
class _Slots:
    thing: str
    other: str
    sight: str
    city: str
    year: int


Holds = Callable[[Shot, Shot, _Slots], bool]  # photo, a photo of the sight, slots


def _days(shot: Shot, at: Shot) -> int:
    return (shot.time.date() - at.time.date()).days


def _week(shot: Shot, at: Shot) -> int:
    monday = [one.time.date() - timedelta(days=one.time.weekday()) for one in (shot, at)]
    return (monday[0] - monday[1]).days // 7


# shape → kind, ways to ask, which photos that show the thing are meant
SHAPES: dict[str, tuple[Kind, tuple[str, ...], Holds]] = {
    "day after": (
        "intra",
        ("{thing}s on the day after the {sight}", "the day after the {sight}: {thing}s"),
        lambda shot, at, _: _days(shot, at) == 1,
    ),
    "day before": (
        "intra",
        ("{thing}s on the day before the {sight}", "the day before the {sight}: {thing}s"),
        lambda shot, at, _: _days(shot, at) == -1,
    ),
    "same trip": (
        "intra",
        ("{thing}s on the same trip as the {sight}", "the same trip as the {sight}: {thing}s"),
        lambda shot, at, _: shot.trip == at.trip and at.city != HOME,
    ),
    "hour after": (
        "intra",
        ("{thing}s within an hour after the {sight}", "within an hour after the {sight}: {thing}s"),
        lambda shot, at, _: 0 < (shot.time - at.time).total_seconds() <= 3600,
    ),
    "week after": (
        "intra",
        ("{thing}s in the week after the {sight}", "the week after the {sight}: {thing}s"),
        lambda shot, at, _: _week(shot, at) == 1,
    ),
    "same place, other year": (
        "inter",
        (
            "{thing}s at the same place as the {sight} in another year",
            "the same place as the {sight} in another year: {thing}s",
        ),
        lambda shot, at, _: shot.spot == at.spot and shot.time.year != at.time.year,
    ),
    "place and year": (
        "inter",
        ("{thing}s in {city} in {year}", "show me the {thing}s in {city} in {year}"),
        lambda shot, _, slots: shot.city == slots.city and shot.time.year == slots.year,
    ),
    "either": (
        "inter",
        ("{thing}s or {other}s in {city} in {year}",),
        lambda shot, _, slots: shot.city == slots.city and shot.time.year == slots.year,
    ),
    "without": (
        "inter",
        ("{thing}s without {other}s in {city}", "{thing}s but not {other}s in {city}"),
        lambda shot, _, slots: shot.city == slots.city and slots.other not in shot.shows,
    ),
    "first": (
        "inter",
        ("the first 3 {thing}s in {city}",),
        lambda shot, _, slots: shot.city == slots.city,
    ),
}


def questions(life: Sequence[Shot], number: int, seed: int) -> list[Question]:
    """``number`` of them, all shapes in turn, no two alike; the same for the same seed."""
    rng = np.random.default_rng(seed)
    seen: dict[str, list[Shot]] = {}
    for shot in life:
        for sight in shot.shows & set(SIGHTS):
            seen.setdefault(sight, []).append(shot)
    found: dict[str, Question] = {}
    shapes = list(SHAPES)
    for _ in range(200 * number):
        if len(found) == number:
            return list(found.values())
        one = _drawn(rng, shapes[len(found) % len(shapes)], life, seen)
        if 0 < len(one.gold) <= MOST_PHOTOS:
            found.setdefault(one.text, one)
    raise ValueError(f"the life has no {number} questions")


def _drawn(
    rng: np.random.Generator, shape: str, life: Sequence[Shot], seen: dict[str, list[Shot]]
) -> Question:
    kind, forms, holds = SHAPES[shape]
    thing, other = rng.choice(THINGS, size=2, replace=False).tolist()
    away = [city for city in CITIES if city != HOME]
    slots = _Slots(
        thing,
        other,
        str(rng.choice(sorted(seen))),
        str(rng.choice(away)),
        int(rng.choice(YEARS)),
    )
    wanted = {thing, other} if shape == "either" else {thing}
    stands = [shot for shot in life if any(holds(shot, at, slots) for at in seen[slots.sight])]
    meant = [shot for shot in stands if wanted & shot.shows]
    if kind == "intra" or shape == "same place, other year":
        meant = [shot for shot in meant if slots.sight not in shot.shows]
    if shape == "first":
        meant = meant[:3] if len(meant) > 3 else []
    text = str(rng.choice(forms)).format(**vars(slots))
    return Question(text, shape, kind, frozenset(shot.uid for shot in meant))
