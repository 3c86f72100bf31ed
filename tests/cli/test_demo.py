"""The demo with the embedded default: two questions find their photo, the third finds none."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from photocraft_local import PhotoSearch
from photocraft_local.settings import Settings

pytest.importorskip("skimage.data", reason="DEMO EXTRA ABSENT: no package photos")
pytest.importorskip("onnxruntime", reason="CPU EXTRA ABSENT: the embedded default cannot run")

Photocraft = Any  # conftest.py's Run
LABELS = {"PHOTOCRAFT_ENCODER": "labels"}


@pytest.fixture(scope="module")
def folder(photocraft: Photocraft, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "out"
    assert photocraft("demo", "--folder", folder, env=LABELS).code == 0
    return folder


def test_the_answers_are_right_and_may_be_asked_for_again(
    photocraft: Photocraft, folder: Path
) -> None:
    done = photocraft("demo", "--folder", folder, "--json", env=LABELS)
    assert done.code == 0, done.err
    coffee, motorbike, nothing = done.json_lines()
    assert [Path(photo["paths"][0]).name for photo in coffee["photos"]] == ["coffee.jpg"]
    assert [Path(photo["paths"][0]).name for photo in motorbike["photos"]] == [
        "motorcycle_left.jpg"
    ]
    assert nothing["photos"] == []
    assert nothing["text"]
    for answer in (coffee, motorbike):
        assert {piece["met"] for piece in answer["photos"][0]["evidence"]} == {True}
        assert len(answer["photos"][0]["evidence"]) == 3  # the look, the time and the place
        with Image.open(answer["sheet"]) as sheet:
            assert sheet.format == "PNG"
    assert nothing["sheet"] is None


def test_ordinary_searches_put_the_right_photo_first(photocraft: Photocraft, folder: Path) -> None:
    library = ("--library", folder / "library", "--json")
    for words, name in (
        ("a cat", "chelsea.jpg"),
        ("a motorbike", "motorcycle_left.jpg"),
        ("an espresso", "coffee.jpg"),
        ("a palace", "china.jpg"),
    ):
        done = photocraft("search", words, "-k", "1", *library, env=LABELS)
        assert Path(done.json()["photos"][0]["paths"][0]).name == name, words


def test_the_answers_that_the_page_prints_are_true(
    root: Path, folder: Path, shared_cache: Path
) -> None:
    page = (root / "docs" / "questions.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.*?) ?\|$", page, re.MULTILINE)[1:]
    assert len(rows) > 8
    settings = Settings(library=folder / "library", cache=shared_cache)
    with PhotoSearch(settings, today=date(2024, 5, 15)) as photos:
        for question, text, names in rows:
            answer = photos.ask(question)
            found = sorted(Path(os.fsdecode(one.photo.paths[0])).stem for one in answer.photos)
            assert (answer.text, ", ".join(found)) == (text, names), question


def test_nothing_is_written_beside_the_photos(folder: Path) -> None:
    names = {path.suffix for path in (folder / "album").iterdir()}
    assert names == {".jpg"}


def test_the_last_line_can_be_typed_as_it_stands(
    photocraft: Photocraft, folder: Path, shared_cache: Path
) -> None:
    elsewhere = {**LABELS, "PATH": "/usr/bin:/bin"}  # as after scripts/demo: no photocraft on it
    done = photocraft("demo", "--folder", folder, env=elsewhere)
    last = done.err.splitlines()[-1]
    command = shlex.split(last.removeprefix("ask more: "))
    cache = {"PHOTOCRAFT_CACHE": str(shared_cache)}
    asked = subprocess.run(
        command, capture_output=True, text=True, timeout=100, env={**os.environ, **cache}
    )
    assert asked.returncode == 0, asked.stderr
    assert "chelsea.jpg" in asked.stdout
