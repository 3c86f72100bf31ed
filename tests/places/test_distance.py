"""Great-circle distances against known ones, and boxes that hold what they must."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from photocraft_local.places.distance import (
    EARTH_RADIUS_KM,
    Box,
    box_around,
    haversine_km,
    wrapped,
)

latitudes = st.floats(-90, 90)
longitudes = st.floats(-180, 180)
points = st.tuples(latitudes, longitudes)

KNOWN = [
    ((48.8566, 2.3522), (52.52, 13.405), 877.5),  # Paris, Berlin
    ((38.7223, -9.1393), (40.7128, -74.006), 5422.0),  # Lisbon, New York
    ((0, 0), (0, 180), np.pi * EARTH_RADIUS_KM),
    ((90, 0), (-90, 0), np.pi * EARTH_RADIUS_KM),
    ((0, 179.5), (0, -179.5), np.radians(1) * EARTH_RADIUS_KM),
    ((12.5, 77.6), (12.5, 77.6), 0.0),
]


@pytest.mark.parametrize(("a", "b", "km"), KNOWN)
def test_known_distances(a: tuple[float, float], b: tuple[float, float], km: float) -> None:
    assert float(haversine_km(*a, *b)) == pytest.approx(km, rel=2e-3, abs=1e-9)


def test_arrays_broadcast_and_nan_stays_nan() -> None:
    away = haversine_km(0, 0, np.array([0, 0, np.nan]), np.array([0, 1, 1]))
    assert away.shape == (3,)
    assert away[0] == 0
    assert np.isnan(away[2])
    grid = haversine_km(np.zeros((4, 1)), np.zeros((4, 1)), np.zeros(5), np.arange(5))
    assert grid.shape == (4, 5)


@given(points, points)
def test_a_distance_is_symmetric_and_on_the_globe(
    a: tuple[float, float], b: tuple[float, float]
) -> None:
    there, back = float(haversine_km(*a, *b)), float(haversine_km(*b, *a))
    assert there == pytest.approx(back, abs=1e-6)
    assert 0 <= there <= np.pi * EARTH_RADIUS_KM + 1e-6


@given(points, st.floats(0.001, 5000), st.integers(0, 2**32 - 1))
def test_a_box_around_holds_the_whole_disc(
    centre: tuple[float, float], radius: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    box = box_around(*centre, radius)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, 300)))
    lon = rng.uniform(-180, 180, 300)
    near = haversine_km(*centre, lat, lon) <= radius
    assert np.all(box.contains(lat[near], lon[near]))
    bearing = rng.uniform(0, 2 * np.pi, 50)  # points just inside the circle itself
    lat, lon = destinations(*centre, radius * 0.9999, bearing)
    assert np.all(box.contains(lat, lon))


def destinations(
    latitude: float, longitude: float, km: float, bearing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Along unit vectors: an arcsine of the latitude is off by 10 cm beside a pole."""
    angle, phi, lam = km / EARTH_RADIUS_KM, np.radians(latitude), np.radians(longitude)
    up = np.array([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
    north = np.array([-np.sin(phi) * np.cos(lam), -np.sin(phi) * np.sin(lam), np.cos(phi)])
    east = np.array([-np.sin(lam), np.cos(lam), 0.0])
    ahead = np.outer(np.cos(bearing), north) + np.outer(np.sin(bearing), east)
    x, y, z = (np.cos(angle) * up + np.sin(angle) * ahead).T
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def test_boxes_across_the_antimeridian_and_over_a_pole() -> None:
    fiji = box_around(-17.0, 179.9, 100)
    assert fiji.west > fiji.east
    assert fiji.contains([-17.0, -17.0, -17.0], [179.5, -179.5, 0.0]).tolist() == [
        True,
        True,
        False,
    ]
    pole = box_around(89.5, 10.0, 100)
    assert (pole.west, pole.east, pole.north) == (-180.0, 180.0, 90.0)
    assert not Box(0, 170, 10, -170).contains(np.nan, 175.0)


@pytest.mark.parametrize(
    ("given_", "got"), [(190, -170), (-190, 170), (180, 180), (-180, -180), (0, 0)]
)
def test_longitudes_are_wrapped(given_: float, got: float) -> None:
    assert wrapped(given_) == got
