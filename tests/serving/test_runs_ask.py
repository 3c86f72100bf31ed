"""Questions that a model answers several times over a played server: threads, and one answer."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("httpx", reason="the served backbone needs the cpu or gpu extra")

from judged_api import Judging
from played_api import Handler, fails, hangs_up, played, says

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.app import asking, runs
from photocraft_local.cli.main import main
from photocraft_local.errors import AgentError, ModelError, PhotocraftError, ServerLost
from photocraft_local.memory.episode import EpisodeRecord

DARK, BRIGHT = 40, 200
QUESTION = "which photos are bright"
CLAIM = {"constraint": "bright", "seen": "a bright wall"}
Turn = Callable[[Handler, dict[str, Any]], None]


@pytest.fixture(scope="module")
def library(shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dark photos and three bright ones."""
    photos = tmp_path_factory.mktemp("walls")
    for shade in (DARK, DARK + 10, BRIGHT, BRIGHT + 10, BRIGHT + 20):
        pixels = np.full((64, 96, 3), shade, dtype=np.uint8)
        Image.fromarray(pixels).save(photos / f"shade{shade:03}.png")
    folder = tmp_path_factory.mktemp("runs") / "library"
    with PhotoSearch(Settings(library=folder, cache=shared_cache, encoder="null")) as search:
        search.index(photos)
    return folder


@pytest.fixture(scope="module")
def walls(library: Path, shared_cache: Path) -> tuple[list[str], list[str]]:
    """UIDs of the dark and of the bright ones."""
    with PhotoSearch(Settings(library=library, cache=shared_cache, encoder="null")) as search:
        uids = {Path(photo.paths[0].decode()).stem: photo.uid for photo in search.list()}
    names = sorted(uids)
    return [uids[name] for name in names[:2]], [uids[name] for name in names[2:]]


class Runs:
    """The model: the run of each seed makes its own calls; the judge sees how bright a photo is.
    Once a run has given its answer so often that nothing is left to say, it says it again."""

    def __init__(self, *calls: list[dict[str, Any] | Turn]) -> None:
        self.judge = Judging()
        self.calls = calls
        self.bodies: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        if self.judge.takes(handler, body):
            self.judge(handler, body)
            return
        with self._lock:
            self.bodies.append(body)
        calls = self.calls[body.get("seed", 1) - 1]
        said = sum(message["role"] == "assistant" for message in body["messages"])
        made = calls[min(said, len(calls) - 1)]
        turn = made if callable(made) else says(json.dumps({"thought": "So.", "call": made}))
        turn(handler, body)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def gives(uids: list[str], *claims: dict[str, Any]) -> dict[str, Any]:
    return call("submit_answer", photos=uids, evidence=list(claims or (CLAIM,)))


NOTHING = call("submit_answer", photos=[], evidence=[], reason="none is bright")
LOOK: dict[str, Any] = call("filter_photos", where="width > 0", save_as="all")


@pytest.fixture(autouse=True)
def no_traces(library: Path) -> None:
    shutil.rmtree(library / "traces", ignore_errors=True)


@pytest.fixture
def usual(library: Path, shared_cache: Path, tmp_path: Path) -> dict[str, Any]:
    return {
        "library": library,
        "cache": shared_cache,
        "encoder": "null",
        "memory_folder": tmp_path / "memory",
        "runs": 3,
    }


@pytest.fixture
def ask(usual: dict[str, Any], tmp_path: Path) -> Callable[..., Any]:
    def run(model: Runs, trace: Path | None = None, **listeners: Any) -> Any:
        with played(always=model, at=tmp_path / "s") as server:
            url = f"unix:{server.endpoint.socket}"
            with PhotoSearch(Settings(**usual, backbone_url=url)) as search:
                if trace:
                    return search.resume(trace, **listeners)
                return search.ask(QUESTION, **listeners)

    return run


def cut_one(traces: Path) -> Path:
    """The question that has no answer yet; what a failed test left behind has a status, too."""
    wholes = [path for path in traces.glob("*.json") if trajectory.load(path).runs]
    (cut,) = [path for path in wholes if trajectory.load(path).status == "interrupted"]
    return cut


def found(answer: Any) -> list[str]:
    return [one.photo.uid for one in answer.photos]


