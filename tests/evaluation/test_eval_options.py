"""Options of ``eval`` that would do nothing, and files that would be lost, are refused at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from made_runs import made_run

from photocraft_local.cli.main import main
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation import submission


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["eval", *words]) == 2
    told = capsys.readouterr()
    assert not told.out
    return told.err


@pytest.mark.parametrize(
    "idle", [("--runs", "3"), ("--concurrency", "4"), ("--retry-failed",), ("--out", "run")]
)
def test_what_only_questions_use_is_refused_without_them(
    idle: tuple[str, ...], shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refused(capsys, "metadata", str(shared / "data/exif"), *idle)
    assert f"{idle[0]} goes with --ask or --questions" in told


def test_two_sources_of_questions_are_one_too_many(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refused(
        capsys, "metadata", str(shared / "data/exif"), "--ask", "--questions", "mine.csv"
    )
    assert "--questions" in told


def test_faults_of_a_table_of_questions_are_named_in_the_json(
    shared: Path, shared_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    rows = ["how many photos are there,33,", "why,,", "which?,1,nowhere.jpg", "none?,0,none"]
    (tmp_path / "q.csv").write_text("\n".join(["question,answer,photos", *rows]))
    command = ["eval", "metadata", str(shared / "data/exif"), "--encoder", "null", "--json"]
    command += ["--questions", str(tmp_path / "q.csv"), "--out", str(tmp_path / "run")]
    assert main([*command, "--backbone", "planner"]) == 0
    told = capsys.readouterr()
    faults = json.loads(told.out)["questions"]["problems"]
    assert faults["counts"] == {"bad-line": 1, "unknown-answer": 1}
    assert "nowhere.jpg" in faults["named"][1]
    assert "2 faults of the data set, named in --json" in told.err
    assert main([*command, "--backbone", "planner", "--strict"]) == 2


def plain(folder: Path, *rows: dict[str, object]) -> Path:
    (folder / "photos").mkdir(parents=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "questions.jsonl").write_text(text, "utf-8")
    return folder


def test_nearest_photos_are_of_one_preset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = plain(tmp_path / "data", {"id": "1", "question": "dogs", "gold": []})
    told = refused(
        capsys, "ablation", str(data), "--top-k", "5", "--out", str(tmp_path / "run"),
        "--encoder", "null", "--backbone", "planner",
    )  # fmt: skip
    assert "--top-k is of the preset embedding-only" in told


def test_a_run_that_is_not_there_is_named_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "holds no run" in refused(capsys, "report", str(tmp_path / "nowhere"))


def test_pictures_from_nowhere_and_less_than_no_failures_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(made_run(tmp_path / "run").path)
    assert "nowhere" in refused(capsys, "report", run, "--photos", str(tmp_path / "nowhere"))
    assert "not -3" in refused(capsys, "report", run, "--failures", "-3")
    assert not (tmp_path / "run/report.html").exists()
    assert main(["eval", "report", run, "--failures", "0"]) == 0


def test_ranks_that_are_none_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "must be at least 1, not 0" in refused(capsys, "retrieval", "x", "--k", "0,5")
    assert "'x' is no whole number" in refused(capsys, "retrieval", "x", "--k", "1,x")


@pytest.mark.parametrize("command", ["disbench", "photobench"])
def test_an_export_goes_over_no_file_of_someone_else(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the data set is read, let alone asked: here there is none."""
    mine = tmp_path / "mine.json"
    mine.write_text('{"letters": []}')
    told = refused(capsys, command, str(tmp_path), "--export", str(mine))
    assert "is no export of photocraft" in told
    assert mine.read_text() == '{"letters": []}'
    told = refused(capsys, command, str(tmp_path), "--export", str(tmp_path / "no/x.json"))
    assert "there is no folder" in told


def test_an_export_goes_over_an_earlier_one(tmp_path: Path) -> None:
    for number, content in enumerate([submission.submission([], {}), [{"pred": []}], []]):
        path = tmp_path / f"{number}.json"
        submission.write(path, content)
        submission.check_target(path)
    (tmp_path / "link.json").symlink_to(tmp_path / "0.json")
    os.mkfifo(tmp_path / "pipe.json")  # that nobody writes to
    (tmp_path / "folder.json").mkdir()
    unwritten = {"link.json": None, "pipe.json": None, "folder.json": None}
    for name, text in {**unwritten, "cut.json": '{"meta"', "other.json": "[1]"}.items():
        if text:
            (tmp_path / name).write_text(text)
        with pytest.raises(EvaluationError):
            submission.check_target(tmp_path / name)
