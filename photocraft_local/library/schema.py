"""The tables of a library, as named migrations. A released migration is never changed.

A photo is its content; a file is a path that holds it, a companion of one, or something that
is skipped with a reason. Paths are bytes, times are wall-clock seconds since 1970.
"""

from __future__ import annotations

import sqlite3
from enum import IntEnum

from photocraft_local.storage.migrations import Migration


class PhotoState(IntEnum):
    """``photos.state``."""

    PRESENT = 0  # at least one path holds it, on a mounted root or an offline one
    MISSING = 1  # no path holds it any more; kept until compaction
    UNUSABLE = 2  # its pixels cannot be decoded; reported as skipped


class FileState(IntEnum):
    """``files.state``."""

    PRESENT = 0
    MISSING = 1  # gone from a mounted root
    OFFLINE = 2  # the drive that it was on is not there
    CLOSED = 3  # it or its folder could not be looked into


class Role(IntEnum):
    """``files.role``."""

    PHOTO = 0
    COMPANION = 1  # RAW beside a JPEG, the video of a Live Photo
    SKIPPED = 2  # with a reason


_FIRST_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID",
    """CREATE TABLE roots (
        root_id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        device INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        online INTEGER NOT NULL DEFAULT 1,
        synced_at REAL
    ) STRICT""",
    """CREATE TABLE places (
        place_id INTEGER PRIMARY KEY,
        city TEXT NOT NULL,
        region TEXT NOT NULL,
        country TEXT NOT NULL,
        country_code TEXT NOT NULL,
        UNIQUE (city, region, country, country_code)
    ) STRICT""",
    "CREATE TABLE cameras (camera_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
    "CREATE TABLE flags (bit INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",
    # AUTOINCREMENT: the id of a forgotten photo is never given to another one.
    """CREATE TABLE photos (
        photo_id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        digest BLOB NOT NULL UNIQUE,
        state INTEGER NOT NULL DEFAULT 0,
        format TEXT NOT NULL,
        width INTEGER NOT NULL,
        height INTEGER NOT NULL,
        taken_seconds INTEGER,
        taken_micros INTEGER NOT NULL DEFAULT 0,
        offset_minutes INTEGER,
        time_source TEXT NOT NULL DEFAULT '',
        time_flags INTEGER NOT NULL DEFAULT 0,
        latitude REAL,
        longitude REAL,
        place_id INTEGER REFERENCES places,
        place_km REAL,
        place_asked INTEGER NOT NULL DEFAULT 0,
        camera_id INTEGER REFERENCES cameras,
        flags INTEGER NOT NULL DEFAULT 0,
        event_id INTEGER,
        trip_id INTEGER,
        reason TEXT NOT NULL DEFAULT '',
        message TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    """CREATE TABLE files (
        file_id INTEGER PRIMARY KEY,
        root_id INTEGER NOT NULL REFERENCES roots,
        path BLOB NOT NULL UNIQUE,
        state INTEGER NOT NULL DEFAULT 0,
        role INTEGER NOT NULL,
        photo_id INTEGER REFERENCES photos,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        device INTEGER NOT NULL,
        sidecar BLOB,
        sidecar_mtime_ns INTEGER,
        reason TEXT NOT NULL DEFAULT '',
        message TEXT NOT NULL DEFAULT ''
    ) STRICT""",
    "CREATE INDEX files_by_photo ON files (photo_id, role, state)",
    "CREATE INDEX files_by_root ON files (root_id, state)",
    """CREATE TABLE crops (
        parent_id INTEGER NOT NULL REFERENCES photos,
        number INTEGER NOT NULL,
        x1 INTEGER NOT NULL,
        y1 INTEGER NOT NULL,
        x2 INTEGER NOT NULL,
        y2 INTEGER NOT NULL,
        PRIMARY KEY (parent_id, number),
        UNIQUE (parent_id, x1, y1, x2, y2)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE forgotten (
        digest BLOB PRIMARY KEY,
        photo_id INTEGER,
        uid TEXT
    ) STRICT, WITHOUT ROWID""",
    "INSERT INTO meta VALUES ('generation', 1)",
)


def _m0001_files_and_photos(connection: sqlite3.Connection) -> None:
    for statement in _FIRST_TABLES:
        connection.execute(statement)


def _m0002_named_places(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE named_places (
            key TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            latitude REAL NOT NULL,
            longitude REAL NOT NULL,
            radius_km REAL NOT NULL
        ) STRICT, WITHOUT ROWID"""
    )


MIGRATIONS: tuple[Migration, ...] = (_m0001_files_and_photos, _m0002_named_places)
