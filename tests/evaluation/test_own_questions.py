"""Proposals decided on in the terminal, and the accepted ones put to the person's own library."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.cli.console import Console
from photocraft_local.cli.main import main
from photocraft_local.cli.reviewing import review
from photocraft_local.errors import EvaluationError
from photocraft_local.evaluation.results import RunFolder
from photocraft_local.evaluation.synthesis import PROPOSALS, Proposal, reviewed, rewrite


@pytest.fixture(scope="module")
def settings(
    shared: Path, shared_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Settings:
    """A few real files whose times are known."""
    folder = tmp_path_factory.mktemp("own")
    made = Settings(
        library=folder / "library", memory_folder=folder / "memory", cache=shared_cache,
        encoder="null", backbone="planner",
    )  # fmt: skip
    with PhotoSearch(made) as photos:
        (folder / "photos").mkdir()
        for file in (shared / "data/odd").glob("date_*"):
            shutil.copyfile(file, folder / "photos" / file.name)
        photos.index(folder / "photos")
    return made


@pytest.fixture(scope="module")
def uids(settings: Settings) -> dict[int, list[str]]:
    """By year."""
    found: dict[int, list[str]] = {}
    with PhotoSearch(settings) as photos:
        for photo in photos.list():
            if photo.taken:
                found.setdefault(photo.taken.local.year, []).append(photo.uid)
    return found


@pytest.fixture
def folder(tmp_path: Path, uids: dict[int, list[str]]) -> Path:
    def one(number: int, year: int, **more: Any) -> Proposal:
        words = more.pop("question", f"photos from {year}")
        return Proposal(f"p{number}", words, tuple(uids[year]), "inter-event", 1, **more)

    first, second = sorted(uids)[:2]
    counts = f"how many photos were taken in {first}?"
    made = [
        one(1, first, sheet="p1.png", links=(("x",),)),
        one(2, second),
        one(3, first, question=counts, text=str(len(uids[first]))),
        one(4, second, status="rejected"),
    ]
    rewrite(tmp_path / "proposals", made)
    return tmp_path / "proposals"


def typed(*words: str) -> Callable[[str], str]:
    waiting: Iterator[str] = iter(words)

    def read(prompt: str) -> str:
        try:
            return next(waiting)
        except StopIteration:
            raise EOFError from None

    return read


def decided(folder: Path, uids: dict[int, list[str]], *words: str) -> tuple[list[Proposal], str]:
    known = {uid for some in uids.values() for uid in some} | {"x"}
    shown = io.StringIO()
    review(
        reviewed(folder, known), Console(stdout=shown), typed(*words),
        lambda made: rewrite(folder, made), lambda uid: f"name of {uid}",
    )  # fmt: skip
    return reviewed(folder, known), shown.getvalue()


def test_decisions_are_kept_one_by_one(folder: Path, uids: dict[int, list[str]]) -> None:
    made, shown = decided(folder, uids, "what?", "e", "other words", "a", "r")
    assert [one.status for one in made] == ["accepted", "rejected", "proposed", "rejected"]
    assert made[0].question == "other words"
    assert (made[0].sheet, made[0].links) == ("p1.png", (("x",),))
    assert "name of " in shown
    made, _ = decided(folder, uids, "t", "three", "", "a")
    assert [one.status for one in made] == ["accepted", "rejected", "proposed", "rejected"]
    assert made[2].text == "three"
    made, _ = decided(folder, uids, "q")
    assert made[2].status == "proposed"


def test_a_terminal_that_is_not_utf_8_spoils_nothing(
    folder: Path, uids: dict[int, list[str]]
) -> None:
    made, _ = decided(folder, uids, "e", "caf\udce9", "t", "\udcff", "a")
    assert (made[0].question, made[0].text, made[0].status) == ("caf?", "?", "accepted")


def test_a_file_that_an_editor_saved_and_words_of_any_kind_are_read(
    folder: Path, uids: dict[int, list[str]]
) -> None:
    """Lines end where JSON's do: a text may hold what Python takes for the end of one."""
    made, _ = decided(folder, uids, "e", "one\u2028two\x85three", "a")
    assert made[0].question == "one\u2028two\x85three"
    path = folder / PROPOSALS
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert [one.question for one in decided(folder, uids, "q")[0]] == [m.question for m in made]


@pytest.mark.parametrize(
    ("name", "value"),
    [("question", "\ud800"), ("text", "\ud800"), ("hops", float("inf")), ("sheet", "\udcff")],
)
def test_what_could_not_be_written_again_is_named(
    folder: Path, uids: dict[int, list[str]], name: str, value: object
) -> None:
    path = folder / PROPOSALS
    first, *others = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text(json.dumps(json.loads(first) | {name: value}) + "\n" + "".join(others))
    with pytest.raises(EvaluationError, match="line 1"):
        decided(folder, uids, "q")


