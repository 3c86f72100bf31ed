"""The odd files, indexed to the end: who is in the library, when and where, and who is not."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from small_album import Indexer

from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.embeddings.pipeline import index_pending
from photocraft_local.embeddings.space import VectorSpace


def rows(shared: Path) -> dict[str, dict[str, str]]:
    with (shared / "data" / "odd" / "expected.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def test_every_odd_file_ends_as_expected(index: Indexer, shared: Path) -> None:
    expected = rows(shared)
    library = index.library
    index(shared / "data" / "odd")
    encoder = NullEncoder()
    folder = library.spaces_folder / encoder.spec.space_id
    space = VectorSpace.open(folder, encoder.spec, create=True)
    index_pending(library, space, encoder)

    photos = {Path(os.fsdecode(p)).name: photo for photo in library.photos() for p in photo.paths}
    skipped = index.skipped()
    assert photos.keys() == {name for name, row in expected.items() if row["outcome"] == "index"}
    assert skipped.keys() >= {name for name, row in expected.items() if row["outcome"] == "skip"}
    assert not skipped.keys() & photos.keys()
    assert len(space) == library.count()
    for name, photo in photos.items():
        row = expected[name]
        taken = photo.taken.isoformat() if photo.taken else ""
        assert taken.startswith(row["taken_at"][:19]), name
        assert bool(taken) == bool(row["taken_at"]), name
        if row["lat"]:
            assert photo.location is not None, name
            assert photo.location.latitude == pytest.approx(float(row["lat"]), abs=1e-4)
            assert photo.location.longitude == pytest.approx(float(row["lon"]), abs=1e-4)
        else:
            assert photo.location is None, name
        assert f"{photo.width}x{photo.height}" == row["upright_size"], name


def test_captioned_photos_are_all_there_with_uids_of_six_characters(
    index: Indexer, shared: Path
) -> None:
    report = index(shared / "data" / "captioned")
    uids = [photo.uid for photo in index.library.photos()]
    assert report.added == len(uids) == len(set(uids))
    assert len(uids) >= 180
    assert {len(uid) for uid in uids} == {6}