def test_the_majority_is_wrong_and_the_judge_is_right(ask: Any, walls: Any) -> None:
    dark, bright = walls
    wrong: list[Any] = [LOOK, gives(dark), gives(dark)]  # doubted, and insisted on
    answer = ask(Runs(wrong, wrong, [gives(bright)]))
    assert sorted(found(answer)) == sorted(bright)
    assert [run.photos for run in answer.runs] == [tuple(dark), tuple(dark), tuple(bright)]
    assert [run.is_kept for run in answer.runs] == [False, False, True]
    assert sum("left out, since evidence is against it" in note for note in answer.notes) == 2
    looks = [one.evidence[-1] for one in answer.photos]
    assert all(look.score and look.score > 0.5 for look in looks)
    assert all(run.usage for run in answer.runs)
    whole = trajectory.load(answer.trajectory)
    assert (whole.status, whole.steps) == ("answered", [])
    assert whole.runs == [run.trajectory.stem for run in answer.runs]
    assert whole.answer
    assert sorted(whole.answer.uids) == sorted(bright)
    assert whole.pooling.prompt
    runs = sum(run.usage.prompt for run in answer.runs)
    assert answer.usage.prompt == runs + whole.pooling.prompt
    again = ask(Runs([], [], []), trace=answer.trajectory)
    assert (again.usage, again.notes, again.runs) == (answer.usage, answer.notes, answer.runs)


