"""Captioned folders as they are found, what chooses a cut-off, and an encoder of one's own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from photocraft_local.cli.main import main
from photocraft_local.embeddings.null import NullEncoder
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation import cutoffs
from photocraft_local.evaluation.captioned import read_captioned
from photocraft_local.evaluation.cutoffs import calibrated
from photocraft_local.evaluation.retrieval import Asker, ScoredQuery
from photocraft_local.evaluation.retrieval_report import measure

COLOURS = {"red": (220, 30, 30), "blue": (40, 70, 220), "white": (250, 250, 250)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for colour, pixel in COLOURS.items():
        Image.new("RGB", (48, 32), pixel).save(tmp_path / f"{colour}.png")
    return tmp_path


def texts_of(folder: Path) -> dict[str, set[str]]:
    data = read_captioned(folder, strict=True)
    return {query.text: set(query.relevant) for query in data.queries}


@pytest.mark.parametrize("head", ["file", "image", "file_name", "filename"])
@pytest.mark.parametrize("table", ["captions.csv", "captions.txt"])
def test_tables_of_others(folder: Path, head: str, table: str) -> None:
    (folder / table).write_text(f"{head},caption\nred.png,A red wall.\nblue.png,the sea\n")
    assert texts_of(folder) == {"A red wall.": {"red.png"}, "the sea": {"blue.png"}}


@pytest.mark.parametrize("place", ["captions_val.json", "annotations/captions_val2017.json"])
@pytest.mark.parametrize("inner", ["", "images"])
def test_coco(folder: Path, place: str, inner: str) -> None:
    images = [{"id": at, "file_name": f"{name}.png"} for at, name in enumerate(COLOURS)]
    notes = [{"image_id": 0, "caption": "red"}, {"image_id": 0, "caption": "a wall"},
             {"image_id": 1, "caption": " blue\n"}]  # fmt: skip
    (folder / inner).mkdir(exist_ok=True)
    for name in COLOURS if inner else ():
        (folder / f"{name}.png").rename(folder / inner / f"{name}.png")
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).write_text(json.dumps({"images": images, "annotations": notes}))
    lead = f"{inner}/" if inner else ""
    assert texts_of(folder) == {
        "red": {f"{lead}red.png"}, "a wall": {f"{lead}red.png"}, "blue": {f"{lead}blue.png"}
    }  # fmt: skip
    assert len(read_captioned(folder).files) == 3  # one without a caption is a distractor


def test_what_is_wrong_in_coco_is_named(folder: Path) -> None:
    images = [{"id": 1, "file_name": "red.png"}, {"id": 2, "file_name": "../secret.png"},
              {"id": 3, "file_name": "gone.png"}, {"id": 4}, "none"]  # fmt: skip
    notes = [{"image_id": 1, "caption": "red"}, {"image_id": 2, "caption": "a"}, {"image_id": 9,
             "caption": "b"}, {"image_id": 1}, 7]  # fmt: skip
    (folder / "captions.json").write_text(json.dumps({"images": images, "annotations": notes}))
    data = read_captioned(folder)
    assert data.files == ("red.png",)
    assert data.problems.counts == {"outside-name": 1, "missing-image": 2, "bad-line": 4}
    for content in ("[]", "{", '{"images": 3, "annotations": []}'):
        (folder / "captions.json").write_text(content)
        with pytest.raises(EvaluationError, match="no photo that can be used"):
            read_captioned(folder)


def test_texts_beside_the_photos(folder: Path) -> None:
    (folder / "red.txt").write_text("A red wall\n\nbricks\n")
    (folder / "blue.txt").write_text("the sea")
    (folder / "notes.txt").write_text("of no photo")
    assert texts_of(folder) == {
        "A red wall": {"red.png"}, "bricks": {"red.png"}, "the sea": {"blue.png"}
    }  # fmt: skip
    assert len(read_captioned(folder).files) == 3
    (folder / "white.txt").write_bytes(b"caf\xe9")
    assert read_captioned(folder).problems.counts == {"wrong-encoding": 1}
    (folder / "white.txt").unlink()
    (folder / "white.txt").symlink_to("/etc/hostname")
    data = read_captioned(folder)
    assert data.problems.counts == {"outside-name": 1}
    assert len(data.queries) == 3


def test_a_folder_of_no_layout_is_told_what_is_read(folder: Path) -> None:
    with pytest.raises(EvaluationError, match="no table of captions") as told:
        read_captioned(folder)
    assert "COCO" in told.value.hint


def test_captions_of_one_spelling_are_one_query(folder: Path) -> None:
    rows = ["red.png,A cat", "blue.png,a  cat.", "white.png,a dog"]
    (folder / "captions.csv").write_text("file,caption\n" + "\n".join(rows))
    assert texts_of(folder) == {"A cat": {"red.png", "blue.png"}, "a dog": {"white.png"}}


def test_equal_negatives_stand_apart_and_ranks_are_chosen(folder: Path) -> None:
    with (folder / "queries.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["query_id", "text", "relevant_files"])
        rows.writerows([["1", "red", "red.png"], ["2", "blue", ""], ["3", "blue", ""]])
    (folder / "captions.csv").write_text("file\n" + "".join(f"{name}.png\n" for name in COLOURS))
    found = measure(NullEncoder(), read_captioned(folder), ks=(2, 3))
    assert found.absent["absent_returned"] == 1
    assert [row["id"] for row in found.to_json()["absent_yet_returned"]] == ["2", "3"]
    assert {name for name in found.ranking["caption"] if "_at_" in name} == {
        "hit_at_2", "recall_at_2", "hit_at_3", "recall_at_3"
    }  # fmt: skip
    assert found.left_out["caption"] == {"absent_empty": 1, "absent_returned": 0}


def test_negatives_that_cannot_be_read_are_named_and_the_rest_goes_on(folder: Path) -> None:
    (folder / "captions.csv").write_text("file,caption\nred.png,a dog\n")
    lines = folder / "none.txt"
    lines.write_bytes(b"unicorn\ncaf\xe9\n\ndragon\n")
    found = read_captioned(folder, lines)
    assert [one.text for one in found.queries] == ["a dog", "unicorn", "dragon"]
    assert str(found.problems.named[0]).startswith("wrong-encoding: none.txt line 2")
    lines.write_bytes(b"")
    assert read_captioned(folder, lines).problems.counts == {"empty-file": 1}
    with pytest.raises(EvaluationError, match="bad data set"):
        read_captioned(folder, lines, strict=True)
    with pytest.raises(EvaluationError, match="there is no file"):
        read_captioned(folder, folder / "nowhere.txt")


def test_the_persons_own_shift_counts(folder: Path) -> None:
    (folder / "captions.csv").write_text("file,caption\nred.png,red\nblue.png,blue\n")
    data = read_captioned(folder)
    photos, none = np.eye(64, dtype=np.float32)[:3], np.zeros(3, np.bool_)
    asked = [Asker(NullEncoder(), photos, shift).ask("red", none) for shift in (0.0, 0.5)]
    assert asked[1].cutoff == pytest.approx(asked[0].cutoff + 0.5)
    plain, moved = (measure(NullEncoder(), data, shift=shift) for shift in (0.0, 50.0))
    assert plain.sets["caption"]["recall"] == 1
    assert moved.sets["caption"]["present_empty"] == 1
    assert moved.cutoff.cutoff == plain.cutoff.cutoff + 50
    assert moved.to_json()["calibration"]["cutoff_shift"] == 50


def query(scores: np.ndarray, relevant: list[int]) -> ScoredQuery:
    mask = np.zeros(len(scores), np.bool_)
    mask[relevant] = True
    return ScoredQuery("x", scores.astype(np.float32), 2.0, mask)


def shown(chance: np.random.Generator, at: int, height: float) -> ScoredQuery:
    scores = chance.normal(1.0, 0.3, 40)
    scores[at] = height
    return query(scores, [at])


def test_the_recommendation_is_an_absolute_shift_and_says_by_what() -> None:
    chance = np.random.default_rng(3)
    present = [shown(chance, at, 4.0) for at in range(40)]
    absent = [query(chance.normal(2.3, 0.1, 40), []) for _ in range(20)]
    found = calibrated(present, absent, 2.5, offset=0.5)
    assert found.recommended is not None
    assert found.cutoff_shift == round(0.5 + found.recommended.shift, 3)
    assert found.to_json()["recommended_cutoff"] == round(2.5 + found.recommended.shift, 3)
    assert found.chosen_by == "f1 and absent_empty"


def test_without_negatives_nothing_harmful_is_recommended() -> None:
    """Half of the right photos stand low, among wrong ones: a cut-off that lets nothing wrong
    through loses them, and F1 with them."""
    chance = np.random.default_rng(4)
    present = [shown(chance, at, 2.2 if at % 4 < 2 else 5.0) for at in range(40)]
    for one in present:
        one.scores[(np.flatnonzero(one.relevant)[0] + 2) % 40] = 2.6  # not labelled, yet like it
    found = calibrated(present, [], 2.0)
    assert found.chosen_by == "f1"
    assert found.recommended is not None
    assert found.recommended.figures["f1"] >= found.shipped.figures["f1"]


@pytest.mark.parametrize(("num", "enough"), [(0, True), (1, False), (7, False), (8, True)])
def test_a_few_negatives_recommend_nothing(num: int, enough: bool) -> None:
    chance = np.random.default_rng(5)
    present = [shown(chance, at, 4.0) for at in range(20)]
    found = calibrated(present, [query(chance.normal(1, 0.3, 40), []) for _ in range(num)], 2.0)
    assert (found.recommended is not None) is enough
    assert bool(found.too_few) is not enough


def test_halves_share_no_photo() -> None:
    """Ten captions each of six photos: what is learnt of a photo is not shown on it."""
    chance = np.random.default_rng(6)
    present = [shown(chance, at // 10, 4.0) for at in range(60)]
    (one, _), (other, _) = cutoffs._halves(present, [])
    assert len(one) == len(other) == 30
    assert {len(part.scores) for part in (*one, *other)} == {20}
    mine, theirs = ({tuple(np.flatnonzero(q.relevant)) for q in half} for half in (one, other))
    assert mine == theirs == {(0,), (1,), (2,)}  # of the even photos, and of the odd ones
    several = [query(chance.normal(size=40), [at, at + 1]) for at in range(20)]
    (one, _), (other, _) = cutoffs._halves(several, [])
    assert len(one) == len(other) == 10
    assert all(part.relevant.sum() == 1 for part in (*one, *other))


def test_the_command_reads_ranks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "red.txt").write_text("red")
    command = ["eval", "retrieval", str(folder), "--encoder", "null", "--quiet"]
    assert main([*command, "--k", "1,2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ranking"]["caption"]["recall_at_2"] == 1
    assert told["calibration"]["too_few"]
    assert main(command) == 0
    assert "too few queries" in capsys.readouterr().out
    for ranks in ("0", "x", ""):
        assert main([*command, "--k", ranks]) == 2
