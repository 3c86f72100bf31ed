"""Local time at a position, against known civil-time facts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from photocraft_local.places.zones import local_time, zone_name

NAMES = [
    (48.8584, 2.2945, "Europe/Paris"),
    (38.7223, -9.1393, "Europe/Lisbon"),
    (35.6595, 139.7005, "Asia/Tokyo"),
    (41.9029, 12.4534, "Europe/Vatican"),
    (27.7172, 85.3240, "Asia/Kathmandu"),
    (-33.8568, 151.2153, "Australia/Sydney"),
    (40.0, -30.0, "Etc/GMT+2"),
]


@pytest.mark.parametrize(("lat", "lon", "name"), NAMES)
def test_zone_by_position(lat: float, lon: float, name: str) -> None:
    assert zone_name(lat, lon) == name


@pytest.mark.parametrize(
    ("lat", "lon"), [(91, 0), (0, 181), (float("nan"), 0), (0, float("inf")), (-90.1, 0)]
)
def test_no_zone_off_the_globe(lat: float, lon: float) -> None:
    assert zone_name(lat, lon) is None
    assert local_time(datetime(2021, 6, 1), lat, lon) is None


OFFSETS = [
    # summer, winter, half hours, quarter hours, southern summer time, date line
    (datetime(2021, 7, 1, 12), 48.8584, 2.2945, datetime(2021, 7, 1, 14), 120),
    (datetime(2021, 1, 1, 12), 48.8584, 2.2945, datetime(2021, 1, 1, 13), 60),
    (datetime(2021, 1, 1, 0, 30), 40.7128, -74.0060, datetime(2020, 12, 31, 19, 30), -300),
    (datetime(2021, 1, 1, 12), 27.7172, 85.3240, datetime(2021, 1, 1, 17, 45), 345),
    (datetime(2021, 1, 1, 12), -33.8568, 151.2153, datetime(2021, 1, 1, 23), 660),
    (datetime(2011, 12, 30, 9, 59), -13.83, -171.76, datetime(2011, 12, 29, 23, 59), -600),
    (datetime(2011, 12, 30, 10, 0), -13.83, -171.76, datetime(2011, 12, 31, 0, 0), 840),
]


@pytest.mark.parametrize(("utc", "lat", "lon", "local", "minutes"), OFFSETS)
def test_wall_clock(utc: datetime, lat: float, lon: float, local: datetime, minutes: int) -> None:
    assert local_time(utc, lat, lon) == (local, minutes)


def test_both_sides_of_a_clock_change() -> None:
    # Paris left summer time on 2021-10-31 at 01:00 UTC: 02:30 on the wall came twice.
    before = local_time(datetime(2021, 10, 31, 0, 30), 48.8584, 2.2945)
    after = local_time(datetime(2021, 10, 31, 1, 30), 48.8584, 2.2945)
    assert before == (datetime(2021, 10, 31, 2, 30), 120)
    assert after == (datetime(2021, 10, 31, 2, 30), 60)


def test_aware_input_is_converted() -> None:
    aware = datetime(2021, 7, 1, 20, tzinfo=timezone(timedelta(hours=8)))
    assert local_time(aware, 48.8584, 2.2945) == (datetime(2021, 7, 1, 14), 120)
    assert local_time(datetime(2021, 7, 1, 12, tzinfo=UTC), 38.7223, -9.1393) == (
        datetime(2021, 7, 1, 13),
        60,
    )


def test_the_ends_of_the_calendar_are_no_crash() -> None:
    assert local_time(datetime.max, 35.66, 139.7) is None
    assert local_time(datetime.min, 40.71, -74.0) is None
