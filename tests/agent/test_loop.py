"""The true loop, driven by scripts: steps, roll-back, limits, interrupts, resumption."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from loop_lines import FIND, SUBMIT, finds, last_text, saved

from photocraft_local.agent.loop import MAX_REFUSED, MAX_REFUSED_AT_END, Agent
from photocraft_local.errors import ModelError
from photocraft_local.memory.memory import Memory
from photocraft_local.records import ToolCall, Usage
from photocraft_local.serving.chat_model import Reply
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.registry import Registry


def test_a_question_is_answered_and_the_trace_tells_it_all(play: Callable[..., Any]) -> None:
    agent, _model = play(FIND, SUBMIT)
    answer = agent.ask("where is the dog?")
    assert answer.uids == ("aaaaa",)
    trace = saved(agent)
    assert trace.status == "answered"
    assert trace.answer == answer
    assert [step.call for step in trace.steps] == [FIND, SUBMIT]
    assert trace.backbone == "scripted"
    assert trace.config["max_turns"] == 30
    assert trace.question == "where is the dog?"


def test_the_model_sees_the_prompt_then_each_turn_append_only(play: Callable[..., Any]) -> None:
    agent, model = play(FIND, *finds(1), SUBMIT)
    agent.ask("where is the dog?")
    first, second, third = model.seen
    assert [message["role"] for message in first] == ["system", "user"]
    assert '"where is the dog?"' in first[1]["content"]
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    call, result = second[len(first) :]
    assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"text": "dog"}
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    assert json.loads(result["content"])["result"]["count"] == 2


def test_a_failed_tool_is_an_observation(play: Callable[..., Any]) -> None:
    agent, model = play(ToolCall("find", {"text": "nothing"}), SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    assert "no photo like that; use other words" in json.loads(last_text(model))["error"]
    assert saved(agent).steps[0].observation.error


@pytest.mark.parametrize(
    ("bad", "reason", "told"),
    [
        ("just words", "no call", "held no tool call"),
        (ToolCall("fnid", {"text": "x"}), "malformed call", "did you mean 'find'"),
        (ToolCall("find", {"txt": "x"}), "malformed call", "text is missing"),
        (FIND, "repeated call", "in step 1"),
    ],
)
def test_a_bad_reply_goes_back_and_is_rolled_back(
    play: Callable[..., Any], bad: Line, reason: str, told: str
) -> None:
    agent, model = play(FIND, bad, *finds(1), SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    assert told in model.seen[2][-1]["content"]
    assert not any(told in str(message["content"]) for message in model.seen[3])
    trace = saved(agent)
    assert [item["reason"] for item in trace.rejected] == [reason]
    assert trace.rejected[0]["thought"] == (bad if isinstance(bad, str) else "")
    assert trace.rejected[0]["before_step"] == 2
    assert len(trace.steps) == 3


def test_after_five_bad_replies_in_a_row_the_answer_is_forced(play: Callable[..., Any]) -> None:
    agent, model = play(FIND, *["words"] * MAX_REFUSED, SUBMIT)
    assert agent.ask("the question").uids == ("aaaaa",)
    assert "last turn (5 replies in a row" in last_text(model)
    assert '"the question"' in last_text(model)


def test_bad_replies_that_are_not_in_a_row_force_nothing(play: Callable[..., Any]) -> None:
    lines: list[Line] = []
    for call in finds(4):
        lines += ["words", "words", call]
    agent, _model = play(*lines, SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    assert len(saved(agent).rejected) == 8


def test_when_the_turns_run_out_the_answer_has_its_own_turn(play: Callable[..., Any]) -> None:
    agent, model = play(*finds(3), SUBMIT, max_turns=3)
    assert agent.ask("q").uids == ("aaaaa",)
    assert "all 3 turns are used" in last_text(model)


@pytest.mark.parametrize("reply", ["I would say aaaaa", FIND])
def test_no_answer_in_the_last_turn_is_abstention_with_the_reason(
    play: Callable[..., Any], reply: Line
) -> None:
    agent, model = play(*finds(2), *[reply] * MAX_REFUSED_AT_END, max_turns=2)
    answer = agent.ask("q")
    assert answer.uids == ()
    assert "all 2 turns are used" in answer.reason
    assert saved(agent).status == "answered"
    assert model.num_left == 0


def test_an_answer_that_the_tool_refuses_can_be_mended_once_at_the_end(
    play: Callable[..., Any],
) -> None:
    wrong = ToolCall("submit_answer", {"photos": ["zzzzz"]})
    agent, _ = play(*finds(1), wrong, SUBMIT, max_turns=1)
    assert agent.ask("q").uids == ("aaaaa",)
    agent, _model = play(
        *finds(1), wrong, ToolCall("submit_answer", {"photos": ["y"]}), max_turns=1
    )
    assert agent.ask("q").uids == ()


def test_a_call_may_be_made_again_once_the_set_it_reads_has_changed(
    play: Callable[..., Any],
) -> None:
    reading = ToolCall("find", {"text": "x", "within": "s"})

    def saving(text: str) -> ToolCall:
        return ToolCall("find", {"text": text, "save_as": "s"})

    agent, _ = play(saving("a"), reading, saving("b"), reading, SUBMIT)
    agent.ask("q")
    assert saved(agent).rejected == []
    agent, _ = play(saving("a"), reading, FIND, reading, SUBMIT)
    agent.ask("q")
    assert [item["reason"] for item in saved(agent).rejected] == ["repeated call"]


def test_compaction_on_request_keeps_ids_and_lets_calls_repeat(play: Callable[..., Any]) -> None:
    agent, model = play(FIND, ToolCall("compress_context", {"reason": "long"}), FIND, SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    before, after = model.seen[1], model.seen[2]
    assert after[:2] == before[:2]
    assert [message["role"] for message in after] == ["system", "user", "user"]
    assert "aaaaa bbbbb" in after[2]["content"]
    assert saved(agent).rejected == []


def test_what_a_refused_reply_said_and_cost_is_kept(play: Callable[..., Any]) -> None:
    words = Reply("x" * 3000, None, Usage(90, 80, 7))
    agent, _model = play(words, SUBMIT)
    agent.ask("q")
    (kept,) = saved(agent).rejected
    assert len(kept["thought"]) == 2000
    assert Usage(**kept["usage"]) == words.usage


def test_a_backbone_that_fails_is_an_error_with_a_trace(play: Callable[..., Any]) -> None:
    agent, _ = play(FIND)
    with pytest.raises(ModelError, match="ran out"):
        agent.ask("q")
    trace = saved(agent)
    assert trace.status == "interrupted"  # it may go on with one that works
    assert "ran out" in trace.error
    assert len(trace.steps) == 1


def test_a_trace_that_cannot_be_written_costs_no_answer(
    play: Callable[..., Any], settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.library.parent.mkdir(parents=True, exist_ok=True)
    settings.library.write_text("a file where the folder should be", "utf-8")
    agent, _ = play(FIND, SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    assert caplog.text.count("the trace of this question is not saved") == 1
    assert "not remembered" in caplog.text


def test_each_finished_step_is_told(
    registry: Registry, memory: Memory, settings: Settings, tmp_path: Path
) -> None:
    told: list[int] = []
    model = ScriptedModel([FIND, SUBMIT])
    agent = Agent(model, registry, memory, settings, on_step=lambda step: told.append(step.index))
    agent.ask("q")
    assert told == [1, 2]


def test_finished_episodes_are_remembered_and_recalled(
    play: Callable[..., Any], memory: Memory
) -> None:
    agent, _ = play(FIND, SUBMIT)
    agent.ask("the brown dog at the lake")
    assert memory.store is not None
    (record,) = memory.store.list()
    assert record.uids == ("aaaaa",)
    assert record.tools == ("find", "submit_answer")
    (note,) = memory.recall("brown dog")
    assert "the brown dog at the lake" in note


REPLIES: list[Line] = [
    "words",
    FIND,
    *finds(3),
    SUBMIT,
    ToolCall("fnid"),
    ToolCall("find", {"text": 3}),
    ToolCall("find", {"text": "nothing"}),
    ToolCall("submit_answer", {"photos": ["z"]}),
    ToolCall("compress_context", {"reason": "x"}),
]


@given(st.lists(st.sampled_from(REPLIES), max_size=40))
@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_mix_of_replies_ends_within_its_limits(play: Callable[..., Any], lines: Any) -> None:
    agent, _ = play(*lines, max_turns=6)
    with contextlib.suppress(ModelError):  # the script ran out
        agent.ask("q")
    trace = saved(agent)
    assert len(trace.steps) <= 6 + MAX_REFUSED_AT_END
    assert len(trace.rejected) <= MAX_REFUSED * 7 + MAX_REFUSED_AT_END
    assert [step.index for step in trace.steps] == list(range(1, len(trace.steps) + 1))
    assert trace.status == "answered" or "ran out" in trace.error
