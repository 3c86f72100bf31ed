"""The gazetteer behind a door that opens on the first question about a place.

A library without positions, or a search without a place, then never builds or opens it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from photocraft_local.places.areas import Area
    from photocraft_local.places.gazetteer import Gazetteer
    from photocraft_local.records import PlaceName


class LazyPlaces:
    """What sync and filters need of a gazetteer."""

    def __init__(self, opener: Callable[[], Gazetteer]) -> None:
        self._open = opener

    def name(self, lat: float, lon: float) -> PlaceName | None:
        return self._open().name(lat, lon)

    def find(self, name: str, *, near_points: Any = None) -> list[Area]:
        return self._open().find(name, near_points=near_points)

    def suggest(self, name: str, *, limit: int = 3) -> list[str]:
        return self._open().suggest(name, limit=limit)
