"""A made library whose facts are all known, the real tools over it, and a driver that carries a
plan out by them: what a planner does, without a loop around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from photocraft_local.agent.planner.execute import Result, moves
from photocraft_local.agent.planner.plan import Plan
from photocraft_local.errors import UnknownPhoto
from photocraft_local.library.columns import NO_EVENT, NO_OFFSET, NO_TIME, LibraryColumns
from photocraft_local.library.events import away_from_home, segment
from photocraft_local.records import (
    Answer,
    CaptureTime,
    Event,
    GeoPoint,
    Observation,
    Photo,
    PlaceName,
    ToolCall,
)
from photocraft_local.search.catalog import Catalog
from photocraft_local.settings import Settings
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools
from photocraft_local.tools.submit_answer import answer_of

EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Made:
    """One photo to be: what is left out is not known of it."""

    time: datetime | None = None
    spot: tuple[float, float] | None = None
    address: tuple[str, str, str] | None = None  # city, region, country
    camera: str = ""


class MadeLibrary:
    """As much of a library as the tools use that show no pictures."""

    def __init__(self, photos: Sequence[Photo]) -> None:
        self._by_id = {photo.photo_id: photo for photo in photos}
        self._by_uid = {photo.uid: photo for photo in photos}

    def photo(self, uid: str) -> Photo:
        if uid not in self._by_uid:
            raise UnknownPhoto(f"there is no photo {uid!r}")
        return self._by_uid[uid]

    def photos_by_id(self, ids: Iterable[int]) -> dict[int, Photo]:
        return {photo_id: self._by_id[photo_id] for photo_id in ids}

    def events(self) -> list[Event]:
        return []


@dataclass
class Told:
    """What came of a plan: the answer and every call with what it brought."""

    answer: Answer
    calls: list[ToolCall] = field(default_factory=list)
    seen: list[Observation] = field(default_factory=list)


class World:
    """The photos, and the tools over them."""

    def __init__(self, made: Sequence[Made], *, today: date = date(2024, 3, 15)) -> None:
        columns = _columns(made)
        self.photos = _photos(made, columns)
        self._context = {
            "library": MadeLibrary(self.photos),
            "catalog": Catalog.from_columns(columns),
            "make_encoder": lambda: SimpleNamespace(calibration=SimpleNamespace(cutoff=2.0)),
            "gazetteer": None,
            "today": today,
            "make_searcher": lambda: None,
            "settings": Settings(),
        }

    def registry(self, **parts: Any) -> Registry:
        return Registry(standard_tools(), cast(Any, ToolContext)(**self._context | parts))

    def carry_out(self, plan: Plan, **parts: Any) -> Told:
        """Runs the plan to its accepted answer."""
        registry = self.registry(**parts)
        going, told = moves(plan), Told(Answer(()))
        move = next(going)
        while True:
            assert move.call not in told.calls, "the loop refuses a repeated call"
            seen = registry.call(move.call)
            told.calls.append(move.call)
            told.seen.append(seen)
            if move.call.name == "submit_answer" and seen.ok:
                told.answer = answer_of(seen)
                return told
            move = going.send(Result(seen.data, seen.error))


def _columns(made: Sequence[Made]) -> LibraryColumns:
    seconds = np.array(
        [NO_TIME if one.time is None else _seconds(one.time) for one in made], np.int64
    )
    spots = np.array([one.spot or (np.nan, np.nan) for one in made], np.float64).reshape(-1, 2)
    event, trip = np.full((2, len(made)), NO_EVENT, np.int64)
    dated = np.flatnonzero(seconds != NO_TIME)
    order = dated[np.argsort(seconds[dated], kind="stable")]
    found = segment(seconds[order], *spots[order].T, gap_hours=3, gap_km=5)
    # Numbers as a library gives them: an id of a photo in it, in no order of time.
    event[order] = [1 + int(order[found.event == number].min()) for number in found.event]
    trip[order] = [1 + int(order[found.trip == number].min()) for number in found.trip]
    addresses = [one.address or ("", "", "") for one in made]
    words = {
        name: _table([address[at] for address in addresses])
        for at, name in enumerate(("city", "region", "country"))
    }
    words["camera"] = _table([one.camera for one in made])
    return LibraryColumns(
        photo_id=np.arange(1, len(made) + 1),
        uid=[f"p{at:05d}" for at in range(1, len(made) + 1)],
        local_seconds=seconds,
        offset_minutes=np.full(len(made), NO_OFFSET, np.int32),
        latitude=spots[:, 0].copy(),
        longitude=spots[:, 1].copy(),
        width=np.full(len(made), 4000, np.int32),
        height=np.full(len(made), 3000, np.int32),
        event_id=event,
        trip_id=trip,
        flags=np.zeros(len(made), np.int64),
        camera=words["camera"][0],
        city=words["city"][0],
        region=words["region"][0],
        country=words["country"][0],
        country_code=np.zeros(len(made), np.int32),
        offline=np.zeros(len(made), np.bool_),
        flag_names=(),
        cameras=words["camera"][1],
        cities=words["city"][1],
        regions=words["region"][1],
        countries=words["country"][1],
        country_codes=("",),
        generation=1,
    )


def _photos(made: Sequence[Made], columns: LibraryColumns) -> list[Photo]:
    return [
        Photo(
            photo_id=at + 1,
            uid=columns.uid[at],
            digest="",
            paths=(b"/album/%d.jpg" % at,),
            width=4000,
            height=3000,
            format="JPEG",
            taken=None if one.time is None else CaptureTime(one.time),
            location=None if one.spot is None else GeoPoint(*one.spot),
            place=None if one.address is None else PlaceName(*one.address, "", 0.0),
            camera=one.camera,
            event_id=None if columns.event_id[at] == NO_EVENT else int(columns.event_id[at]),
        )
        for at, one in enumerate(made)
    ]


@dataclass(frozen=True)
class Trips:
    """UID → trip number, of dated photos; those that lead away from home."""

    by_uid: Mapping[str, int]
    journeys: frozenset[int]


def trips_of(world: World) -> Trips:
    columns = world.registry().context.catalog.columns
    num = columns.num_dated
    uids = world.registry().context.catalog.uids_at(np.arange(num))
    trips = columns.trip[:num].tolist()
    away = away_from_home(columns.times[:num], columns.latitude[:num], columns.longitude[:num])
    far = trips if away is None else [trip for trip, out in zip(trips, away, strict=True) if out]
    return Trips(dict(zip(uids, trips, strict=True)), frozenset(far))


def _seconds(moment: datetime) -> int:
    return int((moment - EPOCH).total_seconds())


def _table(words: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    codes = {"": 0}
    keys = [codes.setdefault(word, len(codes)) for word in words]
    return np.array(keys, np.int32), tuple(codes)
