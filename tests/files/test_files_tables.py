"""Every row of the shared tables of odd and of real files comes out right."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from photocraft_local.errors import PhotoError
from photocraft_local.files.decode import decode_upright
from photocraft_local.files.flags import FLAGS
from photocraft_local.files.metadata import read_metadata

# What "special" or "note" asks for beside the columns.
ODD_FLAGS = {
    "date_future.jpg": "time-in-future",
    "date_zero.jpg": "time-from-fallback",
    "garbage_exif.jpg": "unreadable-exif",
    "gps_no_ref.jpg": "gps-without-hemisphere",
    "gps_null_island.jpg": "gps-null-island",
    "gps_void_empty.jpg": "gps-void",
    "gps_zero_over_zero.jpg": "gps-invalid",
    "orient_0.jpg": "bad-orientation",
    "two.mpo.jpg": "multi-picture",
}
# Rows whose truth is in the words of "special": the time by the order of sources, and offsets
# that satellite time proves.
SPECIAL_TIMES = {
    "go_infinite_loop_exif.jpg": "2007-05-10T19:04:16",
    "ia_67-0_length_string.jpg": "2016-09-12T10:05:31",
    "ia_Crémieux11.tiff": "2012-01-09T22:52:11",
    "ia_no_exif.jpg": "2013-09-23T10:09:46+02:00",
    "im_gps-datetime.jpg": "2023-11-15T04:30:00-08:00",
    "im_thompson-springs.jpg": "2022-01-10T15:15:44.310000",
    "me_Photoshop (3).jpg": "2015-06-29T18:15:36+01:00",
    "pi_exif_gps_typeerror.jpg": "2010-07-11T13:53:00+02:00",
    "pi_invalid-exif.jpg": "2017-03-13T23:03:09-07:00",
}
PROVEN_OFFSETS = {"im_IMG_2682.heic": -300, "me_Issue 473 (Java).webp": -420}
SPECIAL_PLACES = {
    "me_Nikon D5000.jpg": (48.888726, 21.043251),  # EXIF lacks the seconds, XMP agrees
    "me_Samsung GT-I9000 (Galaxy S).jpg": None,
}
NOT_PICTURES = {"ph_empty.heic", "me_NegativeArraySizeException.HeifReader.processBoxes.heif"}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def test_every_odd_file_is_as_expected(shared: Path) -> None:
    table = rows(shared / "data/odd/expected.csv")
    assert len(table) == 41
    for row in table:
        path = bytes(shared / "data/odd" / row["file"])
        if row["outcome"] == "skip":
            with pytest.raises(PhotoError, match=row["file"]):
                read_metadata(path)
            with pytest.raises(PhotoError, match=row["file"]):
                decode_upright(path, short_side=224)
            continue
        found = read_metadata(path)
        assert (found.taken.isoformat() if found.taken else "") == row["taken_at"], row
        if row["lat"]:
            assert found.location
            assert found.location.latitude == pytest.approx(float(row["lat"]), abs=1e-6)
            assert found.location.longitude == pytest.approx(float(row["lon"]), abs=1e-6)
        else:
            assert found.location is None, row
        assert f"{found.width}x{found.height}" == row["upright_size"], row
        assert ODD_FLAGS.get(row["file"], "truncated") in (*found.flags, "truncated"), row
        assert set(found.flags) <= set(FLAGS)
        decoded = decode_upright(path, short_side=224)
        assert f"{decoded.width}x{decoded.height}" == row["upright_size"], row
        assert min(decoded.pixels.shape[:2]) == min(224, found.width, found.height), row
        assert ("truncated" in decoded.flags) == (row["file"] == "trunc_half.jpg"), row


def test_pixels_of_odd_files(shared: Path) -> None:
    def pixels(name: str) -> np.ndarray:
        return decode_upright(bytes(shared / "data/odd" / name)).pixels

    assert np.abs(pixels("cmyk_red.jpg").astype(int) - (255, 0, 0)).max() <= 3
    assert len(np.unique(pixels("gray16.png"))) == 256
    assert (pixels("rgba_clear.png") == 255).all()
    assert (pixels("pal_bytes_transp.png") == 255).all()
    upright = pixels("orient_6.jpg").astype(int)
    for name in ("xmp_only_orient.jpg", "orient6.webp", "orient6.heic", "double_exif.jpg"):
        assert np.abs(pixels(name).astype(int) - upright).mean() < 3, name
    stored = pixels("orient_1.jpg")
    assert (pixels("orient_3.jpg") == stored[::-1, ::-1]).all()
    assert (pixels("orient_6.jpg") == np.rot90(stored, -1)).all()
    assert (pixels("orient_8.jpg") == np.rot90(stored, 1)).all()
    assert (pixels("orient_0.jpg") == stored).all()


def test_every_real_file_is_as_the_manifest_says(shared: Path) -> None:
    table = rows(shared / "data/exif/manifest.csv")
    assert len(table) == 33
    for row in table:
        name = row["file"]
        path = bytes(shared / "data/exif" / name)
        if name in NOT_PICTURES:
            with pytest.raises(PhotoError, match=name.split(" ")[0]):
                read_metadata(path)
            continue
        found = read_metadata(path)
        orientation = int(row["orientation"] or 1)
        assert found.orientation == orientation, row
        size = int(row["width"]), int(row["height"])
        assert (found.width, found.height) == (size[::-1] if orientation >= 5 else size), row
        assert set(found.flags) <= set(FLAGS)
        _check_time(row, found.taken)
        _check_place(row, found.location)


def _check_time(row: dict[str, str], taken: object) -> None:
    name = row["file"]
    if name in SPECIAL_TIMES or not row["exif_DateTimeOriginal"]:
        assert (taken.isoformat() if taken else None) == SPECIAL_TIMES.get(name), row  # type: ignore[attr-defined]
        return
    truth = datetime.strptime(row["exif_DateTimeOriginal"][:19], "%Y:%m:%d %H:%M:%S")
    assert taken.local.replace(microsecond=0) == truth, row  # type: ignore[attr-defined]
    fraction = (row["SubSecDateTimeOriginal"] or row["exif_DateTimeOriginal"]).partition(".")[2]
    digits = fraction.partition("+")[0].partition("-")[0]
    assert taken.local.microsecond == int(f"{digits:0<6}"), row  # type: ignore[attr-defined]
    offset = PROVEN_OFFSETS.get(name)
    if row["OffsetTimeOriginal"]:
        sign, hours = row["OffsetTimeOriginal"][0], row["OffsetTimeOriginal"][1:3]
        offset = int(sign + hours) * 60
    elif row["TimeZoneOffset"]:
        offset = int(row["TimeZoneOffset"]) * 60
    assert taken.offset_minutes == offset, row  # type: ignore[attr-defined]


def _check_place(row: dict[str, str], location: object) -> None:
    truth = (float(row["gps_lat"]), float(row["gps_lon"])) if row["gps_lat"] else None
    truth = SPECIAL_PLACES.get(row["file"], truth)
    if truth is None:
        assert location is None, row
    else:
        assert location.latitude == pytest.approx(truth[0], abs=1e-6), row  # type: ignore[attr-defined]
        assert location.longitude == pytest.approx(truth[1], abs=1e-6), row  # type: ignore[attr-defined]


def test_every_real_file_decodes_to_the_size_its_header_says(shared: Path) -> None:
    originals = sorted((shared / "data/exif").iterdir()) + sorted(
        (shared / "data/captioned/rclip").iterdir()
    )
    decoded = 0
    for original in originals:
        if original.suffix == ".csv" or original.name in NOT_PICTURES:
            continue
        found = read_metadata(bytes(original))
        picture = decode_upright(bytes(original), short_side=160)
        assert (picture.width, picture.height) == (found.width, found.height), original
        truncated = original.name in ("pi_truncated_image.png", "pi_ultrahdr.jpg")
        assert ("truncated" in picture.flags) == truncated, original
        assert "damaged" not in picture.flags, original
        decoded += 1
    assert decoded == 53
