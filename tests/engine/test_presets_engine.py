"""DISBench's presets over the real engine: it reads what each one sends, and its grammar keeps each
reply to that preset's own calls; what it counts stands in the rows."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat

from photocraft_local import Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.app.benchmarking import Options, evaluate
from photocraft_local.evaluation.disbench.layout import load
from photocraft_local.evaluation.disbench.presets import PRESETS
from photocraft_local.evaluation.reports.report import report
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits

sys.path.append(str(Path(__file__).resolve().parent.parent / "evaluation"))

import made_disbench

FAMILY = "qwen3-vl"
TURNS = 4
MODELS = ["direct", "imageseeker", "lmm-searcher", "photocraft"]


class Counted:
    """What the engine said of each request."""

    def __init__(self, chat: EngineChat) -> None:
        self._chat = chat
        self.told: list[tuple[ChatRequest, Completion]] = []

    def chat(self, request: ChatRequest) -> Completion:
        said = self._chat.chat(request)
        self.told.append((request, said))
        return said


@pytest.fixture(scope="module")
def data(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made_disbench.made(shared, tmp_path_factory.mktemp("data") / "set", num_users=1)
    lines = (folder / "queries.jsonl").read_text().splitlines(keepends=True)
    (folder / "queries.jsonl").write_text(lines[0])
    return folder


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("libraries")


@pytest.mark.parametrize("preset", MODELS)
def test_a_preset_on_the_real_engine(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    data: Path,
    libraries: Path,
    shared_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    preset: str,
) -> None:
    weights = checkpoint(FAMILY)
    chat = Counted(EngineChat(engine(FAMILY)))
    rule = PictureRule.of_folder(weights).at_most(64)
    brain = Brain(
        name=f"vllm {FAMILY}",
        chat=chat,
        pictures=PictureStore(rule),
        limits=Limits(thought=16, text=16, items=2),
        counter=PromptCounter(weights, rule),
        window=16384,
        max_pictures=16,
    )
    monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
    monkeypatch.setitem(PRESETS[preset].settings, "max_turns", TURNS)  # type: ignore[arg-type]
    settings = Settings(library=tmp_path / "l", cache=shared_cache, memory_folder=tmp_path / "m",
                        encoder="null", backbone="vllm", weights=weights, restarts=0,
                        verify=False, skills=False)  # fmt: skip
    options = Options(preset=preset, libraries=libraries)
    _, (row,) = evaluate(load(data), settings, options, tmp_path / "run")
    usages = [said.usage for _, said in chat.told]
    assert usages
    assert row.prompt_tokens == sum(usage.prompt for usage in usages) > 0
    assert row.generated_tokens == sum(usage.generated for usage in usages) > 0
    assert row.cached_tokens == sum(usage.cached for usage in usages)
    assert row.seconds > 0
    own = {tool.name for tool in PRESETS[preset].tools(True, False)}
    for request, said in chat.told:
        called = set(re.findall(r'"const": "(\w+)"', json.dumps(request.schema)))
        if called <= own:
            assert said.finish == "length" or json.loads(said.text)["call"]["name"] in called
        else:
            assert not called & own  # a summary, asked for by the loop
    record = trajectory.load(tmp_path / "run" / row.trace)
    assert len(record.all_steps) <= TURNS + 2
    assert not {"unknown tool"} & {entry["reason"] for entry in record.rejected}
    page = report(tmp_path / "run").html(data)
    assert "from the cache" in page
