"""``ask --image`` over the real engine, which reads every prompt; a script makes the calls."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat
from PIL import Image

from photocraft_local import PhotoSearch, Settings
from photocraft_local.agent import trajectory
from photocraft_local.app.backbones import ServedBackbone
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.brain import Brain
from photocraft_local.serving.qwen.completion import ChatRequest, Completion
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits

FAMILIES = ("qwen2.5-vl", "qwen3-vl")
WINDOW, BLOCK = 16384, 32
BOX = {"x": 8, "y": 8, "width": 40, "height": 30}


class Prompted:
    """The engine takes each prompt; what it would say is not waited for."""

    def __init__(self, chat: EngineChat, counter: PromptCounter, calls: list[dict[str, Any]]):
        self._chat, self._counter, self._calls = chat, counter, calls
        self._sizes: dict[str, tuple[int, int]] = {}
        self.counted: list[int] = []
        self.told: list[int] = []

    def chat(self, request: ChatRequest) -> Completion:
        self._learn(request)
        seen = self._chat.chat(replace(request, schema=None, max_tokens=1))
        self.counted.append(self._counter.prompt(request.messages, self._sizes))
        self.told.append(seen.usage.prompt)
        if "write_summary" in json.dumps(request.schema):
            return replace(seen, text="", finish="length")
        call = {"thought": "So.", "call": self._calls.pop(0)}
        return replace(seen, text=json.dumps(call), finish="stop")

    def _learn(self, request: ChatRequest) -> None:
        contents = [one["content"] for one in request.messages if isinstance(one["content"], list)]
        for part in (part for content in contents for part in content if "image_url" in part):
            if part["image_url"] is not None:
                data = part["image_url"]["url"].partition("base64,")[2]
                size = Image.open(io.BytesIO(base64.b64decode(data))).size
                self._sizes[part["uuid"]] = size


def call(name: str, **arguments: object) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.fixture(scope="module")
def library(small_library: Callable[[int], Path]) -> Path:
    return small_library(6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_engine_reads_the_question_s_pictures_once_and_counts_as_we_do(
    engine: Callable[..., Any],
    checkpoint: Callable[..., Path],
    library: Path,
    shared: Path,
    shared_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
) -> None:
    weights = checkpoint(family)
    llm = engine(family)
    llm.reset_prefix_cache()
    llm.reset_mm_cache()
    rule = PictureRule.of_folder(weights).at_most(512)
    counter = PromptCounter(weights, rule)
    with PhotoSearch(Settings(library=library, cache=shared_cache, encoder="null")) as search:
        uids = [photo.uid for photo in search.list()]
    chat = Prompted(
        EngineChat(llm),
        counter,
        [
            call("zoom_in", uid="q1", **BOX),
            call("zoom_in", uid="q1.c1", x=0, y=0, width=9, height=9),
            call("view_photos", photos=[*uids, "q1.c1"], detail="small"),
            call("view_photos", photos=uids, layout="sheet"),
            call("fetch_image", uid="q2", detail="high"),
            call("submit_answer", photos=[], evidence=[], text="It says nothing."),
        ],
    )
    brain = Brain(
        name=f"vllm {family}",
        chat=chat,
        pictures=PictureStore(rule),
        limits=Limits(),
        counter=counter,
        window=WINDOW,
        max_pictures=4,  # of the engine, too: it refuses a prompt with more
    )
    monkeypatch.setattr(ServedBackbone, "brain", lambda *_: brain)
    settings = Settings(library=library, cache=shared_cache, encoder="null", weights=weights)
    odd = shared / "data/odd"
    with PhotoSearch(settings) as search:
        given = [odd / "orient_6.jpg", odd / "size_500x19.png"]
        answer = search.ask("what does the sign say", pictures=given)
    assert answer.text == "It says nothing."
    assert chat.counted == chat.told
    assert all(step.observation.ok for step in answer.steps)
    assert answer.trajectory
    record = trajectory.load(answer.trajectory)
    usages = [step.usage for step in record.steps]
    assert [usage.pictures - usage.pictures_sent for usage in usages[:2]] == [0, 2]
    assert all(usage.pictures_sent < usage.pictures <= 4 for usage in usages[1:])
    compacted = {made.after_step for made in record.compactions}
    assert compacted  # seven pictures and more were looked at
    for index, (before, after) in enumerate(pairwise(usages), 1):
        if index not in compacted:
            # All but the opening of the reply, with which the prompt before ended.
            assert after.cached >= (before.prompt - 20) // BLOCK * BLOCK - BLOCK
