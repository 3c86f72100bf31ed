"""``ask`` as a person meets it: early sets before the answer, and going on after a cut."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from asking import ITALY, THREE, Command, Photocraft, cut, names

from photocraft_local.app import asking
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.search.catalog import Catalog
from photocraft_local.search.searcher import Searcher

# -- fast first ----------------------------------------------------------------------------------


def test_what_was_understood_and_candidates_come_before_the_search_goes_on(
    command: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def hear(name: str, kind: type, method: str) -> None:
        run = getattr(kind, method)

        def heard(*args: Any, **options: Any) -> Any:
            done = capsys.readouterr()
            told.append(f"{done.err}{done.out}{name} ")
            return run(*args, **options)

        monkeypatch.setattr(kind, method, heard)

    hear("FILTER", Catalog, "filter")
    hear("LOOK", Searcher, "search")
    code, out, _ = command("ask", "red photos from Italy in October 2008")
    assert code in (0, 1)
    heard = "".join(told)
    plan, candidate = heard.index("looking for: photos"), heard.index("candidate ")
    assert plan < heard.index("FILTER", plan)  # understood: before anything is looked for
    assert candidate < heard.index("LOOK", candidate)  # in hand: before the look is searched
    assert "photo" in out


def test_the_result_alone_is_on_stdout(command: Command) -> None:
    code, out, err = command("ask", ITALY)
    assert code == 0
    assert err.startswith("looking for: photos in October 2008")
    assert "candidate " in err
    assert "candidate " not in out
    for quiet in ("--quiet", "--json"):
        code, out, err = command("ask", ITALY, quiet)
        assert (code, err) == (0, "")
    assert len(out.splitlines()) == 1


def test_the_bare_answer_stands_beside_the_sentence(command: Command) -> None:
    told = json.loads(command("ask", "how many photos were taken in October 2008", "--json")[1])
    assert told["value"] == str(len(told["photos"]))
    assert told["text"].startswith(f"{told['value']} photo")
    first = json.loads(command("ask", "when was the first photo of 2008 taken", "--json")[1])
    assert first["value"] == "2008-10-22"
    assert json.loads(command("ask", ITALY, "--json")[1])["value"] is None


def test_a_limit_that_ended_the_question_is_told(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = json.loads(command("ask", ITALY, "--json")[1])
    assert (free["limit"], free["attempts"]) == (None, 1)
    monkeypatch.setenv("PHOTOCRAFT_MAX_TURNS", "1")
    code, out, _ = command("ask", ITALY, "--json")
    assert code == 7  # the rules say in their last turn what they did not get to
    assert json.loads(out)["limit"] == "turns"
    assert "takes more than 1 steps" in json.loads(out)["reason"]
    trace = Path(json.loads(out)["trajectory"]).stem
    _, _, err = command("ask", ITALY)
    assert "as many turns as it may (setting max_turns)" in err
    _, out, _ = command("trace", trace)
    assert "limit       after step 1 only an answer was left: all 1 turns are used" in out


def test_both_streams_in_one_pipe_keep_the_order(photocraft: Photocraft, library: Path) -> None:
    joined = ("sh", "-c", 'exec "$0" "$@" 2>&1')
    done = photocraft("ask", ITALY, "--library", library, prefix=joined)
    lines = done.out.splitlines()
    first = {word: next(at for at, line in enumerate(lines) if line.startswith(word))
             for word in ("looking for:", "    candidate", "3 photos")}  # fmt: skip
    assert list(first.values()) == sorted(first.values())


# -- resuming ------------------------------------------------------------------------------------


def test_a_question_that_was_cut_goes_on_where_it_stopped(
    command: Command, library: Path, arezzo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        cut(patch)
        code, out, err = command("ask", "--image", arezzo, "photos from the same day as this")
    assert (code, out) == (130, "")
    assert "hint: photocraft resume goes on where it stopped" in err
    code, out, _ = command("resume", "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert set(THREE) <= set(names(out))
    assert answer["plan"]["pictures"][0]["id"] == "q1"
    trace = json.loads(Path(answer["trajectory"]).read_text("utf-8"))
    assert trace["status"] == "answered"
    assert [step["index"] for step in trace["steps"]] == [*range(1, len(trace["steps"]) + 1)]

    code, again, _ = command("resume", Path(answer["trajectory"]).stem, "--json")
    assert (code, names(again)) == (0, names(out))
    code, by_file, _ = command("resume", answer["trajectory"], "--json")
    assert (code, names(by_file)) == (0, names(out))
    code, _, err = command("resume")
    assert code == 2
    assert "no question of this library was cut" in err


@pytest.mark.parametrize("when", ["the model starts", "the question is read"])
def test_ctrl_c_before_a_question_began_offers_no_older_one(
    command: Command, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    with monkeypatch.context() as patch:
        cut(patch)
        assert command("ask", ITALY)[0] == 130

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        options: tuple[str, ...] = ()
        if when == "the model starts":
            patch.setattr(ServedBackbone, "brain", stop)
            options = ("--backbone-url", "unix:/nowhere")
        else:
            patch.setattr(asking, "_given", stop)
        code, out, err = command("ask", "photos of cats", *options)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "hint: run the same command again"
    code, out, _ = command("resume", "--json")  # the older one is still there
    assert (code, json.loads(out)["question"]) == (0, ITALY)


def test_a_corrected_plan_is_still_followed_after_a_cut(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "a.plan"
    plan.write_text("time: in October 2008\nplace: Italy\n", "utf-8")
    with monkeypatch.context() as patch:
        cut(patch)
        assert command("ask", "photos of cats", "--plan", plan)[0] == 130
    code, out, _ = command("resume", "--json")
    assert code == 0
    assert names(out) == THREE
    assert json.loads(out)["question"] == "photos of cats"


@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("no-such-trace", "neither a trace file"),
        ("../passwd", "neither"),
        ("{file}", "read"),
    ],
)
def test_what_is_no_trace_is_refused(
    command: Command, tmp_path: Path, trace: str, told: str
) -> None:
    (tmp_path / "file.json").write_text("{}")
    code, out, err = command("resume", trace.format(file=tmp_path / "file.json"))
    assert code in (2, 6)
    assert out == ""
    assert told in err


def test_a_picture_that_has_changed_since_is_no_longer_resumed(
    command: Command, arezzo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "mine.jpg"
    shutil.copy(arezzo, picture)
    with monkeypatch.context() as patch:
        cut(patch)
        assert command("ask", "--image", picture, "where was this")[0] == 130
    shutil.copy(arezzo.with_name("ia_DSCN0042.jpg"), picture)
    code, out, err = command("resume")
    assert (code, out) == (6, "")
    assert "mine.jpg" in err
    assert "ask the question again" in err
    shutil.copy(arezzo, picture)
    assert command("resume")[0] == 0
