"""Pictures of crops are cleared by age and room, and cut again from the photo when wanted."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from small_album import Album, Indexer

from photocraft_local.errors import UnreadablePhoto
from photocraft_local.imaging.crops import crop_view
from photocraft_local.imaging.geometry import Box
from photocraft_local.imaging.pictures import png_bytes
from photocraft_local.library.library import Library

DAY = 86_400
BOX = Box(10, 5, 60, 40)


@pytest.fixture
def library(index: Indexer, album: Album, shared: Path) -> Library:
    """Three real photos."""
    album.folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((shared / "data/captioned/coco").glob("*.jpg"))[:3]:
        shutil.copy(path, album.folder / path.name)
    index()
    return index.library


def cut(library: Library, number: int, *, days_ago: float = 0) -> str:
    """A crop of the photo of that number, as zoom_in makes it, last used so long ago."""
    photo = list(library.photos())[number]
    png = png_bytes(crop_view(photo.paths[0], BOX).pixels)
    uid = library.add_crop(photo.uid, BOX.corners(), png)
    used = time.time() - days_ago * DAY
    os.utime(library.crop(uid).path, (used, used))
    return uid


def is_there(library: Library, uid: str) -> bool:
    return library.crop(uid).path.exists()


def limits(library: Library, **how: float) -> None:
    library.settings = replace(library.settings, **how)  # type: ignore[arg-type]


def test_what_was_not_used_for_long_is_cleared_and_cut_again_alike(library: Library) -> None:
    old, new = cut(library, 0, days_ago=91), cut(library, 1, days_ago=89)
    before = library.crop(old).path.read_bytes()
    done = library.compact()
    assert (done.crops, done.crop_bytes) == (1, len(before))
    assert not is_there(library, old)
    assert is_there(library, new)
    assert library.crop_picture(old).read_bytes() == before
    assert library.crop(old).uid == old
    assert library.compact().crops == 0  # it was used just now


def test_being_looked_at_is_being_used(library: Library) -> None:
    uid = cut(library, 0, days_ago=200)
    library.crop_picture(uid)
    assert library.compact().crops == 0


def test_the_longest_unused_make_room(library: Library) -> None:
    uids = [cut(library, number, days_ago=number) for number in range(3)]
    limits(library, crops_megabytes=0)
    assert library.compact().crops == 3
    for number, uid in enumerate(uids):
        library.crop_picture(uid)
        used = time.time() - number * DAY
        os.utime(library.crop(uid).path, (used, used))
    sizes = [library.crop(uid).path.stat().st_size for uid in uids]
    with library.write_lock():
        from photocraft_local.library.old_crops import clear

        done = clear(library, most_bytes=sizes[0] + sizes[1], days=90)
    assert (done.crops, done.size) == (1, sizes[2])
    assert [is_there(library, uid) for uid in uids] == [True, True, False]


def test_a_crop_whose_photo_is_away_is_never_cleared(
    library: Library, index: Indexer, album: Album, tmp_path: Path
) -> None:
    uid = cut(library, 0, days_ago=1000)
    limits(library, crops_megabytes=0, crops_days=0)
    album.folder.rename(tmp_path / "away")
    index.again()
    assert index.library.compact().crops == 0
    assert is_there(index.library, uid)


def test_it_is_never_cut_out_of_another_picture(library: Library, album: Album) -> None:
    uid = cut(library, 0, days_ago=1000)
    library.compact()
    photo = library.photo(uid)
    other = list(library.photos())[1].paths[0]
    shutil.copy(os.fsdecode(other), os.fsdecode(photo.paths[0]))
    with pytest.raises(UnreadablePhoto, match="cleared"):
        library.crop_picture(uid)
    assert not is_there(library, uid)


def test_what_no_row_names_is_swept(library: Library) -> None:
    uid = cut(library, 0)
    folder = library.crop(uid).path.parent
    parent = uid.partition(".")[0]
    for name in (f"{parent}.c9.png", "pzzzzz.c1.png", f".{parent}.c2.png.part", "stray"):
        (folder / name).write_bytes(b"x")
    assert library.compact().crops == 4
    assert [path.name for path in folder.iterdir()] == [f"{uid}.png"]


def test_numbers_are_not_given_again(library: Library) -> None:
    first = cut(library, 0, days_ago=1000)
    library.compact()
    photo = library.photo(first)
    png = png_bytes(crop_view(photo.paths[0], Box(0, 0, 30, 30)).pixels)
    assert library.add_crop(photo.uid, (0, 0, 30, 30), png) == f"{photo.uid}.c2"
    assert cut(library, 0) == first
