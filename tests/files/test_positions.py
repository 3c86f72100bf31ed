"""Positions: hemispheres, undefined parts, odd types, XMP and what is no place."""

from __future__ import annotations

from pathlib import Path

import pytest
from photo_maker import Field, dms, exif_block, jpeg, write, xmp

from photocraft_local.files.metadata import read_metadata
from photocraft_local.records import FileMetadata

LAT, LON = dms(18, 32, 4353), dms(70, 19, 5240)
DEGREES = 18.545425, 70.331222


def read(folder: Path, gps: dict[int, Field] | None, packet: str = "") -> FileMetadata:
    data = jpeg(exif_block(gps=gps) if gps is not None else b"", packet)
    return read_metadata(write(folder / "p.jpg", data))


@pytest.mark.parametrize(
    ("letters", "signs"), [("NE", (1, 1)), ("SW", (-1, -1)), ("SE", (-1, 1)), ("NW", (1, -1))]
)
@pytest.mark.parametrize("order", "<>")
def test_hemispheres(letters: str, signs: tuple[int, int], order: str, tmp_path: Path) -> None:
    block = exif_block(gps={1: letters[0], 2: LAT, 3: letters[1], 4: LON}, order=order)
    found = read_metadata(write(tmp_path / "p.jpg", jpeg(block))).location
    assert found
    assert found.latitude == pytest.approx(DEGREES[0] * signs[0], abs=1e-6)
    assert found.longitude == pytest.approx(DEGREES[1] * signs[1], abs=1e-6)


NE = {1: "N", 3: "E"}


@pytest.mark.parametrize(
    ("gps", "place"),
    [
        ({**NE, 2: dms(0, 0, 0), 4: dms(10, 0, 0)}, (0.0, 10.0)),
        ({**NE, 2: [(41, 1), (1322, 100), (0, 0)], 4: LON}, (41.220333, DEGREES[1])),
        ({**NE, 2: [(41, 1), (1322, 100), (5, 0)], 4: LON}, (41.220333, DEGREES[1])),
        ({**NE, 2: [(415, 10), (0, 0), (0, 0)], 4: LON}, (41.5, DEGREES[1])),
        ({**NE, 2: [(415, 10)], 4: [(103, 10)]}, (41.5, 10.3)),
        ({**NE, 2: [(41, 1), (30, 1)], 4: LON}, (41.5, DEGREES[1])),
        ({**NE, 2: dms(41, 59, 6000), 4: LON}, (42.0, DEGREES[1])),
        ({**NE, 2: "41.5", 4: "10.25"}, (41.5, 10.25)),
        ({2: "41,30.0N", 4: "10,15,0W"}, (41.5, -10.25)),
        ({1: "North", 3: "w", 2: LAT, 4: LON}, (DEGREES[0], -DEGREES[1])),
        ({**NE, 9: "A", 2: LAT, 4: LON}, DEGREES),
        ({**NE, 2: dms(90, 0, 0), 4: dms(180, 0, 0)}, (90.0, 180.0)),
    ],
)
def test_unusual_but_sound(
    gps: dict[int, Field], place: tuple[float, float], tmp_path: Path
) -> None:
    found = read(tmp_path, gps).location
    assert found
    assert (found.latitude, found.longitude) == pytest.approx(place, abs=1e-5)


@pytest.mark.parametrize(
    ("gps", "flag"),
    [
        ({2: LAT, 4: LON}, "gps-without-hemisphere"),
        ({1: "N", 2: LAT, 4: LON}, "gps-without-hemisphere"),
        ({1: "", 2: LAT, 3: " ", 4: LON}, "gps-without-hemisphere"),
        ({1: "E", 2: LAT, 3: "N", 4: LON}, "gps-invalid"),
        ({**NE, 2: dms(0, 0, 0), 4: dms(0, 0, 0)}, "gps-null-island"),
        ({2: dms(0, 0, 0), 4: dms(0, 0, 0)}, "gps-null-island"),
        ({**NE, 2: [(0, 0)] * 3, 4: [(0, 0)] * 3}, "gps-invalid"),
        ({**NE, 2: [(41, 1), (0, 0), (0, 0)], 4: LON}, "gps-invalid"),
        ({**NE, 2: dms(91, 0, 0), 4: LON}, "gps-invalid"),
        ({**NE, 2: LAT, 4: dms(181, 0, 0)}, "gps-invalid"),
        ({**NE, 2: dms(41, 75, 0), 4: LON}, "gps-invalid"),
        ({**NE, 2: "somewhere", 4: LON}, "gps-invalid"),
        ({**NE, 2: LAT}, "gps-invalid"),
        ({9: "V", 1: "", 3: ""}, "gps-void"),
        ({**NE, 9: "V", 2: LAT, 4: LON}, "gps-void"),
        ({0x1D: "2021:01:01"}, None),
        ({}, None),
    ],
)
def test_no_place(gps: dict[int, Field], flag: str | None, tmp_path: Path) -> None:
    found = read(tmp_path, gps)
    assert found.location is None
    assert [name for name in found.flags if name.startswith("gps")] == ([flag] if flag else [])


def xmp_place(latitude: str, longitude: str, more: str = "") -> str:
    return xmp(f'exif:GPSLatitude="{latitude}" exif:GPSLongitude="{longitude}" {more}')


@pytest.mark.parametrize(
    ("latitude", "longitude", "place"),
    [
        ("41,13.218N", "96,4.2975W", (41.2203, -96.071625)),
        ("48,53,19.4N", "21,2,35.7E", (48.888722, 21.043250)),
        ("41.2203S", "W96.071625", (-41.2203, -96.071625)),
    ],
)
def test_xmp_position(
    latitude: str, longitude: str, place: tuple[float, float], tmp_path: Path
) -> None:
    found = read(tmp_path, None, xmp_place(latitude, longitude))
    assert found.location
    assert (found.location.latitude, found.location.longitude) == pytest.approx(place, abs=1e-5)
    assert found.flags == ("gps-from-xmp",)


def test_xmp_stands_in_where_exif_has_no_place(tmp_path: Path) -> None:
    packet = xmp_place("41,13.218N", "96,4.2975W")
    for gps in ({2: LAT, 4: LON}, {**NE, 2: [(0, 0)] * 3, 4: [(0, 0)] * 3}, {9: "V"}):
        found = read(tmp_path, gps, packet)
        assert found.location
        assert found.location.latitude == pytest.approx(41.2203)
        assert found.flags == ("gps-from-xmp",)
    both = read(tmp_path, {**NE, 2: LAT, 4: LON}, packet)
    assert both.location
    assert both.location.latitude == pytest.approx(DEGREES[0])


@pytest.mark.parametrize(
    ("packet", "flag"),
    [
        (xmp_place("41.2203", "96.071625"), "gps-without-hemisphere"),
        (xmp_place("0,0N", "0,0E"), "gps-null-island"),
        (xmp_place("99,0N", "0,5E"), "gps-invalid"),
        (xmp_place("41,13N", "96,4W", 'exif:GPSStatus="V"'), "gps-void"),
    ],
)
def test_no_place_in_xmp(packet: str, flag: str, tmp_path: Path) -> None:
    found = read(tmp_path, None, packet)
    assert found.location is None
    assert found.flags == (flag,)
