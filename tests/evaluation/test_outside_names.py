"""No reader of a data set follows a name or a link out of the data set's folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation import plain_layout
from photocraft_local.evaluation.histories.sources import read_sources
from photocraft_local.evaluation.pictures import pictures_of
from photocraft_local.evaluation.problems import Problems


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``a.jpg``, a link to it, and two links out: one of them by way of a folder."""
    home = tmp_path / "album"
    (home / "photos").mkdir(parents=True)
    for path in (tmp_path / "outside.jpg", home / "photos/a.jpg"):
        Image.new("RGB", (48, 32), (200, 30, 30)).save(path)
    (home / "photos/inner.jpg").symlink_to("a.jpg")
    (home / "photos/out.jpg").symlink_to("../../outside.jpg")
    (home / "photos/far.jpg").symlink_to(tmp_path / "outside.jpg")
    return home


def test_pictures_of_a_folder(folder: Path) -> None:
    problems = Problems()
    assert set(pictures_of(folder / "photos", problems)) == {"a", "inner"}
    assert problems.counts == {"outside-name": 2}


def test_a_folder_that_is_a_link_itself_is_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(folder / "photos")
    problems = Problems()
    assert set(pictures_of(tmp_path / "linked", problems)) == {"a", "inner"}


def test_the_plain_layout(folder: Path) -> None:
    (folder / "questions.jsonl").write_text(
        '{"id": "1", "question": "which?", "gold": ["a.jpg"]}\n'
        '{"id": "2", "question": "which?", "gold": ["out.jpg"]}\n'
    )
    data = plain_layout.load(folder)
    assert [one.id for one in data.questions] == ["1"]
    assert data.problems.counts == {"outside-name": 2, "unknown-answer": 1}


def test_sources_of_a_history(folder: Path, tmp_path: Path) -> None:
    names = ["a.jpg", "out.jpg", "../../outside.jpg", str(tmp_path / "outside.jpg"), "x" * 400]
    rows = [f"{name},dog,1" for name in names]
    (folder / "photos/captions.csv").write_text("file,labels,labels_complete\n" + "\n".join(rows))
    with pytest.raises(EvaluationError, match="has 1 JPEG") as told:
        read_sources(folder / "photos")
    assert "'outside of the folder': 3" in str(told.value)
    assert "'file missing': 1" in str(told.value)
