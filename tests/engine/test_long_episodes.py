"""A hundred turns in one episode on the real engine, in a narrow window; fewer where the model
writes whole summaries. Random weights choose anything: asserted is what must hold in any case."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.agent.export.prompts import segments
from photocraft_local.agent.loop import MAX_REFUSED_AT_END
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.memory.store import MemoryStore
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits
from photocraft_local.tools.standard import standard_tools

WINDOW = 15_000  # the tools alone take some 10,000 of these small tokens
PICTURES = 4
TOOLS = {tool.name for tool in standard_tools()} - {"submit_answer"}
MOST_STORED = 20_000_000  # bytes: library, crops, episode and trace


class Tireless:
    """The engine, warm; each turn is held to the next tool in turn, so that every one is used, and
    only a forced last turn can submit. ``sizes`` has prompt and reply of each request in tokens."""

    def __init__(self, chat: EngineChat) -> None:
        self._chat, self._turns = chat, itertools.count()
        self.sizes: list[int] = []
        self.summaries: set[str] = set()

    def chat(self, request: ChatRequest) -> Completion:
        self.summaries |= set(summaries(request.messages))
        schema = request.schema
        if schema and len(schema["properties"]["call"]["anyOf"]) > 1:
            schema = json.loads(json.dumps(schema))
            call = schema["properties"]["call"]
            calls = [one for one in call["anyOf"] if name_of(one) != "submit_answer"]
            call["anyOf"] = [calls[next(self._turns) % len(calls)]]
        said = self._chat.chat(replace(request, temperature=1.0, schema=schema))
        self.sizes.append(said.usage.prompt + said.usage.generated)
        return said


def name_of(call: dict[str, Any]) -> str:
    return str(call["properties"]["name"]["const"])


def summaries(messages: Sequence[Any]) -> list[str]:
    texts = [str(message["content"]) for message in messages]
    return [text for text in texts if text.startswith("Summary of the turns")]


@pytest.mark.parametrize(
    ("family", "summary", "turns"), [("qwen3-vl", "code", 100), ("qwen2.5-vl", "model", 45)]
)
def test_a_long_episode_stays_within_every_bound(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    small_library: Callable[[int], Path],
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
    summary: str,
    turns: int,
) -> None:
    weights = checkpoint(family)
    rule = PictureRule.of_folder(weights).at_most(64)
    chat = Tireless(EngineChat(engine(family)))
    brain = Brain(
        name=f"vllm {family}",
        chat=chat,
        pictures=PictureStore(rule),
        limits=Limits(thought=4, text=6, items=1),
        counter=PromptCounter(weights, rule),
        window=WINDOW,
        max_pictures=PICTURES,
    )
    monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
    settings = Settings(
        library=small_library(6),
        cache=shared_cache,
        encoder="null",
        weights=weights,
        max_turns=turns,
        restarts=0,
        summary=summary,
    )
    with PhotoSearch(settings) as search:
        answer = search.ask("the dog on the beach")
    assert answer.trajectory
    record = trajectory.load(answer.trajectory)
    assert record.status == "answered"
    assert turns <= len(record.steps) <= turns + MAX_REFUSED_AT_END
    assert {step.call.name for step in record.steps} >= TOOLS
    assert max(chat.sizes) <= WINDOW

    made = record.compactions
    assert len(made) >= turns // (len(TOOLS) + 1)  # those that compress_context asks for alone
    assert all(one.tokens_after < WINDOW for one in made)
    assert all(one.problem or (one.plain if summary == "model" else one.prose) for one in made)
    assert summary == "model" or not any(one.repaired for one in made)
    assert max(map(brain.counter.text, chat.summaries)) <= WINDOW // 4
    for text in chat.summaries:
        assert set(json.loads(text.split("\n", 1)[1])) == {"digest", "session", "working"}
    assert len(list(segments(record))) > len(made)  # the trace makes each prompt again

    (episode,) = MemoryStore(settings.library).list()
    assert len(episode.digest) == len(record.steps)
    stored = [file.stat().st_size for file in settings.library.rglob("*") if file.is_file()]
    assert sum(stored) < MOST_STORED
