"""The library folder: private, never taken over, one writer, many readers, full or damaged."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from small_album import Album, Indexer

from photocraft_local.errors import (
    LibraryCorrupt,
    LibraryLocked,
    LibraryNotFound,
    LibraryTooNew,
    StorageFull,
    UnknownPhoto,
    UsageError,
)
from photocraft_local.library.library import Library
from photocraft_local.library.sync import sync
from photocraft_local.settings import Settings


def opened(path: Path, *, create: bool = False) -> Library:
    return Library.open(path, create=create, settings=Settings(lock_wait_seconds=0.2))


def test_the_folder_is_private_and_made_so_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "library"
    opened(path, create=True).close()
    assert path.stat().st_mode & 0o777 == 0o700
    path.chmod(0o755)
    opened(path).close()
    assert path.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_holds_something_else_is_never_taken_over(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"x")
    tmp_path.chmod(0o755)
    with pytest.raises(UsageError, match="is not empty and is no library"):
        opened(tmp_path, create=True)
    with pytest.raises(UsageError, match="is a file, not a library folder"):
        opened(tmp_path / "photo.jpg", create=True)
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["photo.jpg"]


def test_a_library_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound) as caught:
        opened(tmp_path / "nowhere")
    assert "photocraft index" in caught.value.hint
    assert not (tmp_path / "nowhere").exists()


def test_a_damaged_or_newer_database_is_named(tmp_path: Path) -> None:
    opened(tmp_path / "a", create=True).close()
    (tmp_path / "a" / "library.db").write_bytes(b"garbage" * 1000)
    with pytest.raises(LibraryCorrupt, match=r"library\.db"):
        opened(tmp_path / "a")
    opened(tmp_path / "b", create=True).close()
    connection = sqlite3.connect(tmp_path / "b" / "library.db")
    connection.execute("INSERT INTO migrations VALUES ('_m9999_from_the_future', 0)")
    connection.commit()
    connection.close()
    with pytest.raises(LibraryTooNew, match="_m9999_from_the_future"):
        opened(tmp_path / "b")


_WRITER = """
import sys, time
from pathlib import Path
from photocraft_local.library.library import Library
from photocraft_local.settings import Settings
with Library.open(Path(sys.argv[1]), settings=Settings()) as library, library.write_lock():
    print("writing", flush=True)
    sys.stdin.readline()
"""


def test_a_database_cut_to_nothing_is_no_new_library_beside_old_vectors(tmp_path: Path) -> None:
    path = tmp_path / "library"
    opened(path, create=True).close()
    (path / "spaces/one").mkdir(parents=True)
    (path / "spaces/one/header.json").write_text("{}")
    for name in ("library.db", "library.db-wal", "library.db-shm"):
        (path / name).unlink(missing_ok=True)
    (path / "library.db").touch()
    for create in (False, True):
        with pytest.raises(LibraryCorrupt, match="it is empty"):
            opened(path, create=create)


def test_a_second_writer_is_told_who_writes_and_readers_go_on(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    index()
    command = [sys.executable, "-c", _WRITER, os.fspath(index.library.path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        with opened(index.library.path) as reader:
            assert reader.count() == len(list(reader.photos())) == 1
            assert reader.add_crop(next(reader.photos()).uid, (0, 0, 5, 5), b"png")
            with pytest.raises(LibraryLocked, match=f"process {process.pid} "):
                sync(reader)
        process.communicate("\n")
    assert index().unchanged == 1


def test_a_full_drive_loses_nothing_and_indexing_goes_on_after(
    tmp_path: Path, album: Album
) -> None:
    drive = tmp_path / "drive"
    drive.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", os.fspath(drive)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("FULL DISK NOT TESTED: cannot mount a tmpfs here")
    try:
        for number in range(150):
            album.shoot(f"{number:04}.jpg", number)
        with opened(drive / "library", create=True) as library:
            filler = drive / "filler"
            filler.write_bytes(bytes(drive_room(drive) - 200_000))
            with pytest.raises(StorageFull, match="no space left"):
                sync(library, [os.fsencode(album.folder)])
            before = {photo.digest: photo.uid for photo in library.photos()}
            filler.unlink()
        with opened(drive / "library") as library:
            library.database.verify()
            assert {photo.digest: photo.uid for photo in library.photos()} == before
            sync(library, [os.fsencode(album.folder)])
            after = {photo.digest: photo.uid for photo in library.photos()}
            assert len(after) == 150
            assert before.items() <= after.items()
    finally:
        subprocess.run(["umount", "-l", os.fspath(drive)], check=True)


def drive_room(drive: Path) -> int:
    facts = os.statvfs(drive)
    return facts.f_bavail * facts.f_frsize


def test_a_uid_that_is_not_there_comes_with_near_ones(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    index()
    (photo,) = index.library.photos()
    assert index.library.photo(f" {photo.uid.upper()} ") == photo
    assert index.library.photo(f"{photo.uid}.c1") == photo
    swapped = photo.uid[:2] + photo.uid[3] + photo.uid[2] + photo.uid[4:]
    wrong = swapped if swapped != photo.uid else photo.uid[:-1]
    with pytest.raises(UnknownPhoto) as caught:
        index.library.photo(wrong)
    assert caught.value.hint == f"did you mean {photo.uid}?"
    with pytest.raises(UnknownPhoto) as caught:
        index.library.photo("'; DROP TABLE photos; --")
    assert "photocraft list" in caught.value.hint


def test_each_change_of_photos_has_a_new_generation(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    seen = [index.library.generation()]
    index()
    seen.append(index.library.generation())
    (photo,) = index.library.photos()
    index.library.add_crop(photo.uid, (0, 0, 5, 5), b"png")
    assert index.library.generation() == seen[-1]  # a question that zooms in may go on
    index.library.forget(photo.uid)
    seen.append(index.library.generation())
    index()
    assert sorted(set(seen)) == seen
    last = index.library.generation()
    index()
    assert index.library.generation() == last


def test_crops_are_one_a_box_and_have_their_own_uid(index: Indexer, album: Album) -> None:
    album.shoot("a.jpg", 1)
    index()
    library = index.library
    (photo,) = library.photos()
    first = library.add_crop(photo.uid, (0, 0, 10, 10), b"one")
    second = library.add_crop(photo.uid, (0, 0, 10, 11), b"two")
    assert library.add_crop(photo.uid, (0, 0, 10, 10), b"other") == first
    assert (first, second) == (f"{photo.uid}.c1", f"{photo.uid}.c2")
    crop = library.crop(second)
    assert (crop.parent_uid, crop.box, crop.path.read_bytes()) == (
        photo.uid,
        (0, 0, 10, 11),
        b"two",
    )
    assert crop.path.stat().st_mode & 0o777 == 0o600
    for unknown in (f"{photo.uid}.c3", photo.uid, "x.c1", f"{photo.uid}.c0"):
        with pytest.raises(UnknownPhoto):
            library.crop(unknown)
    crop.path.unlink()
    assert library.add_crop(photo.uid, (0, 0, 10, 11), b"new") == second
    assert crop.path.read_bytes() == b"new"
