"""Local time at a position: the zone by polygon (tzfpy), its rules by ``zoneinfo``.

Owns UTC → wall clock. Does not know which of a photo's times is UTC.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_name(latitude: float, longitude: float) -> str | None:
    """The IANA zone of a position in signed degrees, e.g. ``Europe/Lisbon``; at sea the nautical
    zone (``Etc/GMT+2``). None for what is no position on Earth."""
    if not (math.isfinite(latitude) and math.isfinite(longitude)):
        return None
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    from tzfpy import get_tz

    return get_tz(longitude, latitude) or None


def local_time(utc: datetime, latitude: float, longitude: float) -> tuple[datetime, int] | None:
    """The wall clock at a position, naive, and its UTC offset in whole minutes.

    ``utc`` is naive UTC or aware of any zone. None where the position has no zone, its rules are
    not installed, or the result leaves the calendar.
    """
    name = zone_name(latitude, longitude)
    zone = _zone(name) if name else None
    if zone is None:
        return None
    aware = utc.replace(tzinfo=UTC) if utc.tzinfo is None else utc
    try:
        local = aware.astimezone(zone)
    except OverflowError:
        return None
    offset = local.utcoffset()
    if offset is None:
        return None
    return local.replace(tzinfo=None, fold=0), round(offset.total_seconds() / 60)


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
