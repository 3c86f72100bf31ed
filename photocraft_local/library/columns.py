"""The whole library as NumPy columns, one row a present photo, straight from SQL.

This is what search and filters work on; building it costs a few microseconds a photo.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from photocraft_local.library.names import FlagTable
from photocraft_local.library.schema import FileState, PhotoState, Role
from photocraft_local.storage.database import Database

NO_TIME = int(np.iinfo(np.int64).min)
NO_OFFSET = int(np.iinfo(np.int32).min)
NO_EVENT = -1


@dataclass(frozen=True, slots=True)
class LibraryColumns:
    """One row a present photo, by ascending photo_id. Codes index the table of the same noun;
    code 0 is the empty word, "none"."""

    photo_id: NDArray[np.int64]
    uid: list[str]
    local_seconds: NDArray[np.int64]  # wall clock since 1970-01-01T00:00; NO_TIME if none
    offset_minutes: NDArray[np.int32]  # of UTC; NO_OFFSET if not known
    latitude: NDArray[np.float64]  # signed degrees; nan if none
    longitude: NDArray[np.float64]
    width: NDArray[np.int32]  # upright pixels
    height: NDArray[np.int32]
    event_id: NDArray[np.int64]  # NO_EVENT if none
    trip_id: NDArray[np.int64]
    flags: NDArray[np.int64]  # bit i set: the photo has flag flag_names[i]
    camera: NDArray[np.int32]
    city: NDArray[np.int32]
    region: NDArray[np.int32]
    country: NDArray[np.int32]
    country_code: NDArray[np.int32]
    offline: NDArray[np.bool_]  # its root is not mounted now
    flag_names: tuple[str, ...]
    cameras: tuple[str, ...]
    cities: tuple[str, ...]
    regions: tuple[str, ...]
    countries: tuple[str, ...]
    country_codes: tuple[str, ...]
    generation: int  # of the library when it was read

    def __len__(self) -> int:
        return len(self.photo_id)


_SQL = f"""
SELECT photo_id, uid,
       ifnull(taken_seconds, {NO_TIME + 1} - 1), ifnull(offset_minutes, {NO_OFFSET}),
       latitude, longitude, width, height,
       ifnull(event_id, {NO_EVENT}), ifnull(trip_id, {NO_EVENT}), flags,
       ifnull(camera_id, 0), ifnull(place_id, 0)
FROM photos WHERE state = {int(PhotoState.PRESENT)} ORDER BY photo_id"""  # noqa: S608

_OPENABLE = f"""
SELECT DISTINCT photo_id FROM files
WHERE role = {int(Role.PHOTO)} AND state = {int(FileState.PRESENT)}
  AND photo_id IS NOT NULL AND root_id NOT IN"""  # noqa: S608


def read_columns(
    database: Database, flags: FlagTable, offline_roots: AbstractSet[int], generation: int
) -> LibraryColumns:
    """Read all present photos; about 4 µs of CPU time each."""
    rows = database.rows(_SQL)
    values: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * 13
    photo_id = np.array(values[0], np.int64)
    place = _PlaceCodes(database, np.array(values[12], np.int64))
    camera_keys, cameras = _keyed(database.rows("SELECT camera_id, name FROM cameras"))
    return LibraryColumns(
        photo_id=photo_id,
        uid=list(values[1]),
        local_seconds=np.array(values[2], np.int64),
        offset_minutes=np.array(values[3], np.int32),
        latitude=np.array(values[4], np.float64),
        longitude=np.array(values[5], np.float64),
        width=np.array(values[6], np.int32),
        height=np.array(values[7], np.int32),
        event_id=np.array(values[8], np.int64),
        trip_id=np.array(values[9], np.int64),
        flags=np.array(values[10], np.int64),
        camera=camera_keys[np.array(values[11], np.int64)],
        city=place.codes[0],
        region=place.codes[1],
        country=place.codes[2],
        country_code=place.codes[3],
        offline=~np.isin(photo_id, _openable(database, offline_roots)),
        flag_names=flags.names(),
        cameras=cameras,
        cities=place.tables[0],
        regions=place.tables[1],
        countries=place.tables[2],
        country_codes=place.tables[3],
        generation=generation,
    )


class _PlaceCodes:
    """City, region, country and country code of each photo, through the few places there are."""

    def __init__(self, database: Database, place_ids: NDArray[np.int64]) -> None:
        rows = database.rows("SELECT place_id, city, region, country, country_code FROM places")
        self.codes: list[NDArray[np.int32]] = []
        self.tables: list[tuple[str, ...]] = []
        for part in range(1, 5):
            keys, table = _keyed((row[0], row[part]) for row in rows)
            self.codes.append(keys[place_ids])
            self.tables.append(table)


def _keyed(rows: Iterable[tuple[int, str]]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """(row key → code, code → word); key 0 and the empty word have code 0."""
    codes: dict[str, int] = {"": 0}
    pairs = [(key, codes.setdefault(word, len(codes))) for key, word in rows]
    keys = np.zeros(max((key for key, _ in pairs), default=0) + 1, np.int32)
    for key, code in pairs:
        keys[key] = code
    return keys, tuple(codes)


def _openable(database: Database, offline_roots: AbstractSet[int]) -> NDArray[np.int64]:
    roots = sorted(offline_roots)
    return database.integers(f"{_OPENABLE} ({','.join('?' * len(roots))})", roots)