@pytest.mark.parametrize("limit", ["max_tokens", "max_seconds"])
def test_the_judge_of_all_runs_keeps_to_what_they_left(
    ask: Any, walls: Any, usual: dict[str, Any], monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """The runs themselves are let go on; they leave nothing to look again with."""
    dark, bright = walls
    usual[limit] = 1e-6 if limit == "max_seconds" else 10
    free = {limit: 0}
    monkeypatch.setattr(runs, "_share", lambda settings, *_: replace(settings, **free))
    wrong: list[Any] = [LOOK, gives(dark), gives(dark)]
    answer = ask(Runs(wrong, wrong, [gives(bright)]))
    assert trajectory.load(answer.trajectory).pooling.prompt == 0
    assert sorted(found(answer)) == sorted(bright)  # by what the runs themselves had seen


def test_a_run_that_missed_a_photo_costs_none(ask: Any, walls: Any) -> None:
    _, bright = walls
    answer = ask(Runs([gives(bright[:1])], [gives(bright[:2])], [gives(bright[1:])]))
    assert sorted(found(answer)) == sorted(bright)


def test_runs_have_one_prefix_and_differ_in_chance_alone(ask: Any) -> None:
    model = Runs([NOTHING], [NOTHING], [NOTHING])
    answer = ask(model)
    assert (found(answer), answer.reason, answer.is_answered) == ([], "none is bright", False)
    how = sorted((body.get("seed", 1), body["temperature"]) for body in model.bodies)
    assert how == [(1, 0.0), (2, 0.7), (3, 0.7)]
    assert all(body["messages"] == model.bodies[0]["messages"] for body in model.bodies)


def test_runs_go_at_once(ask: Any) -> None:
    """Each waits until all have asked: one after another would never end."""
    everybody = threading.Barrier(3, timeout=60)

    def waits(handler: Handler, body: dict[str, Any]) -> None:
        everybody.wait()
        says(json.dumps({"thought": "So.", "call": NOTHING}))(handler, body)

    assert found(ask(Runs([waits], [waits], [waits]))) == []


def test_a_run_that_fails_costs_the_others_nothing(ask: Any, walls: Any) -> None:
    _, bright = walls
    broken = fails(400, "no such thing")
    answer = ask(Runs([gives(bright)], [broken], [gives(bright)]))
    assert sorted(found(answer)) == sorted(bright)
    assert "no such thing" in answer.runs[1].problem
    assert answer.notes[0].startswith("run 2 failed: ")
    with pytest.raises(ModelError, match="no such thing"):
        ask(Runs([broken], [broken], [broken]))


def test_ctrl_c_stops_all_and_what_is_answered_is_not_asked_again(
    ask: Any, walls: Any, usual: dict[str, Any]
) -> None:
    _, bright = walls
    released = threading.Event()

    def waits(handler: Handler, body: dict[str, Any]) -> None:
        released.wait(60)
        hangs_up(handler, body)

    def stop(stage: str) -> None:
        if stage.startswith("run 1"):
            raise KeyboardInterrupt

    model = Runs([gives(bright[:1])], [LOOK, waits], [LOOK, waits])
    release = threading.Timer(30, released.set)  # a run that is not stopped fails the test below
    release.start()
    with pytest.raises(KeyboardInterrupt):
        ask(model, on_stage=stop)
    assert not released.is_set()
    release.cancel()
    released.set()
    traces = usual["library"] / "traces"
    whole = cut_one(traces)
    record = trajectory.load(whole)
    assert (record.status, len(record.runs)) == ("interrupted", 3)
    states = [trajectory.load(traces / f"{name}.json").status for name in record.runs]
    assert states == ["answered", "interrupted", "interrupted"]  # they do not wait for the model
    again = Runs([fails(500, "never asked")], [LOOK, gives(bright)], [LOOK, gives(bright)])
    answer = ask(again, trace=traces / f"{record.runs[1]}.json")  # of one run: the whole goes on
    assert sorted(found(answer)) == sorted(bright)
    assert {body["seed"] for body in again.bodies} == {2, 3}
    assert answer.trajectory == whole
    once_more = ask(Runs([], [], []), trace=whole)
    assert found(once_more) == found(answer)


def test_a_question_that_was_killed_before_it_was_pooled_asks_no_model_again(
    ask: Any, walls: Any
) -> None:
    _, bright = walls
    whole = ask(Runs([gives(bright[:1])], [gives(bright)], [NOTHING])).trajectory
    kept = json.loads(whole.read_text("utf-8"))
    whole.write_text(json.dumps(kept | {"status": "running", "answer": None, "notes": []}))
    model = Runs([], [], [])
    answer = ask(model, trace=whole)
    assert sorted(found(answer)) == sorted(bright)
    assert model.bodies == []
    again = json.loads(whole.read_text("utf-8"))
    assert (again["answer"]["uids"], again["notes"]) == (kept["answer"]["uids"], kept["notes"])
    whole.write_text(json.dumps(kept | {"status": "running", "library_generation": 99}))
    with pytest.raises(AgentError, match="the library has changed"):
        ask(model, trace=whole)


def test_a_lost_server_cuts_the_question_and_it_goes_on(
    ask: Any, walls: Any, usual: dict[str, Any]
) -> None:
    _, bright = walls
    with pytest.raises(ServerLost):
        ask(Runs([LOOK, hangs_up], [LOOK, hangs_up], [gives(bright)]))
    whole = cut_one(usual["library"] / "traces")
    assert trajectory.load(whole).status == "interrupted"
    answer = ask(Runs([LOOK, gives(bright[:1])], [LOOK, gives(bright[1:])], []), trace=whole)
    assert sorted(found(answer)) == sorted(bright)


def test_a_question_is_remembered_once(ask: Any, walls: Any, usual: dict[str, Any]) -> None:
    _, bright = walls
    answer = ask(Runs([gives(bright[:1])], [gives(bright)], [gives(bright)]))
    with PhotoSearch(Settings(**usual)) as search:
        episodes = [one for one in search.memory.list() if isinstance(one, EpisodeRecord)]
        (mine,) = [one for one in episodes if one.episode_id == answer.trajectory.stem]
        assert set(mine.uids) == set(bright)
        assert not {run.trajectory.stem for run in answer.runs} & {
            one.episode_id for one in episodes
        }
        search.memory.forget(mine.episode_id)
    assert not [path for path in answer.trajectory.parent.iterdir() if mine.episode_id in path.name]


def test_the_person_sees_what_each_run_found(
    ask: Any, walls: Any, usual: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    dark, bright = walls
    answer = ask(Runs([gives(bright)], [NOTHING], [gives(dark), gives(dark)]))
    name = answer.trajectory.stem
    assert main(["--library", str(usual["library"]), "trace", name]) == 0
    out = capsys.readouterr().out
    assert f"run 1       {name}-1  answered  {' '.join(bright)}" in out
    assert f"run 2       {name}-2  answered  none is bright" in out
    assert "left out, since evidence is against it" in out


def test_rules_are_one_run_however_often_they_are_asked(usual: dict[str, Any]) -> None:
    with PhotoSearch(Settings(**usual)) as search:
        answer = search.ask("photos without a place")
    assert answer.runs == ()
    assert answer.notes == (asking.RULES_ARE_ONE,)


def test_runs_are_at_least_one_and_not_many(usual: dict[str, Any]) -> None:
    for number in (0, 17):
        with pytest.raises(PhotocraftError, match="runs"):
            Settings(**{**usual, "runs": number})
