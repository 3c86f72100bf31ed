"""A folder in PhotoBench's layout: read, asked, ranked, and questions that no photo answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_photobench
import pytest

from photocraft_local.cli.main import main
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.photobench.faces import read_people
from photocraft_local.evaluation.photobench.layout import (
    NO_ANSWER,
    UNREAD_PHOTOS,
    UNREAD_QUESTIONS,
    load,
)
from photocraft_local.evaluation.photobench.scores import (
    abstention,
    ranked,
    scores,
    sets,
    submission_rows,
)
from photocraft_local.evaluation.problems import Problems
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.results import ResultRow, row_of


@pytest.fixture
def folder(shared: Path, tmp_path: Path) -> Path:
    return made_photobench.made(shared, tmp_path / "photobench")


def test_the_published_layout(folder: Path) -> None:
    dataset = load(folder, strict=True)
    assert [question.id for question in dataset.questions] == ["1", "2", "3", "4"]
    assert dataset.problems.left_out == {"no published answer": 1, UNREAD_PHOTOS: 1}
    none = dataset.questions[2]
    assert not none.gold
    assert none.groups == ("fact", NO_ANSWER)
    assert none.kind == "M"
    album = dataset.albums[made_photobench.ALBUM]
    given = {name: album.given.get(bytes(path)) for name, path in album.pictures.items()}
    assert len(given) == 10
    first, other, named = given["IMG 0000.JPG"], given["IMG 0004.JPG"], given["IMG 0006.JPG"]
    assert first is not None
    assert first.location is not None
    assert (first.location.latitude, first.location.longitude) == (38.7139, -9.1394)
    assert other is not None
    assert other.location is not None
    assert named is not None
    assert named.address == "Rue de Rivoli, Paris, France"
    assert given["IMG 0009.JPG"] is None
    assert load(folder, language="cn").questions[0].text.endswith("1")
    assert load(folder, language="cn").fingerprint != dataset.fingerprint


def test_the_images_may_stand_in_the_albums_own_folder(folder: Path) -> None:
    home = folder / made_photobench.ALBUM
    for picture in (home / "images").iterdir():
        picture.rename(home / picture.name)
    (folder / "dataset").mkdir()
    home.rename(folder / "dataset" / made_photobench.ALBUM)
    assert len(load(folder, strict=True).questions) == 4


def test_who_is_on_a_photo_is_read_checked_and_counted(folder: Path) -> None:
    rows = made_photobench.questions()
    rows[0]["Source_type"] = "M,F"
    (folder / "test.json").write_text(json.dumps(rows))
    faces = {
        "face_id_to_nicknames": {"1": ["me", "dad"], "2": "mum", "3": [], "4": [{}]},
        "image_to_face_ids": {
            "IMG 0000.JPG": ["1", 2], "IMG 0001.JPG": ["3", "9"], "IMG 0002.JPG": 2,
            "else.JPG": ["1"], "IMG 0003.JPG": None,
        },
    }  # fmt: skip
    home = folder / made_photobench.ALBUM
    (home / "face_info_en.json").write_text(json.dumps(faces))
    dataset = load(folder)
    assert dataset.problems.counts == {"missing-image": 1, "bad-value": 2}
    assert dataset.problems.left_out[UNREAD_PHOTOS] == 2
    assert dataset.problems.left_out[UNREAD_QUESTIONS] == 1
    assert len(dataset.questions) == 4  # they are asked all the same
    pictures = dataset.albums[made_photobench.ALBUM].pictures
    people = read_people(home, "en", pictures, Problems())
    assert people.on == {"IMG 0000.JPG": {"me", "dad", "mum"}, "IMG 0002.JPG": {"mum"}}
    assert read_people(home, "cn", pictures, Problems()).on == {}  # in another language
    with pytest.raises(EvaluationError, match="bad data set: bad-value"):
        load(folder, strict=True)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "empty-file"),
        (b"[1]", "bad-line"),
        (b"{", "bad-line"),
        (b'{"image_to_face_ids": {}}', "bad-line"),
        (b'{"face_id_to_nicknames": {"1": ["caf\xe9"]}}', "wrong-encoding"),
    ],
)
def test_bad_files_of_people_are_named(folder: Path, content: bytes, kind: str) -> None:
    (folder / made_photobench.ALBUM / "face_info_en.json").write_bytes(content)
    dataset = load(folder)
    assert dataset.problems.counts[kind] == 1
    assert len(dataset.questions) == 4
    assert UNREAD_PHOTOS not in dataset.problems.left_out


@pytest.mark.parametrize(
    ("change", "kind", "left"),
    [
        ({"GroundTruth": ["nowhere.JPG"]}, "unknown-answer", 3),
        ({"Query_id": 2}, "duplicate-id", 3),
        ({"Album_id": "album9"}, "missing-user", 3),
        ({"Album_id": "../album1"}, "bad-line", 3),
        ({"Query": " "}, "bad-line", 3),
        ({"GroundTruth": "IMG 0000.JPG"}, "bad-line", 3),
    ],
)
def test_a_bad_question_is_named_and_left_out(
    folder: Path, change: dict[str, Any], kind: str, left: int
) -> None:
    rows = made_photobench.questions()
    rows[0] |= change
    (folder / "test.json").write_text(json.dumps(rows))
    dataset = load(folder)
    assert dataset.problems.counts[kind] == 1
    assert len(dataset.questions) == left
    with pytest.raises(EvaluationError, match="bad data set"):
        load(folder, strict=True)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "empty-file"),
        (b'{"IMG 0000.JPG": {"time": "caf\xe9"}}', "wrong-encoding"),
        (b"{", "bad-line"),
        (b"[]", "bad-line"),
        (b'{"IMG 0000.JPG": 3}', "bad-line"),
        (b'{"other.JPG": {}}', "missing-image"),
        (b'{"IMG 0000.JPG": {"time": "soon"}}', "bad-value"),
    ],
)
def test_bad_metadata_are_named_and_count_as_missing(
    folder: Path, content: bytes, kind: str
) -> None:
    (folder / made_photobench.ALBUM / "metadata.json").write_bytes(content)
    dataset = load(folder)
    assert dataset.problems.counts[kind] == 1
    assert len(dataset.questions) == 4


def test_what_is_no_data_set(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="no PhotoBench folder"):
        load(tmp_path)
    (folder / "test.json").write_bytes(b"")
    with pytest.raises(EvaluationError, match=r"can be asked: empty-file: test\.json"):
        load(folder)


def row(number: int, predicted: list[str], gold: list[str], status: str = "answered") -> ResultRow:
    question = EvalQuestion(str(number), "a", "?", frozenset(gold), "V")
    return row_of(question, Reply(tuple(predicted), status=status))  # type: ignore[arg-type]


ROWS = [
    row(1, ["x", "a", "b"], ["a", "b"]),
    row(2, [], ["a"]),  # wrongly none
    row(3, [], []),  # rightly none
    row(4, ["a"], []),
    row(5, [], [], status="failed"),  # an error rejects nothing
]


def test_ranks_sets_and_abstention() -> None:
    found = ranked(ROWS)
    assert found["num"] == 2
    assert (found["recall@1"], found["recall@5"], found["recall@100"]) == (0, 0.5, 0.5)
    gained = (0.63092975 + 0.5) / (1 + 0.63092975)
    assert found["ndcg@5"] == pytest.approx(gained / 2)
    told = abstention(ROWS)
    assert told["num"] == 3
    assert told["rejected"] == pytest.approx(1 / 3)
    assert told["wrongly"] == 0.5
    assert told["precision"] == 0.5
    assert told["f1"] == pytest.approx(2 * 0.5 * (1 / 3) / (0.5 + 1 / 3))
    assert sets(ROWS)["precision"] == pytest.approx((2 / 3 + 0) / 2)
    assert scores(ROWS)["ranked_by_source"]["V"] == found
    assert ranked([])["recall@1"] is None
    assert abstention([replace(ROWS[0])])["rejected"] is None


def test_rows_of_a_submission() -> None:
    assert submission_rows(ROWS[:1]) == [
        {"album_id": "a", "query_id": "1", "query_en": "?", "pred": ["x", "a", "b"]}
    ]
    (row,) = submission_rows(ROWS[:1], "cn")  # not what nobody asked in English
    assert (row["query_cn"], "query_en" in row) == ("?", False)


def test_the_command_answers_and_abstains(
    folder: Path,
    shared_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    command = ["eval", "photobench", str(folder), "--encoder", "null", "--backbone", "planner"]
    command += ["--out", str(tmp_path / "run"), "--libraries", str(tmp_path / "lib")]
    assert main([*command, "--export", str(tmp_path / "rows.json"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["figures"]["all"]["num"] == 4
    assert told["photobench"]["abstention"]["rejected"] == 1
    assert told["photobench"]["abstention"]["wrongly"] == 0
    assert told["left_out"] == {"no published answer": 1, UNREAD_PHOTOS: 1}
    about = json.loads((tmp_path / "run/run.json").read_text())["about"]
    assert about["problems"]["left_out"] == told["left_out"]
    results = (tmp_path / "run/results.jsonl").read_text().splitlines()
    rows = {row["question"]: row for row in map(json.loads, results)}
    assert rows["1"]["em"] == 1
    assert rows["2"]["em"] == 1  # positions have names in the open track
    assert rows["3"]["em"] == 1
    assert json.loads((tmp_path / "rows.json").read_text())[0]["album_id"] == "album1"
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "ndcg@100" in shown
    assert "1 questions without: 100.0 rejected" in shown
