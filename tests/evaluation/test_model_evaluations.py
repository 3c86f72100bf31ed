"""A data set put to a model that several threads share, and to several runs of each question."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import made_disbench
import pytest

from photocraft_local import Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.app.benchmarking import Options, evaluate
from photocraft_local.errors import ModelError, ServerLost
from photocraft_local.evaluation.ablation import Variant, ablate, table, variants
from photocraft_local.evaluation.disbench.layout import load
from photocraft_local.evaluation.results import ResultRow, RunFolder
from photocraft_local.evaluation.several import of_runs
from photocraft_local.records import Usage
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule
from photocraft_local.serving.tool_calls import Limits
from photocraft_local.tools.standard import standard_tools

_MONTH = re.compile(r"(?:in|from) ((?:May|August) 2012)")


@dataclass
class Played:
    """Filters by the month of the question and submits; what it says depends on the messages
    alone. Run 3 of a question submits one photo too few. The first prompts wait until there are
    ``gathers`` of them."""

    lost_after: int = 0
    gathers: int = 0
    loss: type[BaseException] = ServerLost
    have_met: threading.Event = field(default_factory=threading.Event)
    _asked: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def chat(self, request: ChatRequest) -> Completion:
        with self._lock:
            self._asked += 1
            self._now += 1
            is_lost = self.lost_after and self._asked > self.lost_after
            if self._now >= self.gathers:
                self.have_met.set()
        if self.gathers:
            self.have_met.wait(60)
        with self._lock:
            self._now -= 1
        if is_lost:
            raise self.loss("the server is gone")
        made = self._next(request)
        return Completion(json.dumps({"thought": "So.", "call": made}), usage=Usage(100, 80, 10))

    def chat_all(
        self, requests: Sequence[ChatRequest], *, at_once: int
    ) -> list[Completion | ModelError]:
        return [self.chat(request) for request in requests]

    def _next(self, request: ChatRequest) -> dict[str, Any]:
        texts = [str(message["content"]) for message in request.messages]
        told = next((found for text in texts if (found := _MONTH.search(text))), None)
        said = sum(message["role"] == "assistant" for message in request.messages)
        if told is None:
            reason = {"photos": [], "reason": "no month is named", "evidence": []}
            return {"name": "submit_answer", "arguments": reason}
        month = told[1]
        if not said:
            cut = " and day != 4" if request.seed == 3 else ""
            where = f'date == "2012-{5 if month.startswith("May") else 8:02d}"{cut}'
            return {"name": "filter_photos", "arguments": {"where": where, "save_as": "found"}}
        claim = {"constraint": month, "when": month}
        return {"name": "submit_answer", "arguments": {"set": "found", "evidence": [claim]}}


@pytest.fixture(scope="module")
def data(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made_disbench.made(shared, tmp_path_factory.mktemp("data") / "set", num_users=2)
    lines = (folder / "queries.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["query_id"][2:] in ("may", "august")]
    (folder / "queries.jsonl").write_text("".join(kept))
    return folder


@pytest.fixture(scope="module")
def settings(shared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("own")
    return Settings(library=folder / "l", memory_folder=folder / "m", cache=shared_cache,
                    encoder="null", backbone="vllm", verify=False)  # fmt: skip


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("libraries")


def ran(
    data: Path, settings: Settings, out: Path, options: Options, model: Played
) -> list[ResultRow]:
    rule = PictureRule(28, 4 * 28**2, 256 * 28**2)
    brain = Brain("played", model, PictureStore(rule), Limits())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServedBackbone, "brain", lambda *_: brain)
        _, rows = evaluate(load(data), settings, options, out)
    return rows


def test_threads_share_one_model_and_agree_with_one(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    options, many = Options(libraries=libraries), Played(gathers=2)
    rows = ran(data, settings, tmp_path / "one", options, Played())
    ran(data, settings, tmp_path / "many", replace(options, concurrency=4), many)
    files = [(tmp_path / name / "results.jsonl").read_bytes() for name in ("one", "many")]
    assert files[0] == files[1]
    assert many.have_met.is_set()  # while one waits for the model, another one works
    assert all(row.em == 1 for row in rows)
    assert {(row.prompt_tokens, row.cached_tokens, row.generated_tokens) for row in rows} == {
        (200, 160, 20)
    }


def test_runs_of_a_question_are_kept_beside_the_answer_that_was_chosen(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    options = Options(libraries=libraries)
    three = replace(settings, runs=3)
    rows = ran(data, three, tmp_path / "runs", options, Played())
    may = next(row for row in rows if row.question == "0-may")
    assert len(may.runs) == 3
    assert may.em == 1
    assert may.tools["submit_answer"] >= 3
    told = of_runs(rows)
    assert told["runs"] == 3
    assert told["best"] == 1
    folder = (tmp_path / "runs" / may.trace).parent
    assert {path.name for path in folder.iterdir()} >= {
        "0-may.json", "0-may~run1.json", "0-may~run2.json", "0-may~run3.json"
    }  # fmt: skip
    assert trajectory.load(folder / "0-may.json").question == "photos taken in May 2012"


def test_several_runs_of_several_questions_at_once_give_the_same_rows(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    options, three, many = (
        Options(libraries=libraries),
        replace(settings, runs=3),
        Played(gathers=4),
    )
    ran(data, three, tmp_path / "one", options, Played())
    ran(data, three, tmp_path / "many", replace(options, concurrency=4), many)
    files = [(tmp_path / name / "results.jsonl").read_bytes() for name in ("one", "many")]
    assert files[0] == files[1]
    assert many.have_met.is_set()  # prompts of more than one question beside each other


@pytest.mark.parametrize(
    ("concurrency", "runs", "loss"),
    [(1, 1, ServerLost), (4, 1, ServerLost), (1, 2, ServerLost), (4, 2, ServerLost),
     (4, 2, KeyboardInterrupt)],
)  # fmt: skip
def test_a_lost_server_ends_the_run_which_goes_on_later(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path, concurrency: int, runs: int,
    loss: type[BaseException],
) -> None:  # fmt: skip
    options = Options(libraries=libraries, concurrency=concurrency)
    settings = replace(settings, runs=runs)
    with pytest.raises(loss):
        ran(data, settings, tmp_path / "run", options, Played(lost_after=5, loss=loss))
    assert len(RunFolder.load(tmp_path / "run").rows) < 4
    rows = ran(data, settings, tmp_path / "run", options, Played())
    assert [row.em for row in rows] == [1] * 4
    assert not any(row.status == "failed" for row in rows)


@pytest.mark.parametrize(("runs", "loss"), [(1, ModelError), (2, ModelError), (2, ServerLost)])
def test_a_question_that_an_error_ends_leaves_its_traces_in_the_run_alone(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path, runs: int,
    loss: type[ModelError],
) -> None:  # fmt: skip
    """In a library of one's own nothing may stay of it, nor may the record of its end be lost."""
    options, settings = Options(libraries=libraries), replace(settings, runs=runs)
    try:
        rows = ran(data, settings, tmp_path / "run", options, Played(lost_after=5, loss=loss))
    except ServerLost:
        rows = []
    assert not list(libraries.glob("*/traces/*.json"))
    if not rows:
        assert list((tmp_path / "run/traces").rglob("*.json"))
    failed = [row for row in rows if row.status == "failed"]
    assert bool(failed) is bool(rows)
    for row in failed:
        assert trajectory.load(tmp_path / "run" / row.trace).error == "the server is gone"


