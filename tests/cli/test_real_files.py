"""Whole commands over the folders of odd files and of true EXIF: both tables come out right."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

Photocraft = Any  # conftest.py's Run; pytest gives no way to import it

# Its EXIF position is empty; the manifest's tool did not read the one in its XMP.
POSITION_IN_XMP = {"me_Nikon D5000.jpg": ("48.888726", "21.043251")}


class Indexed:
    """A folder after ``index``, as ``list --json`` and ``status --json`` tell it."""

    def __init__(self, photocraft: Photocraft, folder: Path, library: Path) -> None:
        assert photocraft("index", folder, "--library", library, "--quiet").code == 0
        listed = photocraft("list", "--json", "--library", library)
        self.photos = {Path(line["paths"][0]).name: line for line in listed.json_lines()}
        self.status = photocraft("status", "--json", "--library", library).json()
        self.skipped = {Path(row["path"]).name: row for row in self.status["skipped"]}


@pytest.fixture(scope="module")
def odd(photocraft: Photocraft, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    return Indexed(photocraft, shared / "data" / "odd", tmp_path_factory.mktemp("odd") / "library")


@pytest.fixture(scope="module")
def exif(photocraft: Photocraft, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    folder = tmp_path_factory.mktemp("exif")
    return Indexed(photocraft, shared / "data" / "exif", folder / "library")


def rows(table: Path) -> list[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_odd_file_is_listed_or_skipped_as_expected(odd: Indexed, shared: Path) -> None:
    wrong = []
    expected = rows(shared / "data" / "odd" / "expected.csv")
    for row in expected:
        name = row["file"]
        if row["outcome"] == "skip":
            if name not in odd.skipped or name in odd.photos or not odd.skipped[name]["reason"]:
                wrong.append(f"{name}: not skipped with a reason")
            continue
        photo = odd.photos.get(name)
        if photo is None:
            wrong.append(f"{name}: not listed")
            continue
        size = f"{photo['width']}x{photo['height']}"
        if size != row["upright_size"]:
            wrong.append(f"{name}: {size} instead of {row['upright_size']}")
        if photo["taken_at"] != (row["taken_at"] or None):
            wrong.append(f"{name}: {photo['taken_at']} instead of {row['taken_at']}")
        wrong += [
            f"{name}: {axis} {photo[axis]} instead of {row[axis]}"
            for axis in ("lat", "lon")
            if not close(photo[axis], row[axis])
        ]
    assert not wrong, "\n".join(wrong)
    assert len(odd.photos) + len(odd.skipped) == len(expected) == 41
    assert odd.status["photos"] == len(odd.photos)


def test_every_camera_file_has_the_time_place_and_size_of_the_manifest(
    exif: Indexed, shared: Path
) -> None:
    wrong = []
    manifest = rows(shared / "data" / "exif" / "manifest.csv")
    for row in manifest:
        photo = exif.photos.get(row["file"])
        if photo is None:
            wrong += [f"{row['file']}: lost"] * (row["file"] not in exif.skipped)
            continue
        wrong += [
            f"{row['file']}: {axis} {photo[axis]} instead of {expected}"
            for axis, expected in zip(("lat", "lon"), position(row), strict=True)
            if not close(photo[axis], expected)
        ]
        if row["exif_DateTimeOriginal"] and not same_time(photo["taken_at"], row):
            wrong.append(f"{row['file']}: {photo['taken_at']}")
        if row["width"] and (photo["width"], photo["height"]) != upright(row):
            wrong.append(f"{row['file']}: {photo['width']}x{photo['height']}")
    assert not wrong, "\n".join(wrong)
    assert len(exif.photos) + len(exif.skipped) == len(manifest) == 33


def close(value: float | None, expected: str) -> bool:
    if not expected:
        return value is None
    return value is not None and abs(value - float(expected)) < 1e-4


def position(row: dict[str, str]) -> tuple[str, str]:
    if row["gps_lat"] == row["gps_lon"] == "0":
        return "", ""  # a receiver without a fix, not a place in the Gulf of Guinea
    return POSITION_IN_XMP.get(row["file"], (row["gps_lat"], row["gps_lon"]))


def same_time(taken_at: str | None, row: dict[str, str]) -> bool:
    """Wall clock to the second; the offset only where the file states one."""
    if taken_at is None:
        return False
    taken = datetime.fromisoformat(taken_at)
    stated = datetime.strptime(row["exif_DateTimeOriginal"][:19], "%Y:%m:%d %H:%M:%S")
    offset = row["OffsetTimeOriginal"]
    zone = taken_at[-6:] if taken.tzinfo else ""
    return taken.replace(tzinfo=None, microsecond=0) == stated and (not offset or zone == offset)


def upright(row: dict[str, str]) -> tuple[int, int]:
    width, height = int(row["width"]), int(row["height"])
    turned = row["orientation"] in {"5", "6", "7", "8"} and row["file_type"] != "HEIC"
    return (height, width) if turned else (width, height)


def test_the_json_of_list_has_exactly_the_documented_keys(odd: Indexed) -> None:
    documented = ["uid", "paths", "taken_at", "lat", "lon", "width", "height", "flags"]
    assert all(list(photo) == documented for photo in odd.photos.values())
    assert odd.photos["trunc_half.jpg"]["flags"] == ["truncated"]
    assert "time-in-future" in odd.photos["date_future.jpg"]["flags"]


def test_every_skipped_file_is_named_with_its_reason_in_plain_status(
    photocraft: Photocraft, odd: Indexed
) -> None:
    plain = photocraft("status", "--library", odd.status["library"]).out.splitlines()
    for row in odd.status["skipped"]:
        lines = [line for line in plain if row["path"] in line]
        assert len(lines) == 1
        assert lines[0].startswith(f"  {row['reason']}: ")
