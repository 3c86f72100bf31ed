"""A drive that is not mounted is offline, not deleted; a folder that is closed is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_album import Album, Indexer, counts

from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[Path], None]]:
    """Mounts a small tmpfs on a folder; skips loudly where that is not permitted."""
    mounts: list[Path] = []

    def mount(folder: Path) -> None:
        command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", os.fspath(folder)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as exc:
            pytest.skip(f"MOUNTS NOT TESTED: cannot mount a tmpfs here ({exc})")
        mounts.append(folder)

    yield mount
    for folder in mounts:
        subprocess.run(["umount", os.fspath(folder)], check=False, capture_output=True)


def assert_all_offline(index: Indexer, count: int) -> None:
    photos = list(index.library.photos())
    assert [photo.offline for photo in photos] == [True] * count
    assert list(index.library.photos(include_offline=False)) == []
    assert index.library.columns().offline.tolist() == [True] * count
    assert index.library.status().offline == count
    assert index.library.offline_roots() == [os.fsencode(index.album.folder)]


def test_a_folder_that_is_gone_is_offline_and_comes_back_unread(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("a.jpg", 1)
    album.shoot("b.jpg", 2)
    index()
    album.folder.rename(tmp_path / "away")
    report = index.again()
    assert report.offline_roots == (os.fsencode(album.folder),)
    assert counts(report) == {}
    assert_all_offline(index, 2)
    (tmp_path / "away").rename(album.folder)
    assert counts(index.again()) == {"unchanged": 2}
    assert [photo.offline for photo in index.library.photos()] == [False, False]


def test_an_opened_library_sees_without_a_sync_what_is_not_mounted(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("a.jpg", 1)
    index()
    album.folder.rename(tmp_path / "away")
    with Library.open(index.library.path, settings=index.library.settings) as again:
        assert [photo.offline for photo in again.photos()] == [True]
        assert again.offline_roots() == [os.fsencode(album.folder)]


def test_an_unmounted_drive_leaves_an_empty_mount_point(
    index: Indexer, album: Album, mounted: Callable[[Path], None]
) -> None:
    mounted(album.folder)
    album.shoot("a.jpg", 1)
    index()
    subprocess.run(["umount", os.fspath(album.folder)], check=True)
    for _ in range(2):
        report = index.again()
        assert counts(report) == {}
        assert report.offline_roots == (os.fsencode(album.folder),)
        assert [photo.offline for photo in index.library.photos()] == [True]


def test_another_empty_folder_in_its_place_is_taken_for_a_mount_point(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("a.jpg", 1)
    index()
    album.folder.rename(tmp_path / "away")
    album.folder.mkdir()
    for _ in range(2):
        assert counts(index.again()) == {}
        assert [photo.offline for photo in index.library.photos()] == [True]
    album.folder.rmdir()
    (tmp_path / "away").rename(album.folder)
    assert counts(index.again()) == {"unchanged": 1}
    assert [photo.offline for photo in index.library.photos()] == [False]


def test_another_card_in_the_reader_leaves_the_first_one_offline(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("DCIM/a.jpg", 1)
    album.shoot("DCIM/b.jpg", 2)
    index()
    album.folder.rename(tmp_path / "first-card")
    album.shoot("DCIM/c.jpg", 3)
    for expected in ({"added": 1}, {"unchanged": 1}):
        assert counts(index.again()) == expected
        offline = {name: photo.offline for name, photo in index.by_name().items()}
        assert offline == {"DCIM/a.jpg": True, "DCIM/b.jpg": True, "DCIM/c.jpg": False}
    album.folder.rename(tmp_path / "second-card")
    (tmp_path / "first-card" / "DCIM" / "b.jpg").unlink()
    (tmp_path / "first-card").rename(album.folder)
    index.again()
    offline = {name: photo.offline for name, photo in index.by_name().items()}
    assert not offline["DCIM/a.jpg"]
    assert "DCIM/b.jpg" not in offline


def test_a_drive_mounted_inside_a_folder_goes_offline_alone(
    index: Indexer, album: Album, mounted: Callable[[Path], None]
) -> None:
    album.shoot("here.jpg", 1)
    drive = album.folder / "drive"
    drive.mkdir()
    mounted(drive)
    album.shoot("drive/there.jpg", 2)
    index()
    subprocess.run(["umount", os.fspath(drive)], check=True)
    assert counts(index()) == {"unchanged": 1}
    offline = {name: photo.offline for name, photo in index.by_name().items()}
    assert offline == {"here.jpg": False, "drive/there.jpg": True}


def test_one_path_on_a_mounted_drive_is_enough(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("a.jpg", 1)
    backup = tmp_path / "backup"
    shutil.copytree(album.folder, backup)
    index(album.folder, backup)
    album.folder.rename(tmp_path / "away")
    index.again()
    (photo,) = index.library.photos()
    assert not photo.offline
    assert photo.paths == (os.fsencode(backup / "a.jpg"), os.fsencode(album.folder / "a.jpg"))


def test_a_removed_root_takes_its_photos_along_and_gives_them_back(
    index: Indexer, album: Album, tmp_path: Path
) -> None:
    album.shoot("a.jpg", 1)
    index()
    uid = index.by_name()["a.jpg"].uid
    album.folder.rename(tmp_path / "away")
    assert index.library.remove_root(os.fsencode(album.folder)) == 1
    assert (index.library.count(), index.library.roots()) == (0, [])
    assert index(tmp_path / "away").restored == 1
    assert index.library.photo(uid).paths == (os.fsencode(tmp_path / "away" / "a.jpg"),)


_SYNC_AS_NOBODY = """
import os, sys
from pathlib import Path
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.settings import Settings
os.setgroups([]); os.setgid(65534); os.setuid(65534)
with Library.open(Path(sys.argv[1]), create=True, settings=Settings()) as library:
    report = sync(library, [os.fsencode(sys.argv[2])])
    print(library.count(), report.missing, report.unreadable,
          sorted((os.path.basename(s.path).decode(), s.reason) for s in library.skipped()))
