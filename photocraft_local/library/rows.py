"""Turns rows of the database into ``Photo`` records. Only reads.

``PhotoReader`` serves ids in pieces, so memory does not grow with the library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Any

from photocraft_local.library.batches import batches
from photocraft_local.library.names import FlagTable
from photocraft_local.library.schema import FileState, PhotoState, Role
from photocraft_local.records import CaptureTime, GeoPoint, Photo, PlaceName
from photocraft_local.storage.database import Database

_EPOCH = datetime(1970, 1, 1)
_PIECE = 500  # below SQLite's smallest limit of bound values, 999

_PHOTOS = """
SELECT photo_id, uid, digest, width, height, format, taken_seconds, taken_micros, offset_minutes,
       time_source, time_flags, latitude, longitude, city, region, country, country_code,
       place_km, cameras.name, flags, event_id
FROM photos LEFT JOIN places USING (place_id) LEFT JOIN cameras USING (camera_id)
WHERE state = {state} AND photo_id IN ({marks}) ORDER BY photo_id"""

_PATHS = """
SELECT photo_id, path, role, state, root_id FROM files
WHERE photo_id IN ({marks}) AND state != {missing} ORDER BY state, file_id"""


def seconds_of(local: datetime) -> int:
    """Wall-clock seconds since 1970-01-01T00:00 of a naive time."""
    since = local - _EPOCH
    return since.days * 86400 + since.seconds


def local_of(seconds: int, micros: int = 0) -> datetime:
    return _EPOCH + timedelta(seconds=seconds, microseconds=micros)


class PhotoReader:
    """Photos by id, present ones only, with their paths and whether they are offline."""

    def __init__(
        self, database: Database, flags: FlagTable, offline_roots: AbstractSet[int]
    ) -> None:
        self._database = database
        self._flags = flags
        self._offline_roots = offline_roots

    def read(self, ids: Iterable[int]) -> Iterator[Photo]:
        """In ascending order of id within each piece; unknown and absent ones are left out."""
        for piece in batches(ids, _PIECE):
            marks = ",".join("?" * len(piece))
            paths = self._paths(piece, marks)
            sql = _PHOTOS.format(state=int(PhotoState.PRESENT), marks=marks)
            for row in self._database.rows(sql, piece):
                yield self._photo(row, paths.get(row[0], _Paths()))

    def _paths(self, piece: Sequence[int], marks: str) -> dict[int, _Paths]:
        found: dict[int, _Paths] = {}
        sql = _PATHS.format(missing=int(FileState.MISSING), marks=marks)
        for photo_id, path, role, state, root_id in self._database.rows(sql, piece):
            online = state == FileState.PRESENT and root_id not in self._offline_roots
            found.setdefault(photo_id, _Paths()).add(path, role, online)
        return found

    def _photo(self, row: tuple[Any, ...], paths: _Paths) -> Photo:
        latitude, longitude = row[11], row[12]
        return Photo(
            photo_id=row[0],
            uid=row[1],
            digest=row[2].hex(),
            paths=(*paths.online, *paths.offline),
            width=row[3],
            height=row[4],
            format=row[5],
            taken=self._taken(row),
            location=None if latitude is None else GeoPoint(latitude, longitude),
            place=None if row[13] is None else PlaceName(*row[13:18]),
            camera=row[18] or "",
            flags=self._flags.words(row[19]),
            companions=tuple(paths.companions),
            event_id=row[20],
            offline=not paths.online,
        )

    def _taken(self, row: tuple[Any, ...]) -> CaptureTime | None:
        if row[6] is None:
            return None
        return CaptureTime(local_of(row[6], row[7]), row[8], row[9], self._flags.words(row[10]))


class _Paths:
    """The paths of one photo, those that can be opened now first."""

    def __init__(self) -> None:
        self.online: list[bytes] = []
        self.offline: list[bytes] = []
        self.companions: list[bytes] = []

    def add(self, path: bytes, role: int, online: bool) -> None:
        if role == Role.COMPANION:
            self.companions.append(path)
        else:
            (self.online if online else self.offline).append(path)
