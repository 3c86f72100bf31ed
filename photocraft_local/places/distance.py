"""Great-circle distances and bounding boxes on a sphere, over NumPy arrays.

All angles are signed degrees, all lengths kilometres. Knows no place by name.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

EARTH_RADIUS_KM = 6371.0088  # mean radius of WGS 84 (IUGG R1)

Degrees = float | npt.ArrayLike
FloatArray = npt.NDArray[np.float64]


class Box(NamedTuple):
    """South, west, north, east in degrees; ``west > east`` crosses the antimeridian."""

    south: float
    west: float
    north: float
    east: float

    def contains(self, latitudes: Degrees, longitudes: Degrees) -> npt.NDArray[np.bool_]:
        """Which points lie inside, edges included; NaN is outside. Shape: the inputs'."""
        lat = np.asarray(latitudes, np.float64)
        lon = np.asarray(longitudes, np.float64)
        if self.west <= self.east:
            inside = (lon >= self.west) & (lon <= self.east)
        else:
            inside = (lon >= self.west) | (lon <= self.east)
        result: npt.NDArray[np.bool_] = (lat >= self.south) & (lat <= self.north) & inside
        return result


def haversine_km(lat1: Degrees, lon1: Degrees, lat2: Degrees, lon2: Degrees) -> FloatArray:
    """Great-circle distance; the inputs broadcast. NaN in gives NaN out."""
    phi1, lam1, phi2, lam2 = (
        np.radians(np.asarray(x, np.float64)) for x in (lat1, lon1, lat2, lon2)
    )
    half = (
        np.sin((phi2 - phi1) / 2) ** 2
        + np.cos(phi1) * np.cos(phi2) * np.sin((lam2 - lam1) / 2) ** 2
    )
    result: FloatArray = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(half, 1.0)))
    return result


def box_around(latitude: float, longitude: float, radius_km: float) -> Box:
    """The smallest box that holds every point within ``radius_km``; a cap over a pole takes all
    longitudes. Meant as a cheap first pass before ``haversine_km``."""
    angle = math.degrees(min(radius_km / EARTH_RADIUS_KM, math.pi))
    south, north = latitude - angle, latitude + angle
    if south <= -90 or north >= 90:
        return Box(max(south, -90.0), -180.0, min(north, 90.0), 180.0)
    ratio = math.sin(math.radians(angle)) / math.cos(math.radians(latitude))
    width = math.degrees(math.asin(min(1.0, ratio)))
    if width >= 180:
        return Box(south, -180.0, north, 180.0)
    return Box(south, wrapped(longitude - width), north, wrapped(longitude + width))


def wrapped(longitude: float) -> float:
    """A longitude brought to -180 … 180."""
    return longitude if -180 <= longitude <= 180 else (longitude + 180) % 360 - 180


def unit_vectors(latitudes: Any, longitudes: Any) -> FloatArray:
    """(n, 3) points on the unit sphere; the larger an inner product, the nearer."""
    phi, lam = (
        np.radians(np.asarray(latitudes, np.float64)),
        np.radians(np.asarray(longitudes, np.float64)),
    )
    cos = np.cos(phi)
    return np.stack([cos * np.cos(lam), cos * np.sin(lam), np.sin(phi)], axis=-1)
