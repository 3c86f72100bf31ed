"""Whole questions over a played server whose model also judges what it is about to answer."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("httpx", reason="the served backbone needs the cpu or gpu extra")

from judged_api import Judging
from played_api import Handler, played, says

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.cli.answers import show_answer
from photocraft_local.cli.console import Console
from photocraft_local.errors import ServerLost
from photocraft_local.records import Step

NUM = 45
SHADES = [*range(20, 110, 10), *range(140, 248, 3)]  # 9 dark photos, 36 bright ones
CLAIM = {"constraint": "bright", "seen": "a bright wall"}
ALL: dict[str, Any] = {"where": "width > 0", "save_as": "all"}


@pytest.fixture(scope="module")
def library(shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of one shade each, so that the played judge knows what it sees."""
    photos = tmp_path_factory.mktemp("shades")
    assert len(SHADES) == NUM
    for shade in SHADES:
        pixels = np.full((64, 96, 3), shade, dtype=np.uint8)
        Image.fromarray(pixels).save(photos / f"shade{shade:03}.png")
    folder = tmp_path_factory.mktemp("judged") / "library"
    with PhotoSearch(Settings(library=folder, cache=shared_cache, encoder="null")) as search:
        search.index(photos)
    return folder


class Driver:
    """The model that drives the loop: it saves all photos, then makes the given calls in turn;
    ``judge`` answers what is asked of a judge."""

    def __init__(self, judge: Judging, *calls: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.judge, self.calls = judge, calls

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        if self.judge.takes(handler, body):
            return self.judge(handler, body)
        said = [one for one in body["messages"] if one["role"] == "assistant"]
        results = [one["content"] for one in body["messages"] if one["role"] == "user"]
        if not said:
            return says(_call("filter_photos", **ALL))(handler, body)
        made = self.calls[min(len(said), len(self.calls)) - 1]
        return says(_call(**made(_last(results))))(handler, body)


def _call(name: str, **arguments: Any) -> str:
    return json.dumps({"thought": "So.", "call": {"name": name, "arguments": arguments}})


def _last(results: list[Any]) -> dict[str, Any]:
    """The data of the newest tool result; {} where it is no result."""
    for text in reversed(results):
        if isinstance(text, str) and "<tool_response>" in text:
            found: dict[str, Any] = json.loads(text.split("\n")[1])["result"]
            return found
    return {}


def submits(seen: str = "a bright wall", **more: Any) -> Callable[[Any], dict[str, Any]]:
    claim = {**CLAIM, "seen": seen}
    return lambda _: {"name": "submit_answer", "set": "all", "evidence": [claim], **more}


@pytest.fixture
def ask(library: Path, shared_cache: Path, tmp_path: Path) -> Callable[..., Any]:
    """Asks and gives (answer, trace)."""

    def run(turn: Driver, **more: Any) -> Any:
        usual = {"library": library, "cache": shared_cache, "encoder": "null", "memory": False}
        with played(always=turn, at=tmp_path / "s") as server:
            url = {"backbone_url": f"unix:{server.endpoint.socket}"}
            with PhotoSearch(Settings(**(usual | url | more))) as search:
                told: list[str] = []
                answer = search.ask("what is bright?", on_stage=told.append)
                assert answer.trajectory
                return answer, trajectory.load(answer.trajectory), told

    return run


def test_photos_in_doubt_are_told_once_and_left_out(ask: Any) -> None:
    def bright_ones(_: dict[str, Any]) -> dict[str, Any]:
        return {"name": "compare_photos", "set": "all", "question": "bright?", "save_as": "bright"}

    def submit_bright(_: dict[str, Any]) -> dict[str, Any]:
        return {"name": "submit_answer", "set": "bright", "evidence": [CLAIM]}

    judge = Judging()
    answer, trace, told = ask(Driver(judge, submits(), bright_ones, submit_bright))
    assert [step.call.name for step in trace.steps] == [
        "filter_photos",
        "submit_answer",
        "compare_photos",
        "submit_answer",
    ]
    refused = trace.steps[1].observation
    assert len(refused.data["doubtful_photos"]) == 9
    assert all(row["probability"] < 0.5 for row in refused.data["doubtful"])
    assert len(answer) == 36
    assert not answer.reason
    for found in answer.photos:
        (said, looked) = found.evidence
        assert said.value == "a bright wall"
        assert looked.rule.startswith("looked at again by the model")
        assert looked.score >= looked.threshold == 0.5
    # 45 photos and the blank, twice: for the conditions and for the question; nothing else
    assert len(judge.asked) == 2 * 46
    assert "looking at each of 45 photos again" in told
    spent = [step.observation.usage.prompt for step in trace.steps]
    assert spent == [0, 90 * 47, 90 * 47, 90]  # the last looks anew at the smaller set only
    assert answer.usage.prompt == sum(spent) + 90 * 4


def test_who_insists_with_what_they_saw_is_believed(ask: Any) -> None:
    judge = Judging()
    answer, trace, _ = ask(Driver(judge, submits(), submits("bright, for me")))
    assert len(trace.steps) == 3
    assert len(answer) == NUM
    insisted = [one for one in answer.photos if "insisted" in one.evidence[-1].value]
    assert len(insisted) == 9
    assert all(one.evidence[-1].score < 0.5 for one in insisted)
    assert len(judge.asked) == 46  # the second submission asks nothing anew


def test_the_same_answer_again_is_no_repeated_call(ask: Any) -> None:
    answer, trace, _ = ask(Driver(Judging(), submits()))
    assert not trace.rejected
    assert len(answer) == NUM


def test_the_forced_answer_is_exact_and_says_what_was_left_out(ask: Any) -> None:
    answer, trace, _ = ask(Driver(Judging(), submits()), max_turns=1)
    assert trace.status == "answered"
    assert len(answer) == 36
    assert answer.reason.startswith("left out, since a second look found them below 0.5")
    shown = io.StringIO()
    show_answer(answer, None, Console(stdout=shown))
    lines = shown.getvalue().splitlines()
    assert lines[:2] == ["36 photos", answer.reason]
    assert "    met: bright: probability 0.646 (looked at again by the model" in shown.getvalue()


def test_switched_off_nothing_is_judged(ask: Any) -> None:
    judge = Judging()
    answer, _, _ = ask(Driver(judge, submits()), verify=False)
    assert len(answer) == NUM
    assert not judge.asked


def test_a_server_without_probabilities_is_noted_in_the_evidence(ask: Any) -> None:
    judge = Judging(mute=True)
    answer, _, _ = ask(Driver(judge, submits()))
    assert len(answer) == NUM
    values = {one.evidence[-1].value for one in answer.photos}
    (value,) = values
    assert value.startswith("not verified: the backbone does not tell how likely")
    assert len(judge.asked) == 1


def test_a_server_that_is_lost_while_it_judges_cuts_the_episode(
    ask: Any, library: Path, shared_cache: Path, tmp_path: Path
) -> None:
    with pytest.raises(ServerLost):
        ask(Driver(Judging(lost_after=10), submits()))
    usual = {"library": library, "cache": shared_cache, "encoder": "null", "memory": False}
    turn = Driver(Judging(), submits(), submits("bright, for me"))
    with played(always=turn, at=tmp_path / "s") as server:
        settings = Settings(backbone_url=f"unix:{server.endpoint.socket}", **usual)  # type: ignore[arg-type]
        with PhotoSearch(settings) as search:
            assert len(search.resume()) == NUM


@pytest.fixture
def cut(library: Path, shared_cache: Path, tmp_path: Path) -> Callable[..., Any]:
    """Asks, is cut after step ``after``, and resumes; gives (answer, trace, judge of the rest)."""

    def run(calls: Sequence[Callable[..., Any]], after: int, *habits: dict[str, str]) -> Any:
        usual: dict[str, Any] = {"library": library, "cache": shared_cache, "encoder": "null"}
        steps: list[Step] = []

        def stop(step: Step) -> None:
            steps.append(step)
            if len(steps) == after:
                raise KeyboardInterrupt

        for number, judge in enumerate((Judging(), Judging())):
            with played(always=Driver(judge, *calls), at=tmp_path / f"s{number}") as server:
                url = f"unix:{server.endpoint.socket}"
                usual |= habits[number] if habits else {}
                settings = Settings(**usual, backbone_url=url, memory=False)
                with PhotoSearch(settings) as search:
                    if not number:
                        with pytest.raises(KeyboardInterrupt):
                            search.ask("what is bright?", on_step=stop)
                        continue
                    answer = search.resume()
                    return answer, trajectory.load(answer.trajectory), judge
        raise AssertionError

    return run


def zooms(found: dict[str, Any]) -> dict[str, Any]:
    box = {"x": 8, "y": 8, "width": 16, "height": 16}
    return {"name": "zoom_in", "uid": found["photos"][0]["uid"], **box}


def asks_of_the_crop(found: dict[str, Any]) -> dict[str, Any]:
    asked = {"question": "bright?", "photos": [found["uid"]], "save_as": "part"}
    return {"name": "compare_photos", **asked}


def asks_of_all(_: dict[str, Any]) -> dict[str, Any]:
    return {"name": "compare_photos", "question": "bright?", "set": "all", "save_as": "bright"}


def lists_bright_ones(_: dict[str, Any]) -> dict[str, Any]:
    return {"name": "filter_photos", "within": "bright"}


@pytest.mark.parametrize("after", range(1, 7))
def test_a_question_goes_on_from_any_step_as_if_it_had_not_been_cut(cut: Any, after: int) -> None:
    calls = [
        submits(),
        asks_of_all,
        zooms,
        asks_of_the_crop,
        lists_bright_ones,
        submits("bright, for me"),
    ]
    answer, trace, judge = cut(calls, after)
    assert [step.call.name for step in trace.steps] == [
        "filter_photos",
        "submit_answer",
        "compare_photos",
        "zoom_in",
        "compare_photos",
        "filter_photos",
        "submit_answer",
    ]
    # What was doubted before the cut may be insisted on after it.
    assert len(trace.steps) == 7
    insisted = [one for one in answer.photos if "insisted" in one.evidence[-1].value]
    assert len(insisted) == 9
    assert trace.steps[5].observation.data["count"] == 36
    if after >= 5:  # only the last submission asks, not what was asked before the cut
        assert len(judge.asked) == 46


def test_a_question_that_goes_on_counts_seasons_as_it_did(cut: Any) -> None:
    def summer(_: dict[str, Any]) -> dict[str, Any]:
        return {"name": "filter_photos", "when": "summer 2020"}

    hemispheres = {"hemisphere": "south"}, {"hemisphere": "north"}
    none = {"name": "submit_answer", "photos": [], "reason": "none", "evidence": []}
    _, trace, _ = cut([summer, lambda _: none], 1, *hemispheres)
    assert "2020-12" in trace.steps[1].observation.data["filter"]


def test_pictures_of_the_question_may_be_asked_about_and_are_no_candidates(
    library: Path, shared_cache: Path, tmp_path: Path
) -> None:
    def asks(_: dict[str, Any]) -> dict[str, Any]:
        asked = {"question": "bright?", "photos": ["q1", shown[0].uid, shown[-1].uid]}
        return {"name": "compare_photos", "save_as": "like_it", **asked}

    def bad(_: dict[str, Any]) -> dict[str, Any]:
        return {"name": "nonsense"}

    own = tmp_path / "own.png"
    Image.new("RGB", (96, 64), (250, 250, 250)).save(own)
    told: list[Any] = []
    turn = Driver(Judging(), asks, bad, bad)
    with played(always=turn, at=tmp_path / "s") as server:
        usual: dict[str, Any] = {"library": library, "cache": shared_cache, "encoder": "null"}
        with PhotoSearch(Settings(**usual)) as search:
            shown = sorted(search.list(), key=lambda one: one.paths[0])
        url = f"unix:{server.endpoint.socket}"
        with PhotoSearch(Settings(**usual, backbone_url=url, memory=False, restarts=0)) as search:
            answer = search.ask("like this", pictures=[own], on_candidates=told.append)
    assert answer.trajectory
    trace = trajectory.load(answer.trajectory)
    assert trace.steps[1].observation.ok
    assert [photo.uid for photo in told[-1].photos] == [shown[-1].uid]
    # What the refused replies cost is part of what the answer cost.
    assert len(trace.rejected) == 7
    turns = sum(step.usage.prompt + step.observation.usage.prompt for step in trace.steps)
    assert answer.usage
    assert answer.usage.prompt == turns + 7 * 90
