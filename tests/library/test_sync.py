"""What a sync tells apart: added, changed, moved, missing, restored, unreadable, unchanged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from small_album import Album, Indexer, counts

from photocraft_local.errors import UsageError
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.records import GeoPoint, PlaceName
from photocraft_local.settings import Settings


def test_new_photos_come_with_what_their_header_says(index: Indexer, album: Album) -> None:
    path = album.shoot(
        "a.jpg", 1, at="2021-06-14T10:31:00", near=(-33.5, -70.25), camera="Tiny 3000"
    )
    assert index().added == 1
    (photo,) = index.library.photos()
    assert photo.paths == (os.fsencode(path),)
    assert photo.taken is not None
    assert photo.taken.isoformat() == "2021-06-14T10:31:00"
    assert photo.taken.source == "exif:DateTimeOriginal"
    assert photo.location is not None
    assert (photo.location.latitude, photo.location.longitude) == pytest.approx((-33.5, -70.25))
    assert (photo.camera, photo.width, photo.height) == ("Tiny 3000", 40, 30)
    assert photo.format == "JPEG"
    assert not photo.offline


def test_an_unchanged_library_opens_no_file(index: Indexer, album: Album) -> None:
    for number in range(5):
        album.shoot(f"{number}.jpg", number)
    (album.folder / "broken.jpg").write_bytes(b"\xff\xd8 no")
    (album.folder / "film.mp4").write_bytes(b"film")
    index()
    before = index.library.generation()
    for path in album.folder.iterdir():
        _scramble(path)
    assert counts(index()) == {"unchanged": 7, "skipped": 2, "unreadable": 1}
    assert index.library.generation() == before


def test_the_library_adds_nothing_to_a_read_only_folder(index: Indexer, album: Album) -> None:
    album.shoot("sub/a.jpg", 1)
    before = _tree(album.folder)
    album.folder.chmod(0o500)
    try:
        assert index().added == 1
    finally:
        album.folder.chmod(0o700)
    assert _tree(album.folder) == before


def test_renamed_files_and_folders_keep_their_photos(index: Indexer, album: Album) -> None:
    for number in range(4):
        album.shoot(f"old/{number}.jpg", number)
    index()
    uids = {photo.uid for photo in index.library.photos()}
    (album.folder / "old").rename(album.folder / "new")
    (album.folder / "new" / "0.jpg").rename(album.folder / "first.jpg")
    assert counts(index()) == {"moved": 4}
    assert {photo.uid for photo in index.library.photos()} == uids
    assert index.names() == ["first.jpg", "new/1.jpg", "new/2.jpg", "new/3.jpg"]


def test_a_move_between_two_folders_is_a_move(index: Indexer, album: Album, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    album.shoot("a.jpg", 1)
    album.shoot("b.jpg", 2)
    shutil.copy(album.folder / "b.jpg", other / "c.jpg")
    index(album.folder, other)
    (uid,) = [photo.uid for photo in index.library.photos() if photo.paths[0].endswith(b"a.jpg")]
    (album.folder / "a.jpg").rename(other / "a.jpg")
    assert counts(index.again()) == {"moved": 1, "unchanged": 2}
    assert index.library.photo(uid).paths == (os.fsencode(other / "a.jpg"),)


def test_a_deleted_photo_is_out_at_once_and_comes_back_the_same(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("a.jpg", 1, at="2020-01-01T10:00:00")
    album.shoot("b.jpg", 2, at="2020-01-01T10:01:00")
    index()
    before = index.by_name()["a.jpg"]
    kept = tmp_path / "kept.jpg"
    shutil.move(album.folder / "a.jpg", kept)
    assert counts(index()) == {"missing": 1, "unchanged": 1}
    assert index.names() == ["b.jpg"]
    assert index.library.columns().photo_id.tolist() == [index.by_name()["b.jpg"].photo_id]
    assert [event.count for event in index.library.events()] == [1]
    assert index.library.photos_by_id([before.photo_id]) == {}
    shutil.copy(kept, album.folder / "elsewhere.jpg")
    assert counts(index()) == {"restored": 1, "unchanged": 1}
    assert index.by_name()["elsewhere.jpg"].photo_id == before.photo_id
    assert [event.count for event in index.library.events()] == [2]


def test_a_photo_put_back_in_its_place_is_restored_unread(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("a.jpg", 1)
    album.shoot("b.jpg", 2)
    index()
    (album.folder / "a.jpg").rename(tmp_path / "kept")
    index()
    (tmp_path / "kept").rename(album.folder / "a.jpg")
    _scramble(album.folder / "a.jpg")
    assert counts(index()) == {"restored": 1, "unchanged": 2}


def test_all_deleted_from_the_same_folder_is_missing_not_offline(
    index: Indexer, album: Album
) -> None:
    album.shoot("a.jpg", 1)
    index()
    (album.folder / "a.jpg").unlink()
    report = index()
    assert counts(report) == {"missing": 1}
    assert report.offline_roots == ()
    assert index.library.count() == 0


def test_another_content_under_the_same_path_is_another_photo(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    index()
    first = index.by_name()["a.jpg"]
    album.shoot("a.jpg", 1000)
    assert counts(index()) == {"changed": 1, "missing": 1}
    second = index.by_name()["a.jpg"]
    assert second.uid != first.uid
    assert index.library.count() == 1


def test_two_photos_that_swap_their_names_stay_themselves(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    album.shoot("b.jpg", 2000)
    index()
    before = index.by_name()
    for source, target in (("a.jpg", "x"), ("b.jpg", "a.jpg"), ("x", "b.jpg")):
        (album.folder / source).rename(album.folder / target)
    index()
    after = index.by_name()
    assert (after["a.jpg"].uid, after["b.jpg"].uid) == (before["b.jpg"].uid, before["a.jpg"].uid)
    assert index.library.count() == 2


def test_exact_duplicates_are_one_photo_with_several_paths(index: Indexer, album: Album) -> None:
    path = album.shoot("a.jpg", 1)
    shutil.copy(path, album.folder / "copy.jpg")
    assert counts(index()) == {"added": 1, "duplicates": 1}
    (photo,) = index.library.photos()
    assert sorted(Path(os.fsdecode(path)).name for path in photo.paths) == ["a.jpg", "copy.jpg"]
    path.unlink()
    assert counts(index()) == {"unchanged": 1}
    (again,) = index.library.photos()
    assert again.uid == photo.uid
    assert [Path(os.fsdecode(path)).name for path in again.paths] == ["copy.jpg"]


def test_a_touched_file_is_still_the_same_photo(index: Indexer, album: Album) -> None:
    path = album.shoot("a.jpg", 1)
    index()
    os.utime(path, (1, 1))
    assert counts(index()) == {"unchanged": 1}
    assert counts(index()) == {"unchanged": 1}


def test_what_is_no_photo_is_reported_with_its_reason(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    (album.folder / "empty.jpg").write_bytes(b"")
    (album.folder / "page.png").write_bytes(b"<html>404</html>")
    (album.folder / "film.mp4").write_bytes(b"\0\0\0\x18ftypmp42")
    (album.folder / "art.psd").write_bytes(b"8BPS")
    (album.folder / "notes.txt").write_bytes(b"hello")
    (album.folder / "nowhere.jpg").symlink_to("gone.jpg")
    assert counts(index()) == {"added": 1, "skipped": 5, "unreadable": 2}
    assert index.skipped() == {
        "empty.jpg": "unreadable",
        "page.png": "unsupported",
        "film.mp4": "video",
        "art.psd": "unsupported",
        "nowhere.jpg": "unreadable",
    }


def test_a_photo_that_becomes_unreadable_is_reported_and_may_recover(
    index: Indexer, album: Album
) -> None:
    path = album.shoot("a.jpg", 1)
    album.shoot("b.jpg", 2)
    content = path.read_bytes()
    index()
    uid = index.by_name()["a.jpg"].uid
    path.write_bytes(b"\xff\xd8\xff garbage")
    report = index()
    assert (report.unreadable, report.missing) == (1, 1)
    assert index.skipped() == {"a.jpg": "unreadable"}
    assert index.names() == ["b.jpg"]
    path.write_bytes(content)
    assert index().restored == 1
    assert index.skipped() == {}
    assert index.by_name()["a.jpg"].uid == uid


def test_a_picture_above_the_limit_is_skipped_until_the_limit_is_raised(
    album: Album, tmp_path: Path
) -> None:
    from PIL import Image

    Image.new("1", (2000, 1000)).save(album.folder / "large.png")
    folder = [os.fsencode(album.folder)]
    small = Settings(library=tmp_path / "library", max_pixels=1_500_000)
    with Library.open(small.library, create=True, settings=small) as library:
        sync(library, folder)
        assert [(s.reason, "2,000,000 pixels" in s.message) for s in library.skipped()] == [
            ("too-large", True)
        ]
        assert sync(library, folder).unchanged == 1
    with Library.open(small.library, settings=Settings(library=small.library)) as library:
        assert sync(library, folder).added == 1
        assert library.skipped() == []


def test_names_that_are_not_utf8_work(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    name = os.fsencode(album.folder) + b"/caf\xe9 \xff.jpg"
    (album.folder / "a.jpg").rename(os.fsdecode(name))
    assert index().added == 1
    (photo,) = index.library.photos()
    assert photo.paths == (name,)
    assert index().unchanged == 1


def test_nested_and_linked_roots_index_no_file_twice(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("sub/a.jpg", 1)
    album.shoot("b.jpg", 2)
    link = tmp_path / "link"
    link.symlink_to(album.folder)
    index(album.folder / "sub")
    assert counts(index(link, album.folder, album.folder / "sub")) == {"added": 1, "unchanged": 1}
    assert index.library.roots() == [os.fsencode(album.folder)]
    assert [len(photo.paths) for photo in index.library.photos()] == [1, 1]
    album.shoot("sub/c.jpg", 3)
    (album.folder / "b.jpg").unlink()
    assert counts(index(album.folder / "sub")) == {"added": 1, "unchanged": 1}
    assert counts(index()) == {"missing": 1, "unchanged": 2}


def test_links_inside_a_folder_give_no_second_photo(index: Indexer, album: Album) -> None:
    album.shoot("sub/a.jpg", 1)
    (album.folder / "again").symlink_to("sub")
    (album.folder / "sub" / "loop").symlink_to("..")
    (album.folder / "b.jpg").symlink_to("sub/a.jpg")
    assert counts(index()) == {"added": 1, "duplicates": 1}
    (photo,) = index.library.photos()
    assert len(photo.paths) == 2


class Lisbon:
    """A gazetteer that knows one city and counts its questions."""

    def __init__(self) -> None:
        self.asked: list[GeoPoint] = []

    def name(self, lat: float, lon: float) -> PlaceName | None:
        self.asked.append(GeoPoint(lat, lon))
        if abs(lat - 38.7) < 1 and abs(lon + 9.1) < 1:
            return PlaceName("Lisbon", "Lisbon", "Portugal", "PT", 1.5)
        return None


def test_a_link_into_the_library_gives_no_photo_of_its_crops(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    index()
    uid = index.by_name()["a.jpg"].uid
    index.library.add_crop(uid, (0, 0, 8, 8), album.shoot("crop.png", 2).read_bytes())
    (album.folder / "crop.png").unlink()
    (album.folder / "mine").symlink_to(index.library.path)
    (album.folder / "crops").symlink_to(index.library.path.parent)
    index()
    assert list(index.by_name()) == ["a.jpg"]


def test_places_are_named_once_also_for_photos_that_came_before_the_gazetteer(
    index: Indexer, album: Album
) -> None:
    album.shoot("a.jpg", 1, near=(38.7, -9.1))
    album.shoot("sea.jpg", 2, near=(0.5, -30.0))
    index()
    assert index.by_name()["a.jpg"].place is None
    album.shoot("b.jpg", 3, near=(38.8, -9.2))
    lisbon = Lisbon()
    index(places=lisbon)
    index(places=lisbon)
    assert len(lisbon.asked) == 3
    photos = index.by_name()
    assert (
        photos["b.jpg"].place
        == photos["a.jpg"].place
        == PlaceName("Lisbon", "Lisbon", "Portugal", "PT", 1.5)
    )
    assert photos["sea.jpg"].place is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "nowhere", "does not exist"),
        (lambda folder: _touched(folder / "file.jpg"), "is a file, not a folder"),
        (lambda folder: _made(folder / "empty"), "there is no photo in"),
        (lambda folder: folder.parent / "library", "inside the other"),
        (lambda folder: folder.parent, "inside the other"),
    ],
)
def test_folders_that_cannot_be_indexed(
    index: Indexer, album: Album, make: Callable[[Path], Path], message: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        index(make(album.folder))
    assert caught.value.hint
    assert index.library.roots() == []


def test_all_roots_of_a_library_without_any(index: Indexer) -> None:
    with pytest.raises(UsageError, match="no folder was indexed yet"):
        index.again()


def _touched(path: Path) -> Path:
    path.write_bytes(b"x")
    return path


def _made(path: Path) -> Path:
    path.mkdir()
    return path


def _scramble(path: Path) -> None:
    """Other bytes of the same size and time: whoever opens the file takes it for another."""
    facts = path.stat()
    path.write_bytes(bytes(facts.st_size))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def _tree(folder: Path) -> list[tuple[str, int, int]]:
    return sorted(
        (str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")
    )
