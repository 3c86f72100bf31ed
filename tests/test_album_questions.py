"""The album's questions: sealed, answered by code from the table, and enough of each kind."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

# Over both halves, as the album's figures need them; those below for the kept half alone.
LEAST = {"intra": 40, "across": 40, "metadata_only": 30}
LEAST_KEPT = {"easy_looks": 30, "metadata_only": 30, "impossible": 30, "absent": 30}


@pytest.fixture(scope="module")
def check(root: Path, shared: Path) -> ModuleType:
    """benchmarks/album_check.py; it reads the shared folder, hence the second fixture."""
    benchmarks = str(root / "benchmarks")
    sys.path.insert(0, benchmarks)
    try:
        import album_check
    finally:
        sys.path.remove(benchmarks)
    return album_check


def test_the_kept_half_is_the_sealed_one(check: ModuleType) -> None:
    assert check.seal_holds()


@pytest.mark.parametrize("half", ["tuning", "kept"])
def test_answers_are_those_of_the_rules(check: ModuleType, half: str) -> None:
    life = check.load(check.CAPTIONED)
    assert check.wrong(check.questions(half), life) == []


def test_a_wrong_answer_would_be_found(check: ModuleType) -> None:
    life = check.load(check.CAPTIONED)
    first = dict(check.questions("tuning")[0], gold=["coco/none.jpg"])
    assert check.wrong([first], life) == [first["id"]]


def test_a_look_among_photos_of_unknown_content_is_refused(check: ModuleType) -> None:
    from album.gold import RuleError, gold

    life = check.load(check.CAPTIONED)
    with pytest.raises(RuleError, match="not complete"):
        gold({"city": "Sintra", "any": ["bird"]}, life)


def test_questions_are_whole(check: ModuleType) -> None:
    asked = [question for half in check.HALVES for question in check.questions(half)]
    files = {moment.file for moment in check.load(check.CAPTIONED)}
    assert len({question["id"] for question in asked}) == len(asked)
    assert len({question["question"] for question in asked}) == len(asked)
    for question in asked:
        assert question["expects"] in {"set", "abstain", "text"}, question["id"]
        assert question["look"] in {"easy", "hard", "none"}, question["id"]
        assert (question["expects"] == "text") == ("text" in question), question["id"]
        assert set(question["gold"]) <= files, question["id"]
        assert bool(question["gold"]) == (question["expects"] != "abstain"), question["id"]
    assert all((check.CAPTIONED / name).is_file() for name in files)


def test_there_are_enough_of_each_kind(check: ModuleType) -> None:
    counts = {
        half: Counter(name for q in check.questions(half) for name in check.groups(q))
        for half in check.HALVES
    }
    both = counts["tuning"] + counts["kept"]
    assert {name: both[name] for name in LEAST if both[name] < LEAST[name]} == {}
    assert both["not"] + both["count"] >= 20
    kept = counts["kept"]
    assert {name: kept[name] for name in LEAST_KEPT if kept[name] < LEAST_KEPT[name]} == {}
    assert len(check.questions("kept")) >= 60
    assert len(check.questions("tuning")) >= 60
    assert len(check.load(check.CAPTIONED)) >= 150


def test_stamps_say_what_the_table_says(check: ModuleType, tmp_path: Path) -> None:
    from album.life import build

    from photocraft_local.files.metadata import read_metadata

    captioned = check.CAPTIONED
    for moment in build(captioned, tmp_path)[::7]:
        path = tmp_path / moment.file
        found = read_metadata(bytes(path))
        assert found.camera == moment.camera
        assert (found.location is None) == (moment.position is None)
        if found.location:
            where = (found.location.latitude, found.location.longitude)
            assert where == pytest.approx(moment.position, abs=1e-5)
        if moment.time:
            assert found.taken
            assert found.taken.local == moment.time
        with Image.open(path) as stamped, Image.open(captioned / moment.file) as original:
            assert stamped.tobytes() == original.tobytes()
