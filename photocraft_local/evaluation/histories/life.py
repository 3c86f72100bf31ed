"""A made-up life: when and where each photo was taken, and of which source. All of it is true.

Events begin more than three hours apart and lie at one spot; a trip leads far from home, and
between two trips the person takes photos at home. Knows nothing of what files state, nor of
questions; what an event shows is ``scenes.py``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from photocraft_local.evaluation.histories.dials import Dials
from photocraft_local.evaluation.histories.scenes import Frame, Scenes
from photocraft_local.evaluation.histories.sources import Sources
from photocraft_local.evaluation.histories.world import (
    CAMERAS,
    HOME,
    HOME_SPOT,
    TOWNS,
    WORK_SPOT,
    Town,
)

LAST_YEAR = 2023
TODAY = date(2024, 3, 15)  # on which the questions are asked
PER_EVENT = 8  # photos, on average
_PHOTOS_A_YEAR, _MOST_YEARS, _LEAST_YEARS = 300, 8, 2
_AWAY_SHARE, _EVENTS_A_TRIP, _TRIPS_A_YEAR = 0.35, 7, 10
_SLOTS = ((9, 0), (14, 30), (20, 0))  # beginnings of events: two hours long, three hours apart
_LONGEST = 110  # minutes of an event
_JITTER = 0.0003  # degrees, some 30 m


@dataclass(frozen=True, slots=True)
class Shot:
    """One photo as it was taken. ``trip`` is 0 at home; events and trips count up in time."""

    name: str  # of its file, relative to the library's photos
    frame: Frame
    time: datetime  # wall clock at the place
    offset_minutes: int  # of that clock from UTC
    town: Town
    position: tuple[float, float]
    spot: str  # "home", "work" or ""
    camera: str
    event: int
    trip: int


@dataclass(frozen=True, slots=True, order=True)
class _Occasion:
    day: date
    slot: int
    town: str
    spot: int
    trip: int


def shots(sources: Sources, dials: Dials) -> list[Shot]:
    """``dials.size`` of them in the order of time; the same for the same sources and dials."""
    rng = np.random.default_rng([dials.seed, dials.size])
    occasions = sorted(_occasions(rng, dials.size // PER_EVENT))
    sizes = _sizes(rng, len(occasions), dials.size)
    scenes = Scenes(sources, dials, len(occasions), rng)
    towns = {town.name: town for town in (HOME, *TOWNS)}
    found: list[Shot] = []
    for event, (occasion, size) in enumerate(zip(occasions, sizes, strict=True), start=1):
        frames = scenes.of_event(event - 1, size)
        found += _event(rng, occasion, towns[occasion.town], event, frames, len(found))
    return found


def _occasions(rng: np.random.Generator, number: int) -> Iterator[_Occasion]:
    years = int(np.clip(round(number * PER_EVENT / _PHOTOS_A_YEAR), _LEAST_YEARS, _MOST_YEARS))
    first_year = LAST_YEAR - years + 1
    months = [date(first_year + at // 12, at % 12 + 1, 1) for at in range(12 * years)]
    away = round(_AWAY_SHARE * number)
    num_trips = int(np.clip(round(away / _EVENTS_A_TRIP), 2, _TRIPS_A_YEAR * years))
    chosen = sorted(rng.choice(len(months), size=num_trips, replace=False).tolist())
    taken: set[date] = set()
    made = 0
    for trip, at in enumerate(chosen, start=1):
        events = away // num_trips + (trip <= away % num_trips)
        for occasion in _trip(rng, months[at], trip, events):
            taken |= {occasion.day + timedelta(days=shift) for shift in (-1, 0, 1)}
            made += 1
            yield occasion
    home = [months[at].replace(day=int(rng.integers(2, 6))) for at in chosen]
    before = [_at_home(rng, day, 1) for day in home]
    yield from before
    busy = {(one.day, one.slot) for one in before}
    first, last = date(first_year, 1, 8), date(LAST_YEAR, 12, 28)
    while made + len(before) < number:
        day = first + timedelta(days=int(rng.integers((last - first).days)))
        slot = int(rng.integers(len(_SLOTS)))
        if day not in taken and (day, slot) not in busy:
            busy.add((day, slot))
            made += 1
            yield _at_home(rng, day, slot)


def _trip(rng: np.random.Generator, month: date, trip: int, events: int) -> Iterator[_Occasion]:
    """In one town or two of a country, on days that follow each other."""
    town = TOWNS[int(rng.integers(len(TOWNS)))]
    others = [one for one in TOWNS if one.country == town.country and one is not town]
    route = [town, *others[: int(rng.integers(2))]] if events > 3 else [town]
    a_day = 3 if events > 24 else 2
    first = month.replace(day=int(rng.integers(9, 12)))
    days = -(-events // a_day)
    for at in range(events):
        day = at // a_day
        here = route[day * len(route) // days]
        slot = at % a_day if a_day == 3 else 2 * (at % a_day)
        spot = int(rng.integers(len(here.spots)))
        yield _Occasion(first + timedelta(days=day), slot, here.name, spot, trip)


def _at_home(rng: np.random.Generator, day: date, slot: int) -> _Occasion:
    works = day.weekday() < 5 and slot < 2 and rng.random() < 0.4
    other = int(rng.integers(1, 3))
    spot = WORK_SPOT if works else (HOME_SPOT if rng.random() < 0.6 else other)
    return _Occasion(day, slot, HOME.name, spot, 0)


def _sizes(rng: np.random.Generator, events: int, photos: int) -> list[int]:
    """Photos of each event; together exactly ``photos``."""
    sizes = [int(rng.integers(5, 12)) for _ in range(events)]
    at = 0
    while (rest := photos - sum(sizes)) != 0:
        step = 1 if rest > 0 else -1
        if sizes[at % events] + step >= 3:
            sizes[at % events] += step
        at += 1
    return sizes


def _event(
    rng: np.random.Generator,
    occasion: _Occasion,
    town: Town,
    event: int,
    frames: list[Frame],
    first: int,
) -> Iterator[Shot]:
    hour, minute = _SLOTS[occasion.slot]
    at = datetime(occasion.day.year, occasion.day.month, occasion.day.day, hour, minute)
    at += timedelta(minutes=int(rng.integers(0, 20)), seconds=int(rng.integers(60)))
    pause = _LONGEST * 60 // max(len(frames), 10)
    camera = CAMERAS[int(rng.random() < 0.35)]
    latitude, longitude = town.spots[occasion.spot]
    own = {HOME_SPOT: "home", WORK_SPOT: "work"} if town is HOME else {}
    zone = ZoneInfo(town.zone)
    for number, frame in enumerate(frames):
        if number:
            at += timedelta(seconds=frame.close or int(rng.integers(pause // 3, pause)))
        moved = rng.uniform(-_JITTER, _JITTER, size=2)
        shift = zone.utcoffset(at)
        suffix = "png" if frame.is_screenshot else "jpg"
        stem = "Screenshot" if frame.is_screenshot else "img"
        yield Shot(
            name=f"roll-{(first + number) // 1000:02d}/{stem}-{first + number + 1:05d}.{suffix}",
            frame=frame,
            time=at,
            offset_minutes=round(shift.total_seconds() / 60) if shift else 0,
            town=town,
            position=(round(latitude + moved[0], 5), round(longitude + moved[1], 5)),
            spot=own.get(occasion.spot, ""),
            camera="" if frame.is_screenshot else camera,
            event=event,
            trip=occasion.trip,
        )
