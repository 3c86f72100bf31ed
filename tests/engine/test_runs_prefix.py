"""Several runs of a question over the real engine: what they have in common is computed once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat
from test_question_in_engine import BLOCK, WINDOW, Prompted, call

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits

RUNS = 3


@pytest.mark.parametrize("family", ["qwen3-vl"])
def test_the_engine_reads_the_prefix_of_all_runs_once(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    small_library: Callable[[int], Path],
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
) -> None:
    library, weights = small_library(6), checkpoint(family)
    llm = engine(family)
    llm.reset_prefix_cache()
    rule = PictureRule.of_folder(weights).at_most(512)
    counter = PromptCounter(weights, rule)
    calls = [
        made
        for run in range(RUNS)  # each its own way
        for made in (
            call("filter_photos", where=f"width > {run}", facts=bool(run)),
            call("submit_answer", photos=[], evidence=[], reason="none"),
        )
    ]
    chat = Prompted(EngineChat(llm), counter, calls)
    brain = Brain(
        name=f"vllm {family}",
        chat=chat,
        pictures=PictureStore(rule),
        limits=Limits(),
        counter=counter,
        window=WINDOW,
        max_pictures=4,
    )
    monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
    settings = Settings(
        library=library, cache=shared_cache, encoder="null", weights=weights, runs=RUNS
    )
    with PhotoSearch(settings) as search:
        answer = search.ask("which photos show a unicorn")
    assert (answer.reason, len(answer.runs)) == ("none", RUNS)
    usages = []
    for run in answer.runs:
        assert run.trajectory
        usages.append([step.usage for step in trajectory.load(run.trajectory).steps])
    prefix = usages[0][0].prompt
    assert usages[0][0].cached == 0
    for later in usages[1:]:
        # All but the block that the reply's opening ends in.
        assert later[0].cached >= (prefix - 1) // BLOCK * BLOCK - BLOCK
    computed = [sum(usage.prompt - usage.cached for usage in run) for run in usages]
    assert all(later < computed[0] // 4 for later in computed[1:])
    assert answer.usage
    assert answer.usage.prompt == sum(usage.prompt for run in usages for usage in run)
    assert answer.usage.cached == sum(usage.cached for run in usages for usage in run)
    print(f"prefix {prefix} tokens; computed by run {computed}; all {answer.usage}")


@pytest.mark.parametrize("family", ["qwen3-vl"])
def test_runs_that_ask_at_once_share_it_too(engine: Callable[..., Any], family: str) -> None:
    llm = engine(family)
    llm.reset_prefix_cache()
    messages = [{"role": "user", "content": "which photos show a unicorn " * 200}]
    requests = [
        ChatRequest(messages, max_tokens=1, temperature=0.7 if seed else 0.0, seed=seed)
        for seed in range(RUNS)
    ]
    usages = [seen.usage for seen in EngineChat(llm).batch(requests)]
    prefix = usages[0].prompt
    assert sum(usage.prompt - usage.cached for usage in usages) < prefix + RUNS * 2 * BLOCK
