"""Whole commands on a small library of real photos: output forms, filters, sheets, memory."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

Photocraft = Any  # conftest.py's Run


@pytest.fixture(scope="module")
def library(photocraft: Photocraft, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("commands") / "library"
    assert photocraft("index", shared / "data" / "exif", "--library", path).code == 0
    return path


def clean_environment() -> dict[str, str]:
    """Without the settings of whoever runs the tests."""
    return {name: value for name, value in os.environ.items() if "PHOTOCRAFT_" not in name}


def uid_of(photocraft: Photocraft, library: Path, name: str) -> str:
    listed = photocraft("list", "--json", "--library", library).json_lines()
    return str(next(row["uid"] for row in listed if row["paths"][0].endswith(name)))


def test_search_gives_photos_score_filter_and_what_was_understood(
    photocraft: Photocraft, library: Path
) -> None:
    options = ("--when", "2008", "-k", "9", "--json", "--library", library)
    found = photocraft("search", "blue", *options)
    assert found.code in (0, 1)
    result = found.json()
    assert set(result) == {
        *("photos", "filter", "candidates", "without_vector", "matches", "cutoff"),
        *("understood", "not_understood", "sheet"),
    }
    assert len(result["photos"]) == 3
    assert set(result["photos"][0]) == {"uid", "paths", "score", "match"}
    scores = [photo["score"] for photo in result["photos"]]
    assert scores == sorted(scores, reverse=True)
    assert "2008-01-01" in result["filter"]
    assert result["understood"] == ["blue"]
    assert (found.code == 0) == (result["matches"] > 0)


def test_a_search_gives_only_what_reaches_the_cut_off(
    photocraft: Photocraft, library: Path
) -> None:
    for words in ("red", "green", "purple"):
        result = photocraft("search", words, "--json", "--library", library).json()
        assert len(result["photos"]) == result["matches"]
        assert all(photo["score"] >= result["cutoff"] for photo in result["photos"])


def test_words_without_effect_are_named_and_have_their_own_exit_code(
    photocraft: Photocraft, library: Path
) -> None:
    done = photocraft("search", "red", "bicycle", "--library", library)
    assert done.code == 7
    assert "not used, since not understood: bicycle" in done.err
    done = photocraft("search", "bicycle", "--json", "--library", library)
    assert done.code == 7
    assert done.json()["photos"] == []


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--near", "43.467,11.885", "--km", "1"], ["DSCN0010", "DSCN0021", "DSCN0042"]),
        (["--near", "Arezzo", "--before", "2008-10-22T16:30"], ["DSCN0010"]),
        (["--in", "Italy", "--after", "2010"], ["Apple iPhone 4"]),
        (["--camera", "iphone 7"], ["IMG_2682"]),
        (["--where", 'hour == 16 and weekday == "wed"'], ["DSCN0010", "DSCN0021"]),
        (["--when", "May 2024", "--in", "China"], ["ultrahdr"]),
    ],
)
def test_a_filter_alone_lists_exactly_what_passes_by_time(
    photocraft: Photocraft, library: Path, options: list[str], names: list[str]
) -> None:
    done = photocraft("search", *options, "--json", "--library", library)
    paths = [photo["paths"][0] for photo in done.json()["photos"]]
    assert done.code == 0
    assert len(paths) == len(names), paths
    assert all(name in path for name, path in zip(names, paths, strict=True))
    assert all(photo["score"] is None for photo in done.json()["photos"])


def test_nothing_found_is_exit_code_one(photocraft: Photocraft, library: Path) -> None:
    done = photocraft("search", "--when", "1999", "--library", library)
    assert (done.code, done.out) == (1, "")
    assert photocraft("ask", "red photos from 1999", "--library", library).code == 1


def test_like_takes_a_uid_and_a_file_from_outside(
    photocraft: Photocraft, library: Path, tmp_path: Path
) -> None:
    uid = uid_of(photocraft, library, "DSCN0010.jpg")
    first = photocraft("search", "--like", uid, "-k", "1", "--json", "--library", library).json()
    assert first["photos"][0]["uid"] == uid
    path = first["photos"][0]["paths"][0]
    smaller = tmp_path / "smaller.png"
    with Image.open(path) as picture:
        picture.resize((320, 240)).save(smaller)
    again = photocraft("search", "--like", smaller, "-k", "1", "--json", "--library", library)
    assert again.json()["photos"][0]["uid"] == uid


def test_not_takes_photos_out_of_the_matches(photocraft: Photocraft, library: Path) -> None:
    def matches(*words: str) -> set[str]:
        result = photocraft("search", *words, "--json", "--library", library).json()
        return {photo["uid"] for photo in result["photos"]}

    white = matches("white")
    assert white
    assert matches("white", "--not", "white") == set()
    assert matches("--not", "white").isdisjoint(white)


def test_a_sheet_is_a_png_and_may_be_written_again(
    photocraft: Photocraft, library: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "found.png"
    for _ in range(2):
        done = photocraft(
            "search", "--in", "Italy", "--sheet", sheet, "--json", "--library", library
        )
        assert done.json()["sheet"] == str(sheet)
        with Image.open(sheet) as picture:
            assert picture.format == "PNG"
            assert picture.width > 400
    assert [path.name for path in tmp_path.iterdir()] == ["found.png"]


def test_ask_answers_with_evidence_and_is_remembered_until_forgotten(
    photocraft: Photocraft, library: Path, tmp_path: Path
) -> None:
    sheet = tmp_path / "answer.png"
    question = "photos from Italy in October 2008"
    done = photocraft(
        "ask", question, "--json", "--explain", "--sheet", sheet, "--library", library
    )
    assert done.code == 0, done.err
    answer = done.json()
    assert len(answer["photos"]) == 3
    for photo in answer["photos"]:
        assert set(photo) == {"uid", "paths", "evidence"}
        assert all(piece["met"] for piece in photo["evidence"])
        assert any("2008" in piece["value"] for piece in photo["evidence"])
    assert "Italy" in answer["filter"]
    assert answer["not_understood"] == []
    assert sheet.is_file()
    assert [step["tool"] for step in answer["steps"]][-1] == "submit_answer"
    assert json.loads(Path(answer["trajectory"]).read_text())["status"] == "answered"

    listed = ("memory", "list", "--only", "episodes", "--json", "--library", library)
    mine = next(row for row in photocraft(*listed).json_lines() if row["question"] == question)
    shown = photocraft("memory", "show", mine["episode_id"], "--library", library)
    assert question in shown.out
    assert photocraft("memory", "forget", mine["episode_id"], "--library", library).code == 0
    left = photocraft(*listed).json_lines()
    assert mine["episode_id"] not in [row["episode_id"] for row in left]
    assert photocraft("memory", "forget", "--all", "--library", library).code == 0
    assert photocraft("memory", "list", "--library", library).out == ""


def test_show_tells_all_of_a_photo(photocraft: Photocraft, library: Path) -> None:
    uid = uid_of(photocraft, library, "DSCN0010.jpg")
    details = photocraft("show", uid.upper(), "--json", "--library", library).json()
    assert details["taken_at"] == "2008-10-22T16:28:39"
    assert details["time_source"] == "exif:DateTimeOriginal"
    assert "Arezzo" in details["address"]
    assert details["event"]["count"] == 3
    assert len(details["event"]["photos"]) == 2
    plain = photocraft("show", uid, "--library", library).out
    assert details["sha256"] in plain
    assert "3 photos, 2008-10-22" in plain
    alone = uid_of(photocraft, library, "me_Apple iPhone 4.jpg")
    assert "event       1 photo, " in photocraft("show", alone, "--library", library).out


def test_forget_takes_a_photo_out_for_good(
    photocraft: Photocraft, shared: Path, tmp_path: Path
) -> None:
    folder, library = tmp_path / "photos", tmp_path / "library"
    folder.mkdir()
    for name in ("orient_1.jpg", "cmyk_red.jpg"):
        shutil.copy(shared / "data" / "odd" / name, folder)
    assert photocraft("index", folder, "--library", library).code == 0
    uid = uid_of(photocraft, library, "cmyk_red.jpg")
    assert photocraft("forget", uid, "--json", "--library", library).json() == {"forgotten": uid}
    assert photocraft("show", uid, "--library", library).code == 2
    assert photocraft("index", "--library", library).code == 0  # its file is still there
    assert len(photocraft("list", "--library", library).out.splitlines()) == 1
    assert (folder / "cmyk_red.jpg").is_file()
    (folder / "orient_1.jpg").unlink()
    assert photocraft("index", "--library", library).code == 0
    report = photocraft("compact", "--json", "--library", library).json()
    assert report == {"dropped_photos": 1, "dropped_vectors": 1} or report["dropped_photos"] == 1
    gone = photocraft("forget", "--folder", folder, "--json", "--library", library)
    assert gone.json() == {"folder": str(folder), "photos": 0}


NASTY = b"night\xff\x1b[31m\nred\xe2\x80\xaegpj.jpg"


def test_a_nasty_file_name_is_escaped_and_its_bytes_are_in_the_json(
    photocraft: Photocraft, shared: Path, tmp_path: Path
) -> None:
    folder, library = tmp_path / "photos", tmp_path / "library"
    folder.mkdir()
    path = os.fsencode(folder) + b"/" + NASTY
    shutil.copy(os.fsencode(shared / "data" / "odd" / "orient_1.jpg"), path)
    assert photocraft("index", folder, "--library", library).code == 0
    plain = photocraft("list", "--library", library)
    assert len(plain.out.splitlines()) == 1
    assert "night\\xff\\x1b[31m\\x0ared\\u202egpj.jpg" in plain.out
    row = photocraft("list", "--json", "--library", library).json_lines()[0]
    assert base64.b64decode(row["paths_base64"][0]) == path
    narrow = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    assert photocraft("list", "--library", library, env=narrow).out.isascii()
    like = photocraft("search", "--like", path, "--json", "--library", library)
    assert base64.b64decode(like.json()["photos"][0]["paths_base64"][0]) == path


def test_a_reader_that_goes_away_ends_the_command_quietly(
    photocraft: Photocraft, library: Path
) -> None:
    command = [sys.executable, "-m", "photocraft_local", "list", "--library", str(library)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment()
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        error = process.stderr.read() if process.stderr else b""
    assert process.returncode == 141
    assert error == b""


@pytest.fixture
def slow_index(
    shared: Path, shared_cache: Path, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """An index run of 199 photos that commits each photo by itself."""
    command = [sys.executable, "-m", "photocraft_local", "index", shared / "data" / "captioned"]
    command += ["--library", tmp_path / "library", "--batch-size", "1", "--workers", "1"]
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            **clean_environment(),
            "PHOTOCRAFT_ENCODER": "null",
            "PHOTOCRAFT_CACHE": str(shared_cache),
        },
    )
    yield process
    process.kill()
    process.communicate()


def test_ctrl_c_leaves_a_library_on_which_the_next_run_goes_on(
    photocraft: Photocraft, slow_index: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    library = tmp_path / "library"
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in library.glob("spaces/*/ids*")):
        assert slow_index.poll() is None, "it ended before a photo was embedded"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    slow_index.send_signal(signal.SIGINT)
    _, error = slow_index.communicate(timeout=60)
    assert slow_index.returncode == 130, error
    last = error.decode().splitlines()[-2:]
    assert last[0].startswith("error: interrupted; everything that was finished is kept")
    assert last[1] == "hint: run the same command again to go on where it stopped"

    first = photocraft("status", "--json", "--library", library).json()
    assert 0 < first["pending"] < first["photos"]
    done = photocraft("index", "--json", "--library", library).json()
    assert done["embedded"] == first["pending"]
    after = photocraft("status", "--json", "--library", library).json()
    assert after["pending"] == 0
    assert list(after["spaces"].values()) == [after["photos"]]
