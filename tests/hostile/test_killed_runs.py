"""SIGKILL at any moment of a question that several runs answer: it goes on and ends the same."""

from __future__ import annotations

import json
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from killing import Count, in_child
from twins import Twin, copy_of

from photocraft_local.agent.trajectory import load
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.app.results import AskAnswer
from photocraft_local.app.traces import last_cut
from photocraft_local.errors import ModelError, UsageError
from photocraft_local.memory.store import MemoryStore
from photocraft_local.records import Usage
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.serving.tool_calls import Limits

KILLS = 16
QUESTION = "photos from July 2021"
JULY = {"constraint": "July 2021", "when": "July 2021"}
WIDE = {"constraint": "any", "where": "width > 0"}
_OWN = ("episode_id", "started", "seconds", "config", "runs")  # of one time, not of what was done


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


RUNS: Sequence[Sequence[dict[str, Any]]] = (  # what each says, one call a turn
    (
        _call("filter_photos", when="July 2021", save_as="july"),
        _call("submit_answer", set="july", evidence=[JULY]),
    ),
    (
        _call("filter_photos", where="year == 2021", save_as="year"),
        _call("submit_answer", set="year", evidence=[WIDE]),  # refused: not all are of July
        _call("list_events"),
        _call("submit_answer", set="year", evidence=[WIDE]),  # insisted on
    ),
    (
        _call("filter_photos", where="year == 2021 and month == 7 and day < 20", save_as="early"),
        _call("no_such_tool"),
        _call("submit_answer", set="early", evidence=[JULY]),
    ),
)


@dataclass
class Played:
    """Reads many prompts together, and says what comes next by the messages alone."""

    asked: Counter[int] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def chat(self, request: ChatRequest) -> Completion:
        run = request.seed or 1
        with self._lock:
            self.asked[run] += 1
        said = sum(message["role"] == "assistant" for message in request.messages)
        corrected = "could not be run" in str(request.messages[-1]["content"])
        made = RUNS[run - 1][said + corrected]
        return Completion(json.dumps({"thought": "So.", "call": made}), usage=Usage(90, 60, 7))

    def chat_all(
        self, requests: Sequence[ChatRequest], *, at_once: int
    ) -> list[Completion | ModelError]:
        return [self.chat(request) for request in requests]


@dataclass
class Run:
    """One library of its own, and what the question came to there."""

    twin: Twin
    answer: AskAnswer | None = None
    asked: Counter[int] = field(default_factory=Counter)

    @property
    def traces(self) -> Path:
        return self.twin.settings.library / "traces"

    def go(self, count: Count | None = None, resume: Path | None = None) -> None:
        model = Played()
        rule = PictureRule(28, 4 * 28**2, 256 * 28**2)
        brain = Brain("played", model, PictureStore(rule), Limits())
        with pytest.MonkeyPatch.context() as patch, self.twin.open() as search:
            patch.setattr(ServedBackbone, "brain", lambda *_: brain)
            self.answer = search.resume(resume) if resume else search.ask(QUESTION)
        self.asked = model.asked

    def told(self) -> list[dict[str, Any]]:
        """Every trace, the joining one first, without what is another one each time."""
        traces = [json.loads(path.read_text("utf-8")) for path in self._paths()]
        assert [one["status"] for one in traces] == ["answered"] * (len(RUNS) + 1)
        return [{key: one[key] for key in one if key not in _OWN} for one in traces]

    def _paths(self) -> list[Path]:
        return sorted(self.traces.glob("*.json"), key=lambda path: path.stem)

    def saved(self) -> tuple[Path | None, Counter[int]]:
        """What a resume goes on with, and how many replies each run has on disk."""
        paths = self._paths()
        if not paths:
            return None, Counter()
        whole, *runs = paths
        assert load(whole).runs, "a run without the question that it is of"
        replies = Counter[int]()
        for path in runs:
            record = load(path)
            replies[int(path.stem.rpartition("-")[2])] = len(record.steps) + len(record.rejected)
        return whole, replies


def run_in(folder: Path, twin: Twin) -> Run:
    own = copy_of(twin, folder)
    return Run(replace(own, settings=replace(own.settings, backbone="vllm", runs=len(RUNS))))


@pytest.fixture(scope="module")
def uncut(clean: Twin, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = run_in(tmp_path_factory.mktemp("uncut"), clean)
    run.go()
    return run


def test_the_uncut_question_has_all_that_can_be_cut(uncut: Run) -> None:
    assert uncut.answer is not None
    own = [set(run.photos) for run in uncut.answer.runs]
    found = {one.photo.uid for one in uncut.answer.photos}
    assert own[2] < own[0] == found < own[1]
    assert uncut.asked == {1: 2, 2: 4, 3: 3}
    (episode,) = MemoryStore(uncut.twin.settings.library).list()
    assert set(episode.uids) == found


def test_it_goes_on_wherever_it_is_killed(clean: Twin, uncut: Run, tmp_path: Path) -> None:
    whole, _ = in_child(run_in(tmp_path / "whole", clean).go, 0)
    assert whole.moments > 100
    killed = 0
    for number in range(KILLS):
        at = 1 + number * (whole.moments - 1) // (KILLS - 1)
        run = run_in(tmp_path / str(number), clean)
        _, ended = in_child(run.go, at)
        killed += ended == signal.SIGKILL
        goes_on(run, uncut, at)
        shutil.rmtree(tmp_path / str(number))
    assert killed >= KILLS - 1  # what threads do between two turns may take a moment less


def goes_on(run: Run, uncut: Run, at: int) -> None:
    """No reply that is on disk is asked for again; each run, the answer, and what of the question
    is remembered are as if it had never been cut."""
    whole, replies = run.saved()
    status = load(whole).status if whole else ""
    try:
        assert last_cut(run.traces) == whole
    except UsageError:
        assert whole is None or status == "answered"
    run.go(resume=whole)
    assert run.asked == uncut.asked - replies, at
    assert run.told() == uncut.told(), at
    assert run.answer is not None
    assert uncut.answer is not None
    for key in ("photos", "text", "reason", "notes", "usage", "not_understood"):
        assert getattr(run.answer, key) == getattr(uncut.answer, key), (at, key)
    kept = [one.uids for one in MemoryStore(run.twin.settings.library).list()]
    if status != "answered" or kept:
        assert kept == [one.uids for one in MemoryStore(uncut.twin.settings.library).list()], at
