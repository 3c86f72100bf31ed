"""Proposals from a library: what each leans on, its sheet, and the review of an edited file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from photocraft_local.cli.main import main


@pytest.fixture(scope="module")
def library(shared: Path, shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A year of coloured photos: the null encoder knows colours, and nothing else."""
    from photocraft_local import PhotoSearch, Settings
    from photocraft_local.evaluation.histories.dials import Dials
    from photocraft_local.evaluation.histories.history import compose
    from photocraft_local.evaluation.histories.sources import read_sources

    folder = tmp_path_factory.mktemp("own")
    sources = read_sources(shared / "data" / "captioned")
    compose(sources, Dials(size=200, questions=1)).write(folder / "h")
    settings = Settings(library=folder / "library", cache=shared_cache, encoder="null")
    with PhotoSearch(settings) as photos:
        photos.index(folder / "h" / "photos")
    return folder / "library"


def synthesize(library: Path, *options: str) -> int:
    return main(["eval", "synthesize", "--library", str(library), "--encoder", "null", *options])


def rows_of(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "proposals.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def proposals(library: Path, shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proposed")
    things = folder / "things.txt"
    things.write_text("red\ngreen\nblue\nunicorn\nblack\nwhite\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
        for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):  # it comes before _private_home
            patch.setenv(variable, str(folder))
        options = ("--count", "12", "--things", str(things))
        assert synthesize(library, str(folder / "out"), *options) == 0
    return folder / "out"


@pytest.fixture
def proposed(
    proposals: Path, shared_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy that a test may change."""
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    return Path(shutil.copytree(proposals, tmp_path / "out"))


def test_proposals_name_photos_what_they_lean_on_and_a_sheet(
    proposed: Path, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(proposed)
    assert 3 <= len(rows) <= 12
    assert {row["status"] for row in rows} == {"proposed"}
    for row in rows:
        assert len(row["links"]) == row["hops"] - 1
        assert all(row["links"])
        assert "unicorn" not in row["question"]
        if row["photos"]:
            assert (proposed / row["sheet"]).read_bytes().startswith(b"\x89PNG")
    assert max(row["hops"] for row in rows) > 1
    assert any(row["photos"] for row in rows)
    capsys.readouterr()
    assert synthesize(library, str(proposed)) == 2  # somebody may have worked on it
    assert "is there already" in capsys.readouterr().err


def test_accepted_and_edited_proposals_become_questions(
    proposed: Path, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(proposed)
    rows[0] |= {"status": "accepted", "question": "the red ones", "photos": rows[1]["photos"]}
    rows[1]["status"] = "rejected"
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (proposed / "proposals.jsonl").write_text(text, "utf-8")
    capsys.readouterr()
    assert synthesize(library, str(proposed), "--review", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["accepted"], told["rejected"], told["proposed"]) == (1, 1, len(rows) - 2)
    (line,) = (proposed / "questions.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["question"] == "the red ones"
    assert json.loads(line)["gold"] == sorted(rows[1]["photos"])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"status": "maybe"}, "maybe"),
        ({"photos": ["pzzzzzz"]}, "pzzzzzz"),
        ({"question": " "}, "no text"),
        ({"hops": "many"}, "line 1"),
    ],
)
def test_an_edit_that_cannot_be_used_is_named_with_its_line(
    proposed: Path,
    library: Path,
    change: dict[str, Any],
    named: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = rows_of(proposed)
    text = "".join(json.dumps(row) + "\n" for row in [rows[0] | change, *rows[1:]])
    (proposed / "proposals.jsonl").write_text(text, "utf-8")
    capsys.readouterr()
    assert synthesize(library, str(proposed), "--review") == 2
    told = capsys.readouterr().err
    assert "line 1" in told
    assert named in told


def test_nothing_proposed_leaves_no_file_and_says_why(
    library: Path, shared_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(shared_cache))
    things, out = tmp_path / "things.txt", tmp_path / "out"
    things.write_text("unicorn\n")
    command = [str(out), "--count", "2", "--hops", "1", "--things", str(things)]
    assert synthesize(library, *command, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["proposals"]) == (None, 0)
    assert told["not_taken"]
    assert not out.exists()
    assert synthesize(library, *command) == 1
    assert "no question could be proposed" in capsys.readouterr().out
    things.write_text("\n \n")
    assert synthesize(library, *command) == 2
    assert "names nothing" in capsys.readouterr().err
