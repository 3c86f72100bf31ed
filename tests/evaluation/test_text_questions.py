"""Questions with answers in words: made from the truth alone, put to the real files, scored."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from photocraft_local.app import evaluating
from photocraft_local.app.albums import Shelf
from photocraft_local.app.evaluating import How, LibraryAnswerer
from photocraft_local.app.measuring import ask_files
from photocraft_local.app.parts import Parts
from photocraft_local.errors import EvaluationError, LibraryError
from photocraft_local.evaluation.dataset import Album
from photocraft_local.evaluation.disbench.presets import PRESETS
from photocraft_local.evaluation.metadata_truth import read_truth
from photocraft_local.evaluation.problems import Problems
from photocraft_local.evaluation.questions import EvalQuestion
from photocraft_local.evaluation.reports.figures import figures
from photocraft_local.evaluation.text_questions import (
    LIBRARY,
    made_questions,
    read_questions,
    usable,
)
from photocraft_local.settings import Settings

TRUTH = {
    "a.jpg": {"outcome": "index", "time": "2021-06-14T10:00:00", "camera": "Canon|EOS 5D"},
    "b.jpg": {"outcome": "index", "time": "2021-06-14T11:00:00", "camera": "Canon|EOS 5D"},
    "c.jpg": {"outcome": "index", "time": "2021-08-01T11:00:00"},
    "d.jpg": {"outcome": "index", "time": None, "camera": "Apple|iPhone 4"},
    "e.jpg": {"outcome": "index", "time": ""},
    "f.jpg": {"outcome": "skip"},
}


def test_questions_follow_the_truth() -> None:
    assert set(usable(TRUTH)) == {"a.jpg", "b.jpg", "c.jpg", "d.jpg"}
    made = made_questions(usable(TRUTH))
    told = {(one.kind, *one.groups): one for one in made}
    count = told["photos-of-year", "zh"]
    assert (count.gold_text, count.gold) == ("3", frozenset({"a.jpg", "b.jpg", "c.jpg"}))
    assert told["days-of-year", "en"].gold_text == "2"
    assert told["first-day", "de"].gold_text == "2021-06-14"
    assert told["last-day", "en"].gold == frozenset({"c.jpg"})
    cameras = {one.text: one.gold_text for one in made if one.kind == "photos-of-camera"}
    assert cameras == {
        "how many photos were taken with the EOS 5D": "2",
        "how many photos were taken with the iPhone 4": "1",
    }
    assert ("camera-of-last", "en") not in told  # nobody knows what took it
    assert ("day-of-camera", "en") not in told
    assert len({one.key for one in made}) == len(made)


def test_a_table_of_questions(tmp_path: Path) -> None:
    table = tmp_path / "q.csv"
    table.write_text("id,question,answer,photos\na,how many?,3,x.jpg|y.jpg\na,again?,1,\nb,,2,\n")
    problems = Problems()
    (only,) = read_questions(table, problems)
    assert (only.gold_text, only.gold) == ("3", frozenset({"x.jpg", "y.jpg"}))
    assert [one.where for one in problems.named] == ["q.csv line 3", "q.csv line 4"]
    table.write_text("question,answer,photos\nwhen?,2021|in 2021,\nwhich?,no photo,none\n")
    alone, empty = read_questions(table, Problems())
    assert (alone.has_gold, empty.has_gold, empty.gold) == (False, True, frozenset())
    table.write_text('question,answer\n"when\nwas it?",2021\n\n,2\nwhy?\n')
    problems = Problems()
    assert [one.id for one in read_questions(table, problems)] == ["0002"]
    assert [one.where for one in problems.named] == ["q.csv line 5", "q.csv line 6"]
    table.write_text("question,answer\nwhen?,2021\n")
    assert not read_questions(table, Problems())[0].has_gold


def test_the_planner_answers_in_words(shared: Path, shared_cache: Path, tmp_path: Path) -> None:
    folder = shared / "data/odd"
    truth = {name: told for name, told in usable(read_truth(folder).files).items()
             if name.startswith(("date_", "orient_"))}  # fmt: skip
    questions = [one for one in made_questions(truth) if one.groups != ("de",)]
    settings = Settings(cache=shared_cache, encoder="null", backbone="planner")
    files = {name: folder / name for name in truth}
    run = ask_files(settings, files, questions, tmp_path / "run")
    told = figures(run.sorted_rows())
    assert told["text"]["num"] == len(questions) > 20
    assert told["text"]["text_contained"] == 1
    assert told["text"]["text_normalised"] == 1  # the bare value, not the sentence
    assert told["all"]["em"][0] == 1
    assert not (tmp_path / "run/library/memory/episodes.jsonl").exists()
    with pytest.raises(EvaluationError, match="another fingerprint"):
        ask_files(settings, files, questions[1:], tmp_path / "run")
    with pytest.raises(EvaluationError, match="no question"):
        ask_files(settings, files, [], tmp_path / "other")


def test_a_model_is_asked_for_the_bare_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words are scored as they stand; the planner's question stays as it is."""
    shelf = Shelf(Album("u", tmp_path, {}, {}, "", date(2024, 1, 1)), tmp_path)
    with closing(Parts(Settings(library=tmp_path / "l", backbone="planner"))) as parts:
        for backbone, longer in (("planner", False), ("engine", True)):
            monkeypatch.setattr(evaluating, "chosen", lambda settings, name=backbone: name)
            answerer = LibraryAnswerer({}, parts.settings, How(PRESETS["photocraft"], False))
            for gold_text in ("3", ""):
                one = EvalQuestion("1", "u", "how many?", frozenset(), gold_text=gold_text)
                text = answerer._asked(parts, shelf, one).question
                assert text.startswith("how many?")
                assert ("bare answer" in text) is (longer and bool(gold_text))


def test_no_name_leads_out_of_the_run(shared: Path, shared_cache: Path, tmp_path: Path) -> None:
    """What a table names is copied below the run's folder, folders kept, and nowhere else."""
    photo = shared / "data/odd/orient_1.jpg"
    settings = Settings(cache=shared_cache, encoder="null", backbone="planner")
    asked = [EvalQuestion("1", LIBRARY, "how many photos", frozenset({"sub/b.jpg"}), gold_text="1")]
    for name in ("../outside.jpg", "sub/../../outside.jpg", str(tmp_path / "outside.jpg")):
        with pytest.raises(EvaluationError, match="lead out"):
            ask_files(settings, {name: photo}, asked, tmp_path / "out/run")
    assert not list(tmp_path.rglob("outside.jpg"))
    files = {"sub/b.jpg": photo, "c.jpg": shared / "data/odd/orient_6.jpg", "sub/twin.jpg": photo}
    with pytest.raises(LibraryError, match="photos cannot be used: File exists"):
        ask_files(settings, {"sub": photo, "sub/b.jpg": photo}, asked, tmp_path / "odd")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    run = ask_files(settings, files, asked, tmp_path / "link" / ".." / "run")
    (row,) = run.sorted_rows()
    assert set(row.predicted) == {"c.jpg", "sub/b.jpg"}  # twins are one photo
    assert row.gold == ("sub/b.jpg",)
    others = [replace(asked[0], gold=frozenset({"c.jpg"}))]  # the row was judged by the first
    with pytest.raises(EvaluationError, match="another fingerprint"):
        ask_files(settings, files, others, tmp_path / "run")