"""


def test_a_closed_folder_keeps_its_photos_and_is_reported(tmp_path: Path, album: Album) -> None:
    """Run as another user where the tests run as root, since no folder is closed to root."""
    if os.geteuid() != 0:
        pytest.skip("PERMISSIONS NOT TESTED: needs root to become another user")
    home = Path("/tmp") / f"photocraft-closed-{os.getpid()}"
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    try:
        photos = home / "photos"
        shutil.copytree(Album(album.folder).shoot("sub/a.jpg", 1).parent, photos / "sub")
        shutil.copy(album.shoot("b.jpg", 2), photos / "b.jpg")

        def run() -> str:
            command = [sys.executable, "-c", _SYNC_AS_NOBODY, str(home / "library"), str(photos)]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout

        assert run() == "2 0 0 []\n"
        (photos / "sub").chmod(0)
        assert run() == "2 0 1 [('sub', 'unreadable')]\n"
        (photos / "sub").chmod(0o755)
        (photos / "b.jpg").chmod(0)
        assert run() == "2 0 0 []\n"
        (photos / "c.jpg").write_bytes((photos / "b.jpg").read_bytes() + b"x")
        (photos / "c.jpg").chmod(0)
        assert run() == "2 0 1 [('c.jpg', 'unreadable')]\n"
        (photos / "c.jpg").chmod(0o644)
        assert run() == "3 0 0 []\n"
        (photos / "sub" / "a.jpg").unlink()
        assert run() == "2 1 0 []\n"
    finally:
        shutil.rmtree(home)


@pytest.mark.parametrize("leaves_a_mount_point", [False, True])
def test_a_drive_that_goes_away_while_it_is_walked_loses_nothing(
    library: Library, index: Indexer, album: Album, tmp_path: Path, leaves_a_mount_point: bool
) -> None:
    album.shoot("a/1.jpg", 1)
    album.shoot("z/2.jpg", 2)
    index()
    album.shoot("a/3.jpg", 3)

    def unplug(stage: str, done: int, total: int | None) -> None:
        if stage == "read":
            album.folder.rename(tmp_path / "away")
            if leaves_a_mount_point:
                album.folder.mkdir()

    report = sync(library, [os.fsencode(album.folder)], progress=unplug)
    assert report.missing == 0
    assert index.again().missing == 0
    assert [photo.offline for photo in library.photos()] == [True] * 3
    if leaves_a_mount_point:
        album.folder.rmdir()
    (tmp_path / "away").rename(album.folder)
    report = index.again()
    assert (report.missing, report.added, report.unchanged) == (0, 0, 3)
    assert [photo.offline for photo in library.photos()] == [False] * 3
    assert library.skipped() == []
