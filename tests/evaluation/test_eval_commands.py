"""``photocraft eval report|compare|retrieval|metadata|ablation`` as a person runs them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import made_disbench
import pytest
from made_runs import ATTACKS, made_run, photos
from PIL import Image

from photocraft_local.cli.main import main
from photocraft_local.evaluation.ablation import SWITCHES
from photocraft_local.evaluation.results import RunFolder


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, shared_cache: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    monkeypatch.setenv("PHOTOCRAFT_ENCODER", "null")
    monkeypatch.setenv("PHOTOCRAFT_BACKBONE", "planner")
    monkeypatch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(tmp_path / "memory"))


def test_a_report_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = made_run(tmp_path / "run").path
    assert main(["eval", "report", str(run), "--photos", str(photos(tmp_path / "data"))]) == 0
    page = (run / "report.html").read_text("utf-8")
    assert "data:image/jpeg" in page
    assert "report.html" in capsys.readouterr().out
    RunFolder.load(run)  # the page in its folder does not disturb it
    assert main(["eval", "report", str(run), "--json", "--failures", "3"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["failures"]) == 3
    assert told["all"]["num"] == 60


def test_a_report_goes_over_no_file_of_someone_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, mine = made_run(tmp_path / "run", 4).path, tmp_path / "mine.html"
    mine.write_text("mine")
    assert main(["eval", "report", str(run), "--out", str(mine)]) == 2
    assert mine.read_text() == "mine"
    assert "no report of photocraft" in capsys.readouterr().err
    assert main(["eval", "report", str(tmp_path)]) == 2


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = made_run(tmp_path / "a", skill=0.2).path, made_run(tmp_path / "b", 62, skill=0.9).path
    assert main(["eval", "compare", str(a), str(b)]) == 0
    said = capsys.readouterr()
    assert "overall" in said.out
    assert "differs: skill: 0.2 | 0.9" in said.out
    assert "2 questions not in A: user0/q60, user1/q61" in said.err
    assert main(["eval", "compare", str(a), str(b), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["all"]["em_p"] < 0.01
    assert told["only_b_questions"] == [["user0", "q60"], ["user1", "q61"]]


def test_texts_of_a_data_set_steer_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = made_run(tmp_path / "a", attack=True, skill=0.1).path
    b = made_run(tmp_path / "b", attack=True, skill=0.9).path
    with (tmp_path / "captions.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "caption"])
        rows.writerows([["photo.png", text] for text in ATTACKS[:5]])
        rows.writerows([[text, "x"] for text in ATTACKS[:4]])
    Image.new("RGB", (40, 30), "red").save(tmp_path / "photo.png")
    for command in (["report", str(a)], ["compare", str(a), str(b)], ["retrieval", str(tmp_path)]):
        assert main(["eval", *command]) == 0
        said = capsys.readouterr()
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", said.out + said.err)


def test_retrieval_of_a_folder(
    tmp_path: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, colour in {"a": (220, 30, 30), "b": (40, 70, 220), "c": (50, 160, 60)}.items():
        Image.new("RGB", (40, 30), colour).save(tmp_path / f"{name}.png")
    (tmp_path / "captions.csv").write_text("file,caption\na.png,red\nb.png,blue\nz.png,gone\n")
    (tmp_path / "none.txt").write_text("zebra\n")
    command = ["eval", "retrieval", str(tmp_path), "--negatives", str(tmp_path / "none.txt")]
    assert main(command) == 0
    said = capsys.readouterr()
    assert "too few queries to recommend one" in said.out
    assert "captions.csv line 4: there is no file 'z.png'" in said.err
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ranking"]["caption"]["hit_at_1"] == 1
    assert told["absent"]["absent_empty"] == 1
    assert told["problems"]["counts"] == {"missing-image": 1}
    assert main([*command, "--strict"]) == 2
    assert main(["eval", "retrieval", str(tmp_path / "nowhere")]) == 2


def test_metadata_of_real_files(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "metadata", str(shared / "data/exif")]) == 0
    assert "33 files" in capsys.readouterr().out
    assert main(["eval", "metadata", str(shared / "data/odd"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fields"]["time"] == {
        "right": 38, "wrong": 0, "missing": 0, "more": 0
    }  # fmt: skip


def test_a_wrong_field_has_an_exit_code(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jpg").write_bytes((shared / "data/odd/date_zero.jpg").read_bytes())
    (tmp_path / "expected.csv").write_text(
        "file,outcome,taken_at\na.jpg,index,2001-01-01T00:00:00\n"
    )
    (tmp_path / "q.csv").write_text("question,answer\nhow many photos are from 2019,1\n")
    assert main(["eval", "metadata", str(tmp_path)]) == 1
    assert "wrong: a.jpg: time: '2019-05-04T10:00:00'" in capsys.readouterr().out
    out = tmp_path / "run"
    command = ["eval", "metadata", str(tmp_path), "--questions", str(tmp_path / "q.csv")]
    assert main([*command, "--out", str(out), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["questions"]["figures"]["text"]
    assert told.pop("intervals").keys() == {"text_exact", "text_normalised", "text_contained"}
    assert told == {
        "num": 1, "without_gold": 1, "text_exact": 1, "text_normalised": 1, "text_contained": 1
    }  # fmt: skip
    assert main(["eval", "metadata", str(tmp_path), "--out", str(out)]) == 2


def test_an_ablation_runs_each_variant_once(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = made_disbench.made(shared, tmp_path / "disbench", num_users=1)
    command = ["eval", "ablation", str(data), "--out", str(tmp_path / "out"), "--on-doubt",
               "abstain", "--libraries", str(tmp_path / "libraries"), "--quiet"]  # fmt: skip
    only = ["--only", "no-tool:filter_photos,no-episodic,no-sets"]
    assert main([*command, *only, "--json"]) == 0
    rows = {row["variant"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert list(rows) == ["full", "no-tool:filter_photos", "no-episodic", "no-sets"]
    assert rows["no-sets"]["overall F1"] < rows["full"]["overall F1"]  # rules keep all in sets
    assert rows["no-tool:filter_photos"]["overall F1"] < rows["full"]["overall F1"]
    assert rows["no-episodic"]["F1 change"] == 0  # rules need no plan of their own
    heads = [json.loads((tmp_path / "out" / name / "run.json").read_text())["identity"]
             for name in ("full", "no-tool_filter_photos", "no-episodic")]  # fmt: skip
    assert [head["without"] for head in heads] == [[], ["filter_photos"], []]
    assert [head["settings"]["episodic"] for head in heads] == ["True", "True", "False"]
    tools = {name for row in RunFolder.load(
        tmp_path / "out/no-tool_filter_photos").sorted_rows() for name in row.tools}  # fmt: skip
    assert "filter_photos" not in tools
    results = tmp_path / "out/full/results.jsonl"
    before = results.read_bytes()
    results.write_bytes(before[: len(before) // 2])  # killed half-way
    assert main([*command, *only]) == 0
    assert results.read_bytes() == before
    assert "no-tool:filter_photos" in capsys.readouterr().out
    assert main([*command, "--only", "no-tool:none"]) == 2
    said = capsys.readouterr().err
    assert all(name in said for name in SWITCHES)
