"""Attempts without an answer, on the real engine: the post-mortem is asked for on the live prefix,
the next attempt begins with it, and a question that is cut goes on with the same words."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.agent.export.prompts import segments
from photocraft_local.agent.loop import MAX_REFUSED
from photocraft_local.agent.room import most_characters
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.errors import ServerLost
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits

WINDOW = 16_000
PICTURES = 2
RESTARTS = 2
TOOLS = ("plan", "view_photos", "view_photos", "search_photos", "view_photos", "compress_context")
POST_MORTEM = -1  # the turn in which it is asked for
CUTS = {  # attempts and turns
    "qwen2.5-vl": [(0, POST_MORTEM), (1, 5)],
    "qwen3-vl": [(1, len(TOOLS) + 3)],
}


class Stubborn:
    """The engine, warm. Each attempt is held to ``TOOLS`` in turn, and then to one and the same
    call, until only an answer counts. ``lost``: attempt and turn at which the server goes."""

    def __init__(
        self, chat: EngineChat, uids: Sequence[str], lost: tuple[int, int] | None = None
    ) -> None:
        self._chat, self._lost, self._attempt, self._turn = chat, lost, 0, 0
        self._pairs = list(map(list, combinations(sorted(uids), 2)))
        self.requests: list[ChatRequest] = []
        self.replies: list[Completion] = []

    def chat(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        schema = json.loads(json.dumps(request.schema))
        calls = schema["properties"]["call"]["anyOf"]
        if len(calls) > 1:
            self._go_unless_lost(self._turn)
            calls[:] = [self._held(calls)]
            self._turn += 1
        elif asks_why(request):
            self._go_unless_lost(POST_MORTEM)
            self._attempt, self._turn = self._attempt + 1, 0
        said = self._chat.chat(replace(request, temperature=1.0, schema=schema))
        self.replies.append(said)
        return said

    def _go_unless_lost(self, turn: int) -> None:
        if self._lost == (self._attempt, turn):
            raise ServerLost("gone")

    def _held(self, calls: Sequence[dict[str, Any]]) -> dict[str, Any]:
        stays = self._turn >= len(TOOLS)
        name = "recall" if stays else TOOLS[self._turn]
        (held,) = (one for one in calls if name_of(one) == name)
        arguments = held["properties"]["arguments"]["properties"]
        if stays:
            arguments["text"] = {"const": "the dog"}
        elif name == "view_photos":
            pair = {"enum": self._pairs[self._turn]}
            arguments.clear()
            arguments["photos"] = {"type": "array", "items": pair, "minItems": 2, "maxItems": 2}
        return held


def name_of(call: dict[str, Any]) -> str:
    return str(call["properties"]["name"]["const"])


def asks_why(request: ChatRequest) -> bool:
    assert request.schema
    return name_of(request.schema["properties"]["call"]["anyOf"][0]) == "write_post_mortem"


def said_in(request: ChatRequest) -> list[tuple[str, str]]:
    """The messages' roles and texts, with a mark for each picture."""
    told = []
    for message in request.messages:
        parts = message["content"]
        parts = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
        words = [part.get("text", "<picture>") for part in parts]
        told.append((str(message["role"]), "\n".join(words)))
    return told


@pytest.mark.parametrize("family", CUTS)
def test_each_attempt_begins_with_what_those_before_it_left(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    small_library: Callable[[int], Path],
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
) -> None:
    weights = checkpoint(family)
    rule = PictureRule.of_folder(weights).at_most(64)
    settings = Settings(
        library=small_library(6), cache=shared_cache, encoder="null", weights=weights,
        max_turns=60, restarts=RESTARTS, skills=False,
    )  # fmt: skip
    with PhotoSearch(settings) as search:
        uids = [photo.uid for photo in search.list()]

    def opened(lost: tuple[int, int] | None = None) -> Stubborn:
        chat = Stubborn(EngineChat(engine(family)), uids, lost)
        brain = Brain(
            name=f"vllm {family}",
            chat=chat,
            pictures=PictureStore(rule),
            limits=Limits(thought=4, text=24, items=2),
            counter=PromptCounter(weights, rule),
            window=WINDOW,
            max_pictures=PICTURES,
        )
        monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
        return chat

    chat = opened()
    with PhotoSearch(settings) as search:
        answer = search.ask("the dog on the beach")
    assert answer.attempts == 1 + RESTARTS
    assert not answer.photos
    assert answer.trajectory
    checked(chat, trajectory.load(answer.trajectory))

    for lost in CUTS[family]:
        chat = opened(lost)
        with PhotoSearch(replace(settings, restarts=1)) as search:
            with pytest.raises(ServerLost):
                search.ask("the dog on the beach")
            again = opened()
            answer = search.resume()
        assert said_in(again.requests[0]) == said_in(chat.requests[-1])
        assert answer.trajectory
        record = trajectory.load(answer.trajectory)
        assert (record.status, len(record.attempts)) == ("answered", 1)


def checked(chat: Stubborn, record: Trajectory) -> None:
    assert record.status == "answered"
    for attempt in (*record.attempts, record):
        assert attempt.limit == "replies"
        repeated = [one["call"]["name"] for one in attempt.rejected if one["call"]]
        assert repeated.count("recall") == MAX_REFUSED
        assert len([step for step in attempt.steps if step.observation.images]) == 3
        assert any(made.why.startswith("asked for") for made in attempt.compactions)
    whys = [made.why for one in (*record.attempts, record) for made in one.compactions]
    assert any("pictures, where a prompt takes" in why for why in whys)
    sizes = [one.usage.prompt + one.usage.generated for one in chat.replies]
    assert max(sizes) <= WINDOW
    shown = [str(said_in(request)).count("<picture>") for request in chat.requests]
    assert max(shown) == PICTURES

    asked = [at for at, request in enumerate(chat.requests) if asks_why(request)]
    assert len(asked) == RESTARTS
    stable = said_in(chat.requests[0])
    for at, attempt in zip(asked, record.attempts, strict=True):
        told = attempt.post_mortem
        assert told
        assert told.words
        assert told.usage.cached > 0.7 * told.usage.prompt
        assert len(told.text) <= most_characters(WINDOW)
        first = said_in(chat.requests[at + 1])
        stable = [*stable, ("user", told.text)]
        assert first == stable
        assert chat.replies[at + 1].usage.cached > 0
    assert len(list(segments(record))) > RESTARTS + len(record.all_steps) // 4
