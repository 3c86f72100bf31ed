"""The agent's stage of ``photocraft bench`` over the real engine: its own counts of tokens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat

from photocraft_local import Settings
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.app.bench import agent_stage
from photocraft_local.app.bench.figures import Figure
from photocraft_local.errors import ModelError
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits

WINDOW = 16384


class Together:
    """Whoever waits while the engine works goes into its next batch, as on a server."""

    def __init__(self, llm: Any) -> None:
        self._chat, self._engine = EngineChat(llm), threading.Lock()
        self._waiting: list[ChatRequest] = []
        self._done: dict[int, Completion] = {}
        self.batches: list[list[Completion]] = []

    def chat(self, request: ChatRequest) -> Completion:
        self._waiting.append(request)
        with self._engine:
            if id(request) not in self._done:
                batch, self._waiting = self._waiting, []
                self.batches.append(self._chat.batch(batch))
                self._done |= dict(zip(map(id, batch), self.batches[-1], strict=True))
            return self._done.pop(id(request))

    def chat_all(
        self, requests: Sequence[ChatRequest], *, at_once: int
    ) -> list[Completion | ModelError]:
        return [self.chat(request) for request in requests]


@pytest.mark.parametrize("family", ["qwen3-vl"])
def test_questions_at_once_on_the_engine(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    shared_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
) -> None:
    weights = checkpoint(family)
    llm = engine(family)
    llm.reset_prefix_cache()
    rule = PictureRule.of_folder(weights).at_most(512)
    chat = Together(llm)
    brain = Brain(
        name=f"vllm {family}",
        chat=chat,
        pictures=PictureStore(rule),
        limits=Limits(),
        counter=PromptCounter(weights, rule),
        window=WINDOW,
        max_pictures=4,
    )
    monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
    library = tmp_path / "own"
    settings = Settings(
        library=library, cache=shared_cache, encoder="null", weights=weights, backbone="vllm",
        memory_folder=tmp_path / "memory", max_turns=1,
    )  # fmt: skip
    told: list[str] = []
    figures = list(agent_stage.agent(settings, tmp_path, told.append, quick=True))
    assert not (tmp_path / "own").exists()
    rules, first, *models = figures
    assert "rules" in rules.name
    assert first.unit == "s"
    assert all(figure.value is not None for figure in models), models
    by_name = {figure.name: figure for figure in models}
    assert len(by_name) == 4 * len(agent_stage.AT_ONCE)
    _checked(by_name, f"vllm {family}, one at a time", None)
    _checked(by_name, f"vllm {family}, 4 at once", 4)
    _checked(by_name, f"vllm {family}, 16 at once", 16)
    assert max(map(len, chat.batches)) > 1  # they were under way together
    # All questions begin alike: what the engine did not compute again is most of the prompts.
    for number in ("one at a time", "4 at once", "16 at once"):
        assert (by_name[f"vllm {family}, {number}: from the cache"].value or 0) > 50
    read = [first.note]
    read += [figure.note for name, figure in by_name.items() if name.endswith(": read")]
    assert sum(reply.usage.prompt for batch in chat.batches for reply in batch) == sum(
        int(note.split()[0].replace(",", "")) for note in read
    )


def _checked(by_name: dict[str, Figure], name: str, times: int | None) -> None:
    told = by_name[name]
    assert told.unit == "questions/h"
    assert told.ceiling
    if times:
        one = by_name[name.replace(f"{times} at once", "one at a time")]
        assert one.value
        assert told.ceiling == pytest.approx(times * one.value)
    else:
        assert told.bound == "the model's replies alone"
        assert told.share
        assert 0.1 < told.share <= 1  # nearly all of it is the engine's time
    assert by_name[f"{name}: written"].unit == by_name[f"{name}: read"].unit == "tokens/s"
    share = by_name[f"{name}: from the cache"]
    assert share.unit == "%"
    assert 0 <= (share.value or 0) <= 100