def test_an_ablation_of_verify_skills_and_runs(
    data: Path, settings: Settings, libraries: Path, tmp_path: Path
) -> None:
    """Verifying asks the model nothing of sets that metadata prove; runs 3 of 3 are worse alone."""
    options, settings = Options(libraries=libraries), replace(settings, verify=True)
    ran(data, settings, tmp_path / "first", options, Played())
    with_skills = replace(options, skills=tmp_path / "first")

    def run_one(variant: Variant, folder: Path) -> RunFolder:
        how = replace(with_skills, without=variant.without)
        ran(data, replace(settings, **variant.settings), folder, how, Played())
        return RunFolder.load(folder)

    names = ["no-verify", "no-skills", "no-memories", "runs-3", "no-tool:filter_photos"]
    tools = [tool.name for tool in standard_tools()]
    lines = {line.variant.name: line for line in ablate(variants(tools, names), tmp_path, run_one)}
    means = {name: line.figures["all"]["em"][0] for name, line in lines.items()}
    assert means == {**dict.fromkeys(["full", *names], 1.0), "no-tool:filter_photos": 0.0}
    assert len(table(list(lines.values()))) == 6
    hinted = {
        name: [
            trajectory.load(tmp_path / name / row.trace).hints
            for row in RunFolder.load(tmp_path / name).sorted_rows()
        ]
        for name in ("full", "no-skills", "no-memories")
    }
    assert any(hinted["full"])  # of the other user
    assert not any(hinted["no-skills"])
    assert not any(hinted["no-memories"])
    assert all(len(row.runs) == 3 for row in RunFolder.load(tmp_path / "runs-3").rows.values())