def test_a_question_whose_photos_nobody_knows_is_judged_by_its_words(
    settings: Settings, uids: dict[int, list[str]], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    year = min(uids)
    asked = {"question": f"how many photos are from {year}", "gold_text": str(len(uids[year]))}
    rows = [
        {"id": "1", "question": f"photos from {year}", "gold": uids[year]},
        {"id": "2", **asked, "gold": None},
        {"id": "3", **asked},
        {"id": "4", "question": "photos", "gold": None},
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert own(settings, str(file), "--out", str(tmp_path / "run"), "--json") == 0
    shown = capsys.readouterr()
    told = json.loads(shown.out)["figures"]
    assert (told["all"]["num"], told["all"]["em"][0]) == (1, 1)
    assert (told["text"]["without_gold"], told["text"]["text_normalised"]) == (2, 1)
    assert "bad-line: mine.jsonl line 4" in shown.err


def own(settings: Settings, *words: str) -> int:
    common = ["--library", str(settings.library), "--encoder", "null", "--backbone", "planner"]
    return main(["eval", "own", *words, *common])


@pytest.fixture(autouse=True)
def places(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHOTOCRAFT_CACHE", str(settings.cache))
    monkeypatch.setenv("PHOTOCRAFT_MEMORY_FOLDER", str(settings.memory_folder))


def accept(folder: Path) -> None:
    text = (folder / PROPOSALS).read_text("utf-8")
    (folder / PROPOSALS).write_text(text.replace('"proposed"', '"accepted"'), "utf-8")


def test_accepted_questions_are_asked_and_nothing_of_the_person_changes(
    settings: Settings, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accept(folder)
    out = tmp_path / "run"
    assert own(settings, str(folder), "--out", str(out), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["figures"]["all"]["num"] == 3
    assert told["figures"]["all"]["em"][0] == 1
    assert told["figures"]["text"]["text_contained"] == 1  # "11 photos" holds 11
    rows = RunFolder.load(out).sorted_rows()
    assert trajectory.load(out / rows[0].trace).question == rows[0].asked
    assert not settings.memory_folder.exists()
    assert not (settings.library / "memory").exists()
    assert not list((settings.library / "traces").glob("*.json"))
    page = tmp_path / "page.html"
    report = ["eval", "report", str(out), "--out", str(page), "--photos", str(settings.library)]
    assert main(report) == 0
    assert own(settings, str(folder / PROPOSALS), "--out", str(out)) == 0
    assert "answers in words (1)" in capsys.readouterr().out


def test_a_line_that_cannot_be_used_costs_itself_alone(
    settings: Settings, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accept(folder)
    lines = (folder / PROPOSALS).read_bytes().splitlines()
    lines += [b"{", b'{"id": "caf\xe9"}', lines[0]]
    other = lines[1].replace(b'"p2"', b'"p9"')
    lines.append(other.replace(b'"photos": ["', b'"photos": ["pzzzzzz", "'))
    (folder / PROPOSALS).write_bytes(b"\n".join(lines))
    assert own(settings, str(folder), "--out", str(tmp_path / "run"), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["figures"]["all"]["num"] == 3
    assert told["problems"] == {
        "bad-line": 1, "wrong-encoding": 1, "duplicate-id": 1, "unknown-answer": 1
    }  # fmt: skip
    assert own(settings, str(folder), "--out", str(tmp_path / "no"), "--strict") == 2
    assert "proposals.jsonl line 5" in capsys.readouterr().err


def test_a_file_of_ones_own_and_what_cannot_be_asked(
    settings: Settings, uids: dict[int, list[str]], folder: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    year = min(uids)
    good = {"id": "1", "question": f"photos from {year}", "gold": uids[year]}
    bad = {"id": "2", "question": "nothing", "gold": ["pzzzzzz"]}
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in (good, bad)))
    out = tmp_path / "run"
    assert own(settings, str(file), "--out", str(out), "--concurrency", "2") == 0
    told = capsys.readouterr()
    assert "unknown-answer: mine.jsonl line 2" in told.err
    assert RunFolder.load(out).sorted_rows()[0].em == 1
    assert own(settings, str(file), "--out", str(tmp_path / "no"), "--strict") == 2
    assert own(settings, str(folder), "--out", str(tmp_path / "no")) == 2  # none is accepted
    assert "--review" in capsys.readouterr().err
    assert own(settings, str(tmp_path / "nowhere")) == 2
    assert "is not there" in capsys.readouterr().err
    assert own(settings, str(tmp_path), "--runs", "99") == 2
    assert "runs" in capsys.readouterr().err


def test_wrong_answers_show_their_photos_from_the_library(
    settings: Settings, uids: dict[int, list[str]], tmp_path: Path
) -> None:
    year, other = sorted(uids)[:2]
    row = {"id": "1", "question": f"photos from {year}", "gold": uids[other]}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row))
    out, page = tmp_path / "run", tmp_path / "page.html"
    assert own(settings, str(tmp_path / "mine.jsonl"), "--out", str(out)) == 0
    report = ["eval", "report", str(out), "--out", str(page)]
    assert main(report) == 0
    assert "data:image/jpeg" not in page.read_text("utf-8")  # it can be mailed
    assert main([*report, "--photos", str(settings.library)]) == 0
    assert "data:image/jpeg" in page.read_text("utf-8")
