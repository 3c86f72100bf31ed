"""Compaction in the true loop where the model writes all of S (the setting ``summary``), and what
sets one off in either mode."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from wide_tools import SUBMIT, SUMMARY, WRITTEN, Windowed, looks, wide_registry

from photocraft_local.agent import trajectory
from photocraft_local.agent.export.redaction import Redaction
from photocraft_local.agent.loop import Agent
from photocraft_local.agent.room import most_characters
from photocraft_local.cli.traces import trace_lines
from photocraft_local.errors import ModelError
from photocraft_local.memory.memory import Memory
from photocraft_local.records import ToolCall, Usage
from photocraft_local.serving.chat_model import Reply
from photocraft_local.serving.scripted import Line
from photocraft_local.settings import Settings

WINDOW = 10_000
SAID: dict[str, Any] = {
    "digest": ["looked at Junes"],
    "session": "Not <|im_end|> the lake.",
    "constraints": [{"words": "June 1900", "status": "open"}],
    "confirmed": ["zzzzz"],
    "rejected": [],
    "sets": [{"name": "set_0", "count": 3}],
    "sub_goal": "find the dog",
    "next_action": "view june",
}
MEMORY = Reply("So.", ToolCall("write_memory", SAID), Usage(90, 80, 9))
WRITES = {"code": SUMMARY, "model": MEMORY}


@pytest.fixture
def run(
    memory: Memory, settings: Settings
) -> Callable[..., tuple[trajectory.Trajectory, Windowed]]:
    def played(
        lines: list[ToolCall], mode: str, *said: Line, **options: Any
    ) -> tuple[trajectory.Trajectory, Windowed]:
        how = {key: options.pop(key) for key in ("compact_at",) if key in options}
        model = Windowed([*lines, SUBMIT], WINDOW, said or (WRITES[mode],), **options)
        chosen = replace(settings, max_turns=100, summary=mode, **how)
        agent = Agent(model, wide_registry(memory), memory, chosen)
        assert agent.ask("q").uids == ("aaaaa",)
        assert agent.last_trace
        return trajectory.load(agent.last_trace), model

    return played


def working(model: Windowed, at: int = -1) -> dict[str, Any]:
    (text,) = summaries(model, at)
    part: dict[str, Any] = json.loads(text.split("\n", 1)[1])["working"]
    return part


def summaries(model: Windowed, at: int) -> list[str]:
    texts = [str(message["content"]) for message in model.prompts[at]]
    return [text for text in texts if text.startswith("Summary of the")]


@pytest.mark.parametrize("mode", ["code", "model"])
def test_forty_turns_and_ten_summaries_keep_every_condition_set_and_count(
    run: Callable[..., Any], mode: str
) -> None:
    trace, model = run(looks(*[{"rows": 330}] * 40, save=True), mode)
    made = trace.compactions
    assert len(made) >= 10
    assert all((one.plain if mode == "model" else one.prose) for one in made)
    assert all(bool(one.repaired) == (mode == "model") for one in made)
    part, num = working(model), made[-1].after_step
    back = part.get("put_back", {"sets": {}, "constraints": {}})
    assert {**part["sets"], **back["sets"]} == {f"set_{n}": 330 for n in range(num)}
    text = json.dumps([part["constraints"], back["constraints"]])
    assert all(f"June {1900 + n}" in text for n in range(num))
    assert "zzzzz" not in json.dumps(part)
    longest = max(len(text) for at in range(len(model.prompts)) for text in summaries(model, at))
    assert longest <= most_characters(WINDOW)
    assert all("<|" not in str(message["content"]) for message in model.prompts[-1])


def test_the_model_is_asked_for_all_of_it_on_the_live_prefix_and_the_trace_shows_it(
    run: Callable[..., Any],
) -> None:
    trace, model = run(looks(*[{"rows": 200}] * 9, save=True), "model")
    made = trace.compactions[0]
    assert model.requests[0][:-1] == model.prompts[made.after_step - 1]
    assert "write_memory" in model.requests[0][-1]["content"]
    assert (made.prose, made.problem, made.usage) == (None, "", Usage(90, 80, 9))
    whole = json.loads(summaries(model, made.after_step)[0].split("\n", 1)[1])
    assert whole["digest"] == ["looked at Junes"]
    assert whole["working"]["next_action"] == "view june"
    lines = "\n".join(trace_lines(trace))
    assert "confirmed taken out: zzzzz" in lines
    assert "sets taken out: set_0" in lines
    assert "looked at Junes" in lines
    told = trajectory.of_json(Redaction().trace(trace.to_json()))
    assert [bool(one.plain) for one in told.compactions] == [True] * len(trace.compactions)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (Reply("cut", None), "cut or is no summary"),
        (SUMMARY, "cut or is no summary"),
        (Reply("", ToolCall("write_memory", SAID | {"digest": ["x"] * 99})), "no summary"),
        (ModelError("answers 500"), "answers 500"),
    ],
)
def test_what_the_model_does_not_write_code_does_and_the_trace_says_why(
    run: Callable[..., Any], said: Line, problem: str
) -> None:
    trace, model = run(looks(*[{"rows": 200}] * 20, save=True), "model", said, MEMORY)
    made = trace.compactions[0]
    assert made.plain is None
    assert made.prose is None
    assert problem in made.problem
    assert problem in "\n".join(trace_lines(trace))
    whole = json.loads(summaries(model, made.after_step)[0].split("\n", 1)[1])
    assert len(whole["digest"]) == made.covered
    assert whole["working"]["sets"] == {f"set_{n}": 200 for n in range(made.after_step)}
    assert trace.compactions[1].plain


@pytest.mark.parametrize("mode", ["code", "model"])
@pytest.mark.parametrize("share", [0.4, 0.6, 0.8])
def test_turns_become_a_summary_at_the_share_of_the_window_that_the_person_set(
    run: Callable[..., Any], mode: str, share: float
) -> None:
    trace, model = run(looks(*[{"rows": 60}] * 30), mode, compact_at=share)
    made = trace.compactions[0]
    sizes = [model.load(prompt, []).prompt for prompt in model.prompts]
    room = WINDOW - (1536 if mode == "model" else WINDOW // 8)
    assert max(sizes[: made.after_step]) <= share * WINDOW
    assert made.tokens_before > min(share * WINDOW, room - 400)
    assert max(sizes) <= min(share * WINDOW, room)


@pytest.mark.parametrize("mode", ["code", "model"])
def test_too_many_pictures_and_the_models_own_wish_set_it_off_too(
    run: Callable[..., Any], mode: str
) -> None:
    trace, model = run(looks(*[{"pictures": 4}] * 6), mode, most_pictures=10, picture_tokens=10)
    assert [one.after_step for one in trace.compactions] == [3, 5]
    assert all("pictures, where a prompt takes 10" in one.why for one in trace.compactions)
    assert max(model.load(prompt, []).pictures for prompt in model.prompts) <= 10
    wish = ToolCall("compress_context", {"reason": "june is done"})
    trace, model = run([*looks({"rows": 3}, save=True), wish], mode)
    (made,) = trace.compactions
    assert (made.after_step, made.covered, made.why) == (2, 2, "asked for: june is done")
    assert working(model)["sub_goal"] == WRITTEN["sub_goal"]


def test_an_episode_that_was_cut_goes_on_with_the_same_bytes(
    memory: Memory, settings: Settings
) -> None:
    calls = looks(*[{"rows": 200}] * 24, save=True)
    chosen = replace(settings, summary="model")
    model = Windowed([*calls, KeyboardInterrupt()], WINDOW, [MEMORY, SUMMARY, MEMORY])
    agent = Agent(model, wide_registry(memory), memory, chosen)
    with pytest.raises(KeyboardInterrupt):
        agent.ask("q")
    assert agent.last_trace
    assert len(trajectory.load(agent.last_trace).compactions) > 2
    rest = Windowed([SUBMIT], WINDOW, [ModelError("nothing is asked for again")])
    again = Agent(rest, wide_registry(memory), memory, chosen)
    assert again.resume(agent.last_trace).uids == ("aaaaa",)
    assert json.dumps(rest.prompts[0]) == json.dumps(model.prompts[-1])


@pytest.mark.parametrize("mode", ["code", "model"])
def test_where_card_and_question_nearly_fill_the_window_turns_go_on_all_the_same(
    memory: Memory, settings: Settings, mode: str
) -> None:
    model = Windowed([*looks(*[{"rows": 30}] * 60), SUBMIT], 8000, (WRITES[mode],))
    chosen = replace(settings, max_turns=100, summary=mode)
    registry = wide_registry(memory)
    agent = Agent(model, registry, memory, chosen, library_card="many words " * 1850)
    assert agent.ask("q").uids == ("aaaaa",)
    assert agent.last_trace
    trace = trajectory.load(agent.last_trace)
    assert len(trace.steps) == 61
    assert trace.cuts == []
    assert len(trace.compactions) > 5
