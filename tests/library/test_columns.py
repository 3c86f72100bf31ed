"""Columns and photos say the same, and reading columns is cheap."""

from __future__ import annotations

import hashlib
import math

import numpy as np
from small_album import Album, Indexer

from photocraft_local.library.columns import NO_EVENT, NO_OFFSET, NO_TIME, LibraryColumns
from photocraft_local.library.library import Library
from photocraft_local.library.rows import seconds_of
from photocraft_local.records import Photo, PlaceName


class Somewhere:
    def name(self, lat: float, lon: float) -> PlaceName | None:
        if lat < 0:
            return None
        return PlaceName(f"City {int(lat)}", "Region", "Land", "LL", 2.0)


def assert_same(photo: Photo, columns: LibraryColumns, row: int) -> None:
    assert columns.photo_id[row] == photo.photo_id
    assert columns.uid[row] == photo.uid
    seconds = seconds_of(photo.taken.local) if photo.taken else NO_TIME
    assert columns.local_seconds[row] == seconds
    offset = photo.taken.offset_minutes if photo.taken else None
    assert columns.offset_minutes[row] == (NO_OFFSET if offset is None else offset)
    if photo.location:
        assert columns.latitude[row] == photo.location.latitude
        assert columns.longitude[row] == photo.location.longitude
    else:
        assert math.isnan(columns.latitude[row])
        assert math.isnan(columns.longitude[row])
    assert (columns.width[row], columns.height[row]) == (photo.width, photo.height)
    assert columns.cameras[columns.camera[row]] == photo.camera
    place = photo.place or PlaceName("", "", "", "", 0)
    assert columns.cities[columns.city[row]] == place.city
    assert columns.regions[columns.region[row]] == place.region
    assert columns.countries[columns.country[row]] == place.country
    assert columns.country_codes[columns.country_code[row]] == place.country_code
    mask = int(columns.flags[row])
    assert photo.flags == tuple(n for i, n in enumerate(columns.flag_names) if mask >> i & 1)
    assert columns.event_id[row] == (NO_EVENT if photo.event_id is None else photo.event_id)
    assert columns.offline[row] == photo.offline


def test_columns_equal_the_photos(index: Indexer, album: Album) -> None:
    for number in range(30):
        album.shoot(
            f"{number}.jpg",
            number,
            at=f"20{number:02}-01-01T00:00:{number:02}" if number % 3 else None,
            near=(number - 5.5, number * 2.0) if number % 4 else None,
            camera=f"Camera {number % 3}" if number % 5 else "",
        )
    album.shoot("Screenshot_2020.jpg", 99, at="1965-02-03T04:05:06")
    index(places=Somewhere())
    columns = index.library.columns()
    photos = list(index.library.photos())
    assert len(columns) == len(photos) == 31
    for row, photo in enumerate(photos):
        assert_same(photo, columns, row)
    assert any("screenshot" in photo.flags for photo in photos)
    assert columns.generation == index.library.generation()


def test_the_real_photos_have_the_same_columns(index: Indexer, shared: object) -> None:
    from pathlib import Path

    assert isinstance(shared, Path)
    index(shared / "data" / "exif", shared / "data" / "odd")
    columns = index.library.columns()
    for row, photo in enumerate(index.library.photos()):
        assert_same(photo, columns, row)


def test_an_empty_library_has_empty_columns(library: Library) -> None:
    columns = library.columns()
    assert len(columns) == 0
    assert columns.local_seconds.dtype == np.int64
    assert columns.cities == ("",)


def fill(library: Library, count: int) -> None:
    """Rows of photos without files; enough for reading."""
    rows = [
        (f"p{i:07}", hashlib.sha256(b"%d" % i).digest(), 1_500_000_000 + i * 977, i % 90, i % 180)
        for i in range(count)
    ]
    with library.changes() as database:
        database.execute_many(
            "INSERT INTO photos (uid, digest, format, width, height, taken_seconds, latitude,"
            " longitude) VALUES (?, ?, 'JPEG', 4000, 3000, ?, ?, ?)",
            rows,
        )


def test_ten_thousand_rows_are_read_at_once(library: Library) -> None:
    fill(library, 10_000)
    columns = library.columns()
    assert len(columns) == 10_000
    assert len(set(columns.uid)) == 10_000
