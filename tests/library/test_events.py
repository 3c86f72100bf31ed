"""Events and trips come from time and place only."""

from __future__ import annotations

import numpy as np
import pytest
from small_album import Album, Indexer

from photocraft_local.library.events import away_from_home, segment

HOUR = 3600
DAY = 24 * HOUR
NAN = float("nan")


def split(
    hours: list[float], places: list[tuple[float, float]] | None = None
) -> tuple[list[int], list[int]]:
    points = np.array(places or [(NAN, NAN)] * len(hours), np.float64).reshape(-1, 2)
    seconds = (np.array(hours) * HOUR).astype(np.int64)
    found = segment(seconds, points[:, 0], points[:, 1], gap_hours=3, gap_km=5)
    return found.event.tolist(), found.trip.tolist()


def test_a_long_pause_starts_an_event_and_a_very_long_one_a_trip() -> None:
    events, trips = split([0, 1, 4, 7.1, 8, 44, 45, 82])
    assert events == [0, 0, 0, 1, 1, 2, 2, 3]
    assert trips == [0, 0, 0, 0, 0, 0, 0, 1]


def test_a_jump_starts_an_event_and_photos_without_a_place_stay_where_the_last_one_was() -> None:
    porto, near_porto, lisbon = (41.15, -8.61), (41.16, -8.62), (38.72, -9.14)
    nowhere = (NAN, NAN)
    events, _ = split(
        [0, 0.1, 0.2, 0.3, 0.4, 0.5], [nowhere, porto, nowhere, near_porto, nowhere, lisbon]
    )
    assert events == [0, 0, 0, 0, 0, 1]


def test_a_photo_without_a_place_after_a_pause_is_where_the_next_one_is() -> None:
    porto, lisbon, nowhere = (41.15, -8.61), (38.72, -9.14), (NAN, NAN)
    events, _ = split([0, 10, 10.5, 11], [porto, nowhere, nowhere, lisbon])
    assert events == [0, 1, 1, 1]
    events, _ = split([0, 1, 2, 20, 21], [porto, nowhere, lisbon, nowhere, nowhere])
    assert events == [0, 0, 1, 2, 2]  # no pause: where one was; nothing located: one event


def test_a_first_photo_without_a_place_belongs_to_the_trip_that_it_opens_and_ends() -> None:
    home, kyoto, nowhere = (52.5, 13.4), (35.0, 135.8), (NAN, NAN)
    days = [*range(0, 100, 8), 100, 100.1, 101, 103, 103.1]
    places = [home] * 13 + [nowhere, kyoto, kyoto, nowhere, home]
    _, trips = split([24.0 * day for day in days], places)
    assert len(set(trips[13:16])) == 1
    assert trips[12] != trips[13]
    assert trips[15] != trips[16] == trips[17]
    points = np.array(places)
    away = away_from_home((np.array(days) * DAY).astype(np.int64), points[:, 0], points[:, 1])
    assert away is not None
    assert np.flatnonzero(away).tolist() == [14, 15]  # the trip home is no journey


def test_nothing_has_no_events() -> None:
    assert split([]) == ([], [])
    assert split([5]) == ([0], [0])


def test_leaving_home_starts_a_trip_and_coming_back_ends_it() -> None:
    home, away = (52.5, 13.4), (48.1, 11.6)
    days = [home] * 12 + [away] * 3 + [home] * 2
    hours = [24.0 * day for day in range(len(days))]
    _, trips = split(hours, days)
    assert trips == [0] * 12 + [1] * 3 + [2] * 2


def test_without_a_home_only_pauses_end_a_trip() -> None:
    places = [(float(step * 3), 10.0) for step in range(12)]
    _, trips = split([24.0 * day for day in range(12)], places)
    assert trips == [0] * 12


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_segments_obey_their_definition(seed: int) -> None:
    chance = np.random.default_rng(seed)
    hours = np.sort(chance.uniform(0, 2000, 400))
    events, trips = split(hours.tolist())
    gaps = np.diff((hours * HOUR).astype(np.int64))
    assert (np.diff(events) == (gaps > 3 * HOUR)).all()
    assert (np.diff(trips) == (gaps > 36 * HOUR)).all()


def test_events_are_read_with_span_cover_and_count_and_keep_their_ids(
    index: Indexer, album: Album
) -> None:
    album.shoot("a.jpg", 1, at="2021-06-14T10:00:00")
    album.shoot("b.jpg", 2, at="2021-06-14T11:00:00")
    album.shoot("c.jpg", 3, at="2021-06-14T12:00:00")
    album.shoot("later.jpg", 4, at="2021-07-01T09:00:00")
    album.shoot("timeless.jpg", 5)
    index()
    photos = index.by_name()
    first, second = index.library.events()
    assert (first.start.isoformat(), first.end.isoformat()) == (
        "2021-06-14T10:00:00",
        "2021-06-14T12:00:00",
    )
    assert (first.count, first.cover_uid) == (3, photos["b.jpg"].uid)
    assert photos["timeless.jpg"].event_id is None
    assert photos["c.jpg"].event_id == first.event_id
    assert first.trip_id != second.trip_id
    album.shoot("early.jpg", 6, at="2019-01-01T00:00:00")
    album.shoot("d.jpg", 7, at="2021-06-14T09:30:00")
    index()
    after = index.library.events()
    assert [event.event_id for event in after[1:]] == [first.event_id, second.event_id]
    assert [event.count for event in after] == [1, 4, 1]
    columns = index.library.columns()
    assert columns.event_id.tolist() == [photo.event_id or -1 for photo in index.library.photos()]


def test_a_home_is_known_by_coming_back_and_a_pause_on_a_journey_does_not_end_it() -> None:
    home, kyoto = (52.5, 13.4), (35.0, 135.8)
    at_home = [0, 20, 40, 60, 80]  # days
    journey = [100, 103, 104]  # one pause of three days
    trips = split(
        [24.0 * day for day in [*at_home, *journey, 120]], [home] * 5 + [kyoto] * 3 + [home]
    )[1]
    assert len(set(trips[5:8])) == 1
    assert trips[4] != trips[5]
    assert trips[7] != trips[8]
    few = split([24.0 * day for day in [*journey, 120]], [kyoto] * 3 + [home])[1]
    assert few == [0, 1, 1, 2]  # no home is known: only pauses count


@pytest.mark.parametrize("order", ["abc", "bca", "cba"])
def test_the_order_in_which_photos_come_in_decides_nothing(
    index: Indexer, album: Album, order: str
) -> None:
    lisbon, porto = (38.72, -9.14), (41.15, -8.61)
    shots = {"a": ("10:00:00", lisbon), "b": ("10:00:00", porto), "c": ("10:00:01", lisbon)}
    for name in order:  # two of one second, far apart
        time, near = shots[name]
        album.shoot(f"{name}.jpg", ord(name), at=f"2021-06-14T{time}", near=near)
        index()
    assert [event.count for event in index.library.events()] == [1, 1, 1]
    photos = index.by_name()
    assert len({photos[f"{name}.jpg"].event_id for name in shots}) == 3
