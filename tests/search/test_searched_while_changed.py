"""Searches beside processes that index, drop a space or are killed at it; and damaged files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from photocraft_local import PhotoSearch
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.errors import LibraryCorrupt, NoVectors, PhotocraftError
from photocraft_local.settings import Settings

HERE = Path(__file__).resolve().parent


def shoot(folder: Path, first: int, count: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(first, first + count):
        colour = ((250, 10, 10), (10, 250, 10), (10, 10, 250))[number % 3]
        pixels = np.full((24, 32, 3), np.array(colour, np.uint8))
        pixels[0, :2] = number % 256, number // 256, 7
        Image.fromarray(pixels).save(folder / f"{number:04}.png")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(library=tmp_path / "library", encoder="null", batch_size=2)


@pytest.fixture
def indexed(tmp_path: Path, settings: Settings) -> Path:
    shoot(tmp_path / "photos", 0, 7)
    with PhotoSearch(settings) as photos:
        photos.index(tmp_path / "photos")
    return settings.library


def answers(photos: PhotoSearch) -> list[str]:
    """UIDs, best first. Scores are relative to the library, the order of two photos is not."""
    found = photos.search("red", top_k=999).photos
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    return [one.photo.uid for one in found]


def within(some: list[str], whole: list[str]) -> bool:
    """The same photos in the same order, but for some that are missing."""
    return some == [uid for uid in whole if uid in set(some)]


def test_a_kill_at_any_touch_of_the_spaces_leaves_them_whole(indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    done = subprocess.run(
        [sys.executable, HERE / "killed_spaces.py", indexed, tmp_path / "scratch"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = {line["work"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert set(told) == {"index", "drop", "drop, then index"}
    assert told["index"]["kills"] > 10
    assert set(told["index"]["states"]) == {0, 2, 4, 6, 7}
    assert told["drop"]["kills"] >= 3
    assert set(told["drop"]["states"]) == {0, 7}


_INDEXING = """
import sys
from pathlib import Path
from photocraft_local import PhotoSearch
from photocraft_local.settings import Settings
settings = Settings(library=Path(sys.argv[1]), encoder="null", batch_size=2)
with PhotoSearch(settings) as photos:
    for folder in sys.argv[2:]:
        if folder == "drop":
            photos.spaces.remove(photos.spaces.list()[0].name)
        else:
            photos.index(folder)
"""


def beside(settings: Settings, *words: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _INDEXING, settings.library, *words]
    return subprocess.Popen([str(one) for one in command], stderr=subprocess.PIPE, text=True)


def _finished(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate()
    assert process.returncode == 0, said


def test_a_search_while_another_process_indexes_sees_whole_photos(
    indexed: Path, tmp_path: Path, settings: Settings
) -> None:
    more = [tmp_path / f"more{at}" for at in range(4)]
    for at, folder in enumerate(more):
        shoot(folder, 100 + 20 * at, 20)
    seen: list[list[str]] = []
    with PhotoSearch(settings) as open_all_along:
        seen.append(answers(open_all_along))
        process = beside(settings, *more)
        while process.poll() is None:
            seen.append(answers(open_all_along))
            with PhotoSearch(settings) as opened_now:
                seen.append(answers(opened_now))
        _finished(process)
        last = answers(open_all_along)
    assert len(last) == 87
    assert all(within(earlier, last) for earlier in seen)  # each with its own vector, from then on
    assert all(within(a, b) for a, b in pairwise(sorted(seen, key=len)))
    assert len(seen[0]) == 7


def test_a_space_that_another_process_drops_is_told_and_made_anew(
    indexed: Path, tmp_path: Path, settings: Settings
) -> None:
    told = set()
    with PhotoSearch(settings) as photos:
        before = answers(photos)
        process = beside(settings, *(["drop", tmp_path / "photos"] * 4))
        while process.poll() is None:
            try:
                found = answers(photos)
            except NoVectors as error:
                told.add(type(error))
            else:
                assert within(found, before)
        _finished(process)
        assert answers(photos) == before
    assert told <= {NoVectors}


@pytest.mark.parametrize("name", ["vectors.f16", "ids.i64", "header.json"])
def test_a_file_cut_at_any_byte_is_an_error_or_the_photos_before_the_cut(
    name: str, indexed: Path, settings: Settings
) -> None:
    (space,) = (indexed / "spaces").iterdir()
    whole = (space / name).read_bytes()
    with PhotoSearch(settings) as photos:
        right = answers(photos)
    faults: list[PhotocraftError] = []
    row = 2 * NullEncoder().spec.dim
    steps = {"vectors.f16": row // 2, "ids.i64": 1, "header.json": 7}
    for size in range(0, len(whole), steps[name]):
        (space / name).write_bytes(whole[:size])
        try:
            with PhotoSearch(settings) as photos:
                found = answers(photos)
        except PhotocraftError as error:
            faults.append(error)
        else:
            assert name == "ids.i64", size  # the commit record: rows behind its end do not count
            assert within(found, right)
            assert len(found) == size // 8
        (space / name).write_bytes(whole)
    for fault in faults:
        assert isinstance(fault, LibraryCorrupt), fault
        assert str(space) in fault.message
        assert "photocraft index" in fault.hint
    with PhotoSearch(settings) as photos:
        assert answers(photos) == right


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"dim": 9}, "not of"),
        ({"dim": True}, "not readable"),
        ({"dim": 10**12}, "need"),
        ({"format": 2}, "not readable"),
        ({"facts": []}, "not readable"),
        ({"facts": {"encoder_id": "other"}}, "not of"),
        ({"files": ["../../library.db", "ids.i64"]}, "not readable"),
        ({"files": ["/etc/hostname", "ids.i64"]}, "not readable"),
        ({"files": [1, 2]}, "header"),
        ({"files": "ab"}, "gone"),
        ({"generation": "x"}, "not readable"),
    ],
)
def test_a_header_that_says_something_else_is_refused(
    change: dict[str, Any], told: str, indexed: Path, settings: Settings
) -> None:
    (space,) = (indexed / "spaces").iterdir()
    header = json.loads((space / "header.json").read_text())
    (space / "header.json").write_text(json.dumps(header | change))
    with PhotoSearch(settings) as photos, pytest.raises(LibraryCorrupt, match=told):
        answers(photos)
    shutil.rmtree(space)
    with PhotoSearch(settings) as photos:
        assert photos.index().embedded == 7
        assert len(answers(photos)) == 7


def test_a_header_of_an_older_release_serves(indexed: Path, settings: Settings) -> None:
    (space,) = (indexed / "spaces").iterdir()
    header = json.loads((space / "header.json").read_text())
    del header["made"]
    (space / "header.json").write_text(json.dumps(header))
    with PhotoSearch(settings) as photos:
        assert len(answers(photos)) == 7
