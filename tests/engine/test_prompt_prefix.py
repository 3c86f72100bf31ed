"""A whole episode's prompts as the real engine reads them, token by token: each goes on where the
one before it ended, the request for a summary too, and each is as long as was measured before."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat
from PIL import Image
from tiny_engine import BLOCK

from photocraft_local.agent.budget import Budget
from photocraft_local.agent.episode import Episode
from photocraft_local.agent.room import Room
from photocraft_local.agent.trajectory import Kept, Trajectory
from photocraft_local.memory.context import Context, picture_parts
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.memory import EpisodeMemory
from photocraft_local.records import Observation, Step, ToolCall
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.qwen.model import QwenModel
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits
from photocraft_local.settings import Settings
from photocraft_local.tools.schema import arguments, words

FAMILIES = ("qwen2.5-vl", "qwen3-vl")
TOOLS = [{"name": "recall", "description": "", "parameters": arguments("text", text=words(""))}]
WINDOW = 7000  # of these small tokens
STEPS = 14


class Heard:
    """An engine whose prompts are kept as token ids. A turn gets one token, a summary is written
    to its end; the least of a reply is enough, since the steps are given."""

    def __init__(self, llm: Any) -> None:
        self._llm, self._chat = llm, EngineChat(self)
        self.ids: list[list[int]] = []
        self.replies: list[Completion] = []

    def chat(self, *given: Any, **options: Any) -> Any:
        if isinstance(given[0], ChatRequest):
            return self._asked(given[0])
        outputs = self._llm.chat(*given, **options)
        self.ids += [list(output.prompt_token_ids) for output in outputs]
        return outputs

    def _asked(self, request: ChatRequest) -> Completion:
        is_summary = "write_summary" in json.dumps(request.schema)
        self.replies.append(
            self._chat.chat(request if is_summary else replace(request, max_tokens=1))
        )
        return self.replies[-1]


def encoded(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def steps(photos: Sequence[Image.Image]) -> list[Step]:
    """Text of all sizes, no picture, one or two."""
    made = []
    for index in range(1, STEPS + 1):
        shown = [photos[(index + n) % len(photos)] for n in range(index % 3)]
        images = tuple((f"p{index}{n}", encoded(photo)) for n, photo in enumerate(shown))
        data = {"count": index, "photos": [f"u{n:05d}" for n in range(index * 7 % 40)]}
        call = ToolCall("recall", {"text": f"der Hund, 犬 {index}"})
        seen = Observation("recall", data, images=images, brief=f"{index} photos")
        made.append(Step(index, call, seen, "I look."))
    return made


@pytest.mark.parametrize("family", FAMILIES)
def test_every_prompt_goes_on_where_the_one_before_it_ended(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    photos: list[Image.Image],
    tmp_path: Path,
    family: str,
) -> None:
    folder, llm = checkpoint(family), engine(family)
    llm.reset_prefix_cache()
    chat, rule = Heard(llm), PictureRule.of_folder(folder).at_most(128)
    model = QwenModel(
        chat,
        PictureStore(rule),
        name="tiny",
        limits=Limits(thought=16, text=16),
        max_tokens=700,
        counter=PromptCounter(folder, rule),
        window=WINDOW,
        max_pictures=4,
    )
    question = [{"type": "text", "text": "like q1"}, *picture_parts("q1", encoded(photos[0]))]
    context = Context("Find photos.", ["The library: 9 photos", question])
    record = EpisodeRecord(episode_id="e", started="", question="like q1", backbone="tiny")
    trace = Trajectory(question="like q1", today=date(2024, 5, 6), backbone="tiny")
    episode = Episode(trace, EpisodeMemory(context, record), Kept(trace, tmp_path))
    room = Room(model, TOOLS, Budget(Settings(), trace, time.monotonic), 0.8)

    turns: list[int] = []  # which of the requests are turns
    loads: dict[int, int] = {}
    for step in [*steps(photos), None]:
        room.make(episode)
        load = model.load(episode.messages(), TOOLS)
        assert load
        assert load.prompt + load.reply <= WINDOW
        assert load.pictures <= 4
        turns.append(len(chat.ids))
        loads[turns[-1]] = load.prompt
        model.complete(episode.messages(), TOOLS)
        if step is not None:
            episode.record(step)

    opening = len(llm.get_tokenizer().encode("<|im_start|>assistant\n"))
    new = {made.after_step for made in trace.compactions}
    assert len(new) > 1
    for at, (before, after) in enumerate(pairwise(turns), start=1):
        old = chat.ids[before][:-opening]
        for heard in range(before + 1, after):  # a request for a summary
            assert chat.ids[heard][: len(old)] == old
            assert chat.replies[heard].usage.cached >= (len(old) - 1) // BLOCK * BLOCK
        if at not in new:
            assert chat.ids[after][: len(old)] == old
            assert chat.replies[after].usage.cached >= (len(old) - 1) // BLOCK * BLOCK
    stable = context.messages(without=context.num_turns)[:3]
    kept = model.load(stable, TOOLS)
    assert kept
    first = chat.ids[0][: kept.prompt - opening]
    assert all(ids[: len(first)] == first for ids in chat.ids)
    assert {at: len(chat.ids[at]) for at in turns} == loads
    assert all(made.prose or made.problem for made in trace.compactions)
    tokens = [made.usage.prompt for made in trace.compactions]
    assert tokens == [len(ids) for at, ids in enumerate(chat.ids) if at not in turns]
