"""The scripted backbone: order, exhaustion, scripted failures, replay of a trajectory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from photocraft_local.errors import ModelError
from photocraft_local.records import ToolCall, Usage
from photocraft_local.serving.chat_model import ChatModel, Reply
from photocraft_local.serving.scripted import ScriptedModel


def test_it_is_a_chat_model_and_plays_its_lines_in_order() -> None:
    whole = Reply("thinking", ToolCall("find", {"text": "dog"}), Usage(5, 2, 1))
    model = ScriptedModel([whole, ToolCall("find", {}), "only words"])
    assert isinstance(model, ChatModel)
    assert model.complete([{"role": "user", "content": "q"}], []) is whole
    assert model.complete([], []) == Reply(call=ToolCall("find", {}))
    assert model.complete([], []) == Reply(text="only words")
    assert model.num_left == 0
    assert model.seen[0] == ({"role": "user", "content": "q"},)


def test_it_fails_when_the_script_runs_out() -> None:
    model = ScriptedModel(["one"])
    model.complete([], [])
    with pytest.raises(ModelError, match="1 replies ran out"):
        model.complete([], [])


def test_a_scripted_failure_is_raised_in_its_turn() -> None:
    model = ScriptedModel(["fine", KeyboardInterrupt()])
    model.complete([], [])
    with pytest.raises(KeyboardInterrupt):
        model.complete([], [])


def test_a_trajectory_file_replays(tmp_path: Path) -> None:
    step = {
        "thought": "look",
        "call": {"name": "find", "arguments": {"text": "dog"}, "call_id": "c1"},
        "usage": {"prompt": 7, "cached": 0, "generated": 3},
    }
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"backbone": "planner", "steps": [step]}), "utf-8")
    model = ScriptedModel.from_trajectory(path)
    expected = Reply("look", ToolCall("find", {"text": "dog"}, "c1"), Usage(7, 0, 3))
    assert model.complete([], []) == expected
    assert model.name == "replay of planner"


@pytest.mark.parametrize("content", ["{", "[]", '{"backbone": "x"}', '{"steps": [{}]}'])
def test_a_file_that_is_no_trajectory_is_a_model_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(content, "utf-8")
    with pytest.raises(ModelError):
        ScriptedModel.from_trajectory(path)


def test_a_missing_file_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ScriptedModel.from_trajectory(tmp_path / "none.json")
