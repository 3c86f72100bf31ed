"""Whole turns with real pictures on the real engine: counts, names, resends, the window."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_chat import EngineChat
from PIL import Image

from photocraft_local.errors import PromptTooLong
from photocraft_local.memory.context import Context, picture_parts
from photocraft_local.records import Observation, Step, ToolCall
from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.model import QwenModel
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits
from photocraft_local.tools.schema import arguments, words

FAMILIES = ("qwen2.5-vl", "qwen3-vl")
TOOLS = [{"name": "recall", "description": "", "parameters": arguments("text", text=words(""))}]
LIMITS = Limits(thought=16, text=16)
SIZES = [(1, 1), (31, 47), (300, 200), (200, 300), (640, 427), (1500, 20), (5000, 3), (1024, 768)]


def encoded(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def turns(photos: list[Image.Image], *, label: str = "p") -> Context:
    context = Context("Find photos.", ["The library: 9 photos"])
    for index, photo in enumerate(photos, 1):
        seen = Observation("recall", {"count": 1}, images=((f"{label}{index}", encoded(photo)),))
        call = ToolCall("recall", {"text": f"query {index}"})
        context.add_turn(Step(index, call, seen, "I look."), "open: dogs")
    return context


@pytest.fixture
def made(
    engine: Callable[..., Any], checkpoint: Callable[..., Path]
) -> Callable[..., tuple[EngineChat, QwenModel, PromptCounter]]:
    def get(family: str, **options: Any) -> tuple[EngineChat, QwenModel, PromptCounter]:
        folder = checkpoint(family)
        llm = engine(family)
        llm.reset_prefix_cache()
        llm.reset_mm_cache()
        chat, rule = EngineChat(llm), PictureRule.of_folder(folder)
        counter = PromptCounter(folder, rule)
        usual: dict[str, Any] = {"counter": counter, "window": 16384, "max_tokens": 400}
        model = QwenModel(chat, PictureStore(rule), name="tiny", limits=LIMITS, **(usual | options))
        return chat, model, counter

    return get


@pytest.mark.parametrize("family", FAMILIES)
def test_a_prompt_with_pictures_has_as_many_tokens_as_we_say(made: Any, family: str) -> None:
    chat, model, counter = made(family)
    for at in range(0, len(SIZES), 2):
        pictures = [Image.new("RGB", size, (90, 140, 30)) for size in SIZES[at : at + 2]]
        talk = model.conversation(turns(pictures).messages(), TOOLS)
        reply = chat.chat(replace(model.request(talk, TOOLS), max_tokens=1))
        sizes = {name: (one.width, one.height) for name, one in talk.pictures.items()}
        assert counter.prompt(talk.messages, sizes) == reply.usage.prompt


@pytest.mark.parametrize("family", FAMILIES)
def test_pictures_go_by_name_after_the_first_turn_and_hit_the_prefix_cache(
    made: Any, photos: list[Image.Image], family: str
) -> None:
    chat, model, _ = made(family)
    first = model.complete(turns(photos[:1]).messages(), TOOLS)
    second = model.complete(turns(photos[:2]).messages(), TOOLS)
    again = model.complete(turns(photos[:2]).messages(), TOOLS)
    assert first.call
    assert second.call == again.call
    sent = [data_of(request.messages) for request in chat.requests]
    assert sent == [[True], [False, True], [False, False]]
    block = 32
    assert second.usage.cached >= (first.usage.prompt - 20) // block * block
    assert again.usage.cached >= (second.usage.prompt - 1) // block * block


@pytest.mark.parametrize("family", FAMILIES)
def test_a_forgotten_picture_is_sent_again_with_the_same_reply(
    made: Any, photos: list[Image.Image], family: str
) -> None:
    chat, model, _ = made(family)
    messages = turns(photos[:2]).messages()
    before = model.complete(messages, TOOLS)
    chat.llm.reset_mm_cache()
    after = model.complete(messages, TOOLS)
    assert after.call == before.call
    assert after.usage.prompt == before.usage.prompt
    sent = [data_of(request.messages) for request in chat.requests]
    assert sent == [[True] * 2, [False] * 2, [True] * 2]


def test_two_photos_under_one_label_are_never_mistaken_for_each_other(
    made: Any, photos: list[Image.Image]
) -> None:
    chat, model, _ = made("qwen3-vl")
    texts = []
    for photo in (photos[0], photos[1].resize(photos[0].size)):
        talk = model.conversation(turns([photo], label="same").messages(), TOOLS)
        request = replace(model.request(talk, TOOLS), schema=None, max_tokens=12)
        texts.append(chat.chat(request).text)
    assert texts[0] != texts[1]


def test_a_prompt_beyond_the_window_is_refused_before_and_by_the_engine(
    made: Any, photos: list[Image.Image]
) -> None:
    chat, guarded, _ = made("qwen3-vl")
    long = [*turns([]).messages(), {"role": "user", "content": "a bus and a dog " * 3000}]
    with pytest.raises(PromptTooLong, match="leaves 0 of the 16384"):
        guarded.complete(long, TOOLS)
    assert chat.requests == []
    _, unguarded, _ = made("qwen3-vl", counter=None)
    with pytest.raises(PromptTooLong):
        unguarded.complete(long, TOOLS)


def test_a_reply_gets_what_the_window_leaves(made: Any) -> None:
    chat, model, counter = made("qwen3-vl", max_tokens=4000)
    text = "a bus " * 3400
    messages = [{"role": "user", "content": text}]
    model.complete(messages, TOOLS)
    talk = model.conversation(messages, TOOLS)
    assert chat.requests[0].max_tokens == 16384 - counter.prompt(talk.messages, {}) < 4000


def data_of(messages: list[dict[str, Any]]) -> list[bool]:
    """For each picture in order: whether its bytes were sent."""
    contents = [one["content"] for one in messages if isinstance(one["content"], list)]
    parts = [part for content in contents for part in content if part["type"] == "image_url"]
    return [part["image_url"] is not None for part in parts]


def test_labels_stand_right_before_their_pictures(made: Any, photos: list[Image.Image]) -> None:
    _, model, _ = made("qwen2.5-vl")
    parts = picture_parts("p7k3mq", encoded(photos[0])) + picture_parts("q1", encoded(photos[1]))
    talk = model.conversation([{"role": "user", "content": parts}], TOOLS)
    kinds = [part.get("text", "picture") for part in talk.messages[-1]["content"]]
    assert kinds == ["p7k3mq:", "picture", "q1:", "picture"]
