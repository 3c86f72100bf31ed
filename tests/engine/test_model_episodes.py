"""Whole episodes of the agent loop on the real engine: nonsense by nature, every limit kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits

FAMILIES = ("qwen2.5-vl", "qwen3-vl")
TURNS = 5
WINDOW = 16384


class OneAtATime:
    """An engine in this process serves one thread at a time; a server batches them itself.

    Warm sampling, so that random weights do not repeat one call for ever.
    """

    def __init__(self, chat: EngineChat) -> None:
        self._chat, self._lock = chat, threading.Lock()

    def chat(self, request: ChatRequest) -> Completion:
        with self._lock:
            return self._chat.chat(replace(request, temperature=1.0))


@pytest.fixture(scope="module")
def library(small_library: Callable[[int], Path]) -> Path:
    return small_library(6)


@pytest.mark.parametrize("family", FAMILIES)
def test_four_episodes_end_with_an_answer_or_an_honest_abstention(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    library: Path,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
) -> None:
    weights = checkpoint(family)
    engine_chat = EngineChat(engine(family))
    rule = PictureRule.of_folder(weights).at_most(256)
    chat, store, counter = OneAtATime(engine_chat), PictureStore(rule), PromptCounter(weights, rule)

    brain = Brain(
        name=f"vllm {family}",
        chat=chat,
        pictures=store,
        limits=Limits(thought=16, text=16, items=2),
        counter=counter,
        window=WINDOW,
        max_pictures=4,
    )
    monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
    settings = Settings(
        library=library, cache=shared_cache, encoder="null", weights=weights, max_turns=TURNS
    )

    def episode(number: int) -> Path:
        with PhotoSearch(settings) as search:
            answer = search.ask(f"question {number}: the dog on the beach")
        assert answer.reason or answer.photos or answer.text
        assert answer.trajectory
        return answer.trajectory

    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(episode, range(4)))
    records = [trajectory.load(trace) for trace in traces]
    assert {record.status for record in records} == {"answered"}
    assert {record.backbone for record in records} == {f"vllm {family}"}
    assert all(len(record.steps) <= TURNS + 2 for record in records)
    refused = [entry["reason"] for record in records for entry in record.rejected]
    assert not {"no call", "malformed call"} & set(refused), refused
    usages = [step.usage for record in records for step in record.steps]
    assert all(0 < usage.prompt <= WINDOW for usage in usages)
    assert sum(usage.cached for usage in usages) > 0.5 * sum(usage.prompt for usage in usages)
