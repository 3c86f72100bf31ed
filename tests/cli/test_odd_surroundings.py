"""The command where its surroundings are odd: names, folders, damaged parts of a library."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

Photocraft = Callable[..., Any]


def shoot(path: bytes, number: int) -> None:
    with open(path, "wb") as file:  # noqa: PTH123  # a name that need not be UTF-8
        Image.new("RGB", (32, 24), (number * 9 % 256, number, 77)).save(file, "PNG")


@pytest.fixture
def indexed(photocraft: Photocraft, tmp_path: Path) -> Path:
    """A library of two photos in ``tmp_path / "album"`` and a page that is no photo."""
    album = tmp_path / "album"
    album.mkdir()
    for number in range(2):
        shoot(os.fsencode(album / f"{number}.png"), number)
    (album / "page.jpg").write_text("<html>")
    done = photocraft("index", album, "--library", tmp_path / "library")
    assert done.code == 0, done.err
    return tmp_path / "library"


def space(library: Path) -> Path:
    (folder,) = (library / "spaces").iterdir()
    return folder


NAMES = [
    b"new\nline.png", b"\x1b[31mred.png", b"-dash.png", b"--library.png", b"caf\xe9.png",
    "\U0001f600.png".encode(), b"back\\slash.png", b" blanks .png", b"%s%n{0}.png",
    "\u202egnp.exe.png".encode(), b"\x7f\x01.png", b"quote'\".png",
]  # fmt: skip


def test_no_name_breaks_a_line_or_steers_the_terminal(
    photocraft: Photocraft, tmp_path: Path
) -> None:
    album = os.fsencode(tmp_path / "album")
    os.makedirs(album + b"/d\xff\n")  # noqa: PTH103
    for number, name in enumerate(NAMES):
        shoot(album + b"/d\xff\n/" + name, number)
        os.symlink(b"nowhere", album + b"/dead" + name)  # noqa: PTH211  # bytes
    library = tmp_path / "library"
    assert photocraft("index", album, "--library", library).code == 0
    for words in (["list"], ["status"], ["list", "--json"], ["status", "--json"]):
        done = photocraft(*words, "--library", library, env={"LC_ALL": "C"})
        assert done.code == 0, done.err
        assert all(line.isprintable() for line in done.out.split("\n")), words
    listed = photocraft("list", "--json", "--library", library).json_lines()
    assert len(listed) == len(NAMES)
    assert all(len(photo["paths_base64"]) == 1 for photo in listed)
    skipped = photocraft("status", "--json", "--library", library).json()["skipped"]
    assert len(skipped) == len(NAMES)


@pytest.mark.parametrize("words", [["list"], ["index", "."], ["status"]])
def test_an_empty_library_option_is_not_the_current_folder(
    photocraft: Photocraft, words: list[str], tmp_path: Path
) -> None:
    done = photocraft(*words, "--library", "")
    assert done.code == 2
    assert "'library'" in done.error
    done = photocraft(*words, env={"PHOTOCRAFT_LIBRARY": ""})
    assert done.code == 2
    assert "'library'" in done.error


def test_a_current_folder_that_is_gone_is_no_internal_error(
    photocraft: Photocraft, indexed: Path, tmp_path: Path
) -> None:
    gone = f'mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone && exec "$@"'
    prefix = ("sh", "-c", gone, "sh")
    for words in (["list", "--library", "x"], ["index", ".", "--library", str(indexed)]):
        done = photocraft(*words, prefix=prefix)
        assert done.code == 2
        assert "error: " in done.error
    assert photocraft("list", "--library", indexed, prefix=prefix).code == 0


def _cut(folder: Path) -> None:
    os.truncate(folder / "vectors.f16", 10)


def _scramble_header(folder: Path) -> None:
    (folder / "header.json").write_text("{}")


def _scramble_ids(folder: Path) -> None:
    (folder / "ids.i64").write_bytes(b"\x5a" * 16)


def _remove_ids(folder: Path) -> None:
    (folder / "ids.i64").unlink()


@pytest.mark.parametrize("damage", [_cut, _scramble_header, _scramble_ids, _remove_ids])
def test_damaged_vectors_name_the_way_out_and_it_works(
    photocraft: Photocraft, indexed: Path, damage: Callable[[Path], None]
) -> None:
    folder = space(indexed)
    damage(folder)
    for words in (["search", "red"], ["index"]):
        done = photocraft(*words, "--library", indexed)
        assert done.code == 4
        assert f"remove the folder {folder} and run: photocraft index" in done.error
    status = photocraft("status", "--json", "--library", indexed)
    assert status.code == 0
    assert [skip["reason"] for skip in status.json()["skipped"]] == ["unsupported"]
    assert "is damaged" in status.json()["notes"][0]
    shutil.rmtree(folder)
    assert "2 embedded" in photocraft("index", "--library", indexed).out


def test_vectors_that_are_no_numbers_are_damage_not_a_bad_query(
    photocraft: Photocraft, indexed: Path
) -> None:
    vectors = space(indexed) / "vectors.f16"
    vectors.write_bytes(np.full(vectors.stat().st_size // 2, np.nan, np.float16).tobytes())
    done = photocraft("search", "red", "--library", indexed)
    assert done.code == 4
    assert "damaged" in done.error


def test_a_space_without_a_header_is_what_a_kill_leaves(
    photocraft: Photocraft, indexed: Path
) -> None:
    (space(indexed) / "header.json").unlink()
    assert photocraft("status", "--json", "--library", indexed).json()["pending"] == 2
    assert "photocraft index" in photocraft("search", "red", "--library", indexed).error
    assert "2 embedded" in photocraft("index", "--library", indexed).out


def test_the_module_runs_from_anywhere(photocraft: Photocraft, indexed: Path) -> None:
    done = photocraft("list", "--json", "--library", indexed, prefix=("env", "-C", "/"))
    assert len(done.json_lines()) == 2, done.err


def test_a_file_in_the_way_is_named_not_an_internal_error(
    photocraft: Photocraft, indexed: Path
) -> None:
    asked = photocraft("ask", "photos from 2020", "--json", "--library", indexed).json()
    shutil.rmtree(indexed / "traces")
    (indexed / "traces").touch()
    episode = Path(asked["trajectory"]).stem
    done = photocraft("memory", "forget", episode, "--library", indexed)
    assert done.code == 4
    assert f"{indexed}/traces/{episode}.json cannot be used: Not a directory" in done.error
