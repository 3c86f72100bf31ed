"""The demo album: real photos of installed packages, with times and places that are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from photocraft_local.cli.demo_album import DEMO_PHOTOS, build_album
from photocraft_local.files.metadata import read_metadata

pytest.importorskip("skimage.data", reason="DEMO EXTRA ABSENT: no package photos")


def test_every_photo_carries_the_stated_time_and_place(tmp_path: Path) -> None:
    written = list(build_album(tmp_path / "album"))
    assert len(written) == len(DEMO_PHOTOS) == len(set(written))
    for path, photo in zip(written, DEMO_PHOTOS, strict=True):
        facts = read_metadata(bytes(path))
        assert facts.taken is not None
        assert facts.taken.isoformat() == photo.taken
        if photo.latitude is None:
            assert facts.location is None
        else:
            assert facts.location is not None
            assert facts.location.latitude == pytest.approx(photo.latitude, abs=1e-4)
            assert facts.location.longitude == pytest.approx(photo.longitude, abs=1e-4)


def test_building_twice_changes_nothing(tmp_path: Path) -> None:
    first = {path: path.stat().st_mtime_ns for path in build_album(tmp_path)}
    again = {path: path.stat().st_mtime_ns for path in build_album(tmp_path)}
    assert first == again
    assert sorted(first) == sorted(tmp_path.iterdir())


def test_each_copy_says_that_its_time_and_place_are_made_up(tmp_path: Path) -> None:
    for path in build_album(tmp_path):
        with Image.open(path) as picture:
            assert "made up" in picture.getexif()[0x010E]
