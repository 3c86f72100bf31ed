"""Our whole tool schema on the real engine: every reply is a call that the registry takes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from engine_chat import EngineChat

from photocraft_local.serving.pictures import PictureStore
from photocraft_local.serving.qwen.model import QwenModel
from photocraft_local.serving.tokens import PictureRule, PromptCounter
from photocraft_local.serving.tool_calls import Limits, call_schema
from photocraft_local.tools.standard import standard_tools
from photocraft_local.tools.validate import problems

FAMILIES = ("qwen2.5-vl", "qwen3-vl")
CALLS = 256  # of each family
TOOLS = [
    {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    for tool in standard_tools()
]
PARAMETERS = {tool["name"]: tool["parameters"] for tool in TOOLS}
# Random weights end a string only where they must: short limits keep this within seconds.
SHORT = Limits(thought=24, text=24, items=3)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@pytest.mark.parametrize("family", FAMILIES)
def test_every_sampled_reply_is_a_valid_call_of_a_real_tool(
    engine: Callable[..., Any], checkpoint: Callable[..., Path], family: str
) -> None:
    folder = checkpoint(family)
    chat = EngineChat(engine(family))
    store = PictureStore(PictureRule.of_folder(folder))
    model = QwenModel(chat, store, name="tiny", limits=SHORT, max_tokens=1500, temperature=1.0)
    asked = [
        [{"role": "system", "content": "Find photos."}, {"role": "user", "content": f"trip {n}"}]
        for n in range(CALLS)
    ]
    talks = [model.conversation(messages, TOOLS) for messages in asked]
    replies = chat.batch([model.request(talk, TOOLS) for talk in talks])
    names = set()
    for said in replies:
        assert said.finish == "stop", said.text
        call = json.loads(said.text)  # strict: raw control characters are refused
        names.add(call["call"]["name"])
        assert not list(problems(call["call"]["arguments"], PARAMETERS[call["call"]["name"]]))
        assert not re.search(r"\s", STRING.sub("", said.text))
        assert model.reply(said, TOOLS).call is not None
    assert len(replies) == CALLS
    assert len(names) > 1  # which ones, and how many, is chance
    jsonschema.validate(json.loads(replies[0].text)["call"]["name"], {"enum": list(PARAMETERS)})
    counter = PromptCounter(folder)
    assert counter.prompt(talks[7].messages, {}) == replies[7].usage.prompt
    assert replies[-1].usage.cached > 0.95 * replies[-1].usage.prompt


@pytest.mark.parametrize("family", FAMILIES)
def test_the_last_turn_can_only_submit_and_a_cut_reply_is_no_call(
    engine: Callable[..., Any], checkpoint: Callable[..., Path], family: str
) -> None:
    chat = EngineChat(engine(family))
    store = PictureStore(PictureRule.of_folder(checkpoint(family)))
    model = QwenModel(chat, store, name="tiny", limits=SHORT, max_tokens=1500, temperature=1.0)
    asked = [{"role": "user", "content": "which photos?"}]
    model.conversation(asked, TOOLS)
    last = [tool for tool in TOOLS if tool["name"] == "submit_answer"]
    for _ in range(4):
        reply = model.complete(asked, last)
        assert reply.call
        assert reply.call.name == "submit_answer"
    brief = QwenModel(chat, store, name="tiny", max_tokens=9)
    assert brief.complete(asked, TOOLS).call is None


def test_the_schema_is_the_same_bytes_each_time() -> None:
    assert json.dumps(call_schema(TOOLS)) == json.dumps(call_schema(json.loads(json.dumps(TOOLS))))
