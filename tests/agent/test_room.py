"""The window in the true loop: compaction, shortened results, the last turn, resumption."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from wide_tools import SUBMIT, SUMMARY, WRITTEN, Windowed, looks, wide_registry

from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.errors import ModelError, PromptTooLong, ServerLost
from photocraft_local.memory.compaction import SUMMARY_REPLY
from photocraft_local.memory.memory import Memory
from photocraft_local.records import Observation, ToolCall, Usage
from photocraft_local.serving.chat_model import Message, Reply
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.settings import Settings

WINDOW = 8000


@pytest.fixture
def play(memory: Memory, settings: Settings) -> Callable[..., tuple[Agent, Windowed]]:
    def make(*lines: Line, window: int = WINDOW, **options: Any) -> tuple[Agent, Windowed]:
        model = Windowed(lines, window, **options)
        return Agent(model, wide_registry(memory), memory, settings, library_card="9"), model

    return make


def saved(agent: Agent) -> trajectory.Trajectory:
    assert agent.last_trace is not None
    return trajectory.load(agent.last_trace)


def is_prefix(short: list[Message], long: list[Message]) -> bool:
    return long[: len(short)] == short


def summary_in(messages: list[Message]) -> dict[str, Any]:
    (text,) = [m["content"] for m in messages if str(m["content"]).startswith("Summary of the")]
    summary: dict[str, Any] = json.loads(text.split("\n", 1)[1])
    return summary


def test_past_the_mark_turns_become_a_summary_that_the_model_was_asked_for(
    play: Callable[..., Any],
) -> None:
    agent, model = play(*looks(*[{"rows": 200}] * 9, save=True), SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    trace = saved(agent)
    assert trace.compactions
    made = trace.compactions[0]
    at = made.after_step  # prompts[n] holds n steps
    # On the live prefix: what was sent last, and one message.
    assert model.requests[0][:-1] == model.prompts[at - 1]
    assert "write_summary" in model.requests[0][-1]["content"]
    after = model.prompts[at]
    assert after[:3] == model.prompts[0]  # the stable blocks, byte for byte
    kept = summary_in(after)
    assert kept["session"]["decisions"] == WRITTEN["decisions"]
    assert kept["working"]["sub_goal"] == "find the dog"
    assert kept["working"]["sets"] == {f"set_{n}": 200 for n in range(at)}
    assert len(kept["digest"]) == made.covered == at - 1
    # The newest result was not read yet, so it stays whole.
    assert [m["role"] for m in after[4:]] == ["assistant", "tool"]
    assert len(json.loads(after[-1]["content"])["result"]["photos"]) == 200
    assert made.tokens_before > 0.8 * WINDOW > made.tokens_after
    assert (made.prose is not None, made.problem, made.usage) == (True, "", Usage(90, 80, 9))
    assert "of 8000 tokens" in made.why


def test_between_compactions_the_prompt_only_grows(play: Callable[..., Any]) -> None:
    agent, model = play(*looks(*[{"rows": 90, "pictures": 2}] * 25), SUBMIT)
    agent.ask("q")
    new = {made.after_step for made in saved(agent).compactions}
    assert len(new) > 2
    for at, (before, after) in enumerate(pairwise(model.prompts), start=1):
        assert is_prefix(before, after) == (at not in new)


def test_ten_compactions_of_one_episode_keep_every_condition_set_and_count(
    memory: Memory, settings: Settings
) -> None:
    calls = looks(*[{"rows": 300}] * 40, save=True)
    model = Windowed([*calls, SUBMIT], 10_000)
    longer = replace(settings, max_turns=100)
    agent = Agent(model, wide_registry(memory), memory, longer)
    assert agent.ask("q").uids == ("aaaaa",)
    made = saved(agent).compactions
    assert len(made) >= 10
    assert all(one.prose for one in made)
    last = summary_in(model.prompts[-1])["working"]
    num = made[-1].after_step
    assert last["sets"] == {f"set_{n}": 300 for n in range(num)}
    assert last["constraints"] == {"open": {"time": [f"June {1900 + n}" for n in range(num)]}}


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply("cut", None), "cut or is no summary"),
        (Reply("", ToolCall("filter_photos", {"when": "x"})), "cut or is no summary"),
        (Reply("", ToolCall("write_summary", {"decisions": "x"})), "cut or is no summary"),
        (Reply("", ToolCall("write_summary", {**WRITTEN, "ids": "x"})), "cut or is no summary"),
        (ModelError("answers 500"), "answers 500"),
        (PromptTooLong("too long for it"), "too long for it"),
    ],
)
def test_without_usable_words_of_the_model_the_summary_is_code_alone(
    play: Callable[..., Any], reply: Any, problem: str
) -> None:
    agent, model = play(*looks(*[{"rows": 200}] * 9, save=True), SUBMIT, summaries=[reply])
    assert agent.ask("q").uids == ("aaaaa",)
    made = saved(agent).compactions[0]
    assert made.prose is None
    assert problem in made.problem
    kept = summary_in(model.prompts[made.after_step])
    assert set(kept["session"]) == {"thoughts"}
    assert kept["working"]["sets"]


def test_words_of_the_model_cannot_break_out(play: Callable[..., Any]) -> None:
    agent, model = play(*looks(*[{"rows": 200}] * 9), SUBMIT)
    agent.ask("q")
    assert all("<|" not in str(message["content"]) for message in model.prompts[-1])
    assert summary_in(model.prompts[-1])["session"]["ruled_out"] == WRITTEN["ruled_out"]


def test_a_result_larger_than_the_room_is_shortened_and_says_so(play: Callable[..., Any]) -> None:
    calls = looks({"rows": 5000}, {"rows": 3, "words": 90_000}, {"rows": 3})
    agent, model = play(*calls, SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    trace = saved(agent)
    first = json.loads(model.prompts[1][-1]["content"])
    assert len(first["result"]["photos"]) == 50
    assert first["result"]["count"] == 5000
    assert "4950 entries" in first["result"]["left_out"]
    assert "narrow the search" in first["result"]["left_out"]
    assert first["state"]
    assert trace.steps[0].observation.data["count"] == 5000
    assert len(trace.steps[0].observation.data["photos"]) == 5000  # the trace keeps it whole
    assert [cut.step for cut in trace.cuts] == [1, 2]


def test_pictures_beyond_the_limit_go_all_at_once_and_leave_their_ids(
    play: Callable[..., Any],
) -> None:
    calls = looks(*[{"pictures": 4}] * 6)
    agent, model = play(*calls, SUBMIT, most_pictures=10, picture_tokens=10)
    agent.ask("q")
    numbers = [model.load(prompt, []).pictures for prompt in model.prompts]
    assert numbers == [0, 4, 8, 4, 8, 4, 8]
    assert "12 pictures, where a prompt takes 10" in saved(agent).compactions[0].why
    assert "; ids: v000 v001 v002 v003" in summary_in(model.prompts[3])["digest"][1]


def test_one_turn_with_more_pictures_than_a_prompt_holds_names_those_not_shown(
    play: Callable[..., Any],
) -> None:
    agent, model = play(*looks({"pictures": 30}), SUBMIT, most_pictures=10, picture_tokens=10)
    agent.ask("q")
    parts = model.prompts[1][-1]["content"]
    assert sum(part["type"] == "image_url" for part in parts) == 7  # 30, 15, 7
    assert parts[-1]["text"].startswith("v029: not shown")


def test_a_server_that_counts_otherwise_gets_a_shorter_prompt_once_then_the_last_turn(
    play: Callable[..., Any],
) -> None:
    refused = PromptTooLong("7000 tokens are more than 4096")
    calls = looks(*[{"rows": 20}] * 3)
    agent, _ = play(*calls, refused, SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    (made,) = saved(agent).compactions
    assert (made.after_step, made.covered) == (3, 2)
    assert "7000 tokens are more" in made.why

    agent, model = play(*calls, *[refused] * 2, SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    assert "last turn (the prompt is too long)" in model.prompts[-1][-1]["content"]

    agent, model = play(*calls, *[refused] * 30)
    answer = agent.ask("q")
    assert answer.uids == ()
    assert "the prompt is too long" in answer.reason
    assert "7000 tokens are more" in answer.reason
    assert len(model.prompts) <= len(calls) + 5
    assert saved(agent).status == "answered"


def test_a_first_result_that_the_server_refuses_is_shortened_not_forgotten(
    play: Callable[..., Any],
) -> None:
    agent, model = play(*looks({"rows": 400}), PromptTooLong("3000 tokens are more"), SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    trace = saved(agent)
    assert trace.compactions == []
    assert [cut.step for cut in trace.cuts] == [1]
    assert len(json.loads(model.prompts[-1][-1]["content"])["result"]["photos"]) == 50


def test_a_backbone_without_a_window_may_refuse_too(memory: Memory, settings: Settings) -> None:
    calls = looks(*[{"rows": 20}] * 3)
    refused = PromptTooLong("too long", hint="a longer window")
    model = ScriptedModel([*calls, refused, *looks({"rows": 1}), SUBMIT])
    agent = Agent(model, wide_registry(memory), memory, settings)
    model._replies[4] = ToolCall("filter_photos", {"when": "May"})
    assert agent.ask("q").uids == ("aaaaa",)
    assert summary_in(list(model.seen[-1]))["working"]["constraints"]
    model = ScriptedModel([*calls, *[refused] * 20])
    agent = Agent(model, wide_registry(memory), memory, settings)
    assert "a longer window" in agent.ask("q").reason


def test_a_question_that_has_no_room_at_all_is_an_honest_abstention(
    play: Callable[..., Any],
) -> None:
    agent, model = play(SUBMIT, window=300)
    answer = agent.ask("q " * 3000)
    assert answer.uids == ()
    assert "the window of 300 tokens is full" in answer.reason
    assert model.seen == []
    assert saved(agent).status == "answered"


def test_a_compaction_on_request_is_written_by_the_model_too(play: Callable[..., Any]) -> None:
    wish = ToolCall("compress_context", {"reason": "june is done"})
    agent, model = play(*looks({"rows": 3}), wish, SUBMIT)
    agent.ask("q")
    (made,) = saved(agent).compactions
    assert (made.after_step, made.covered, made.why) == (2, 2, "asked for: june is done")
    assert is_prefix(model.prompts[1], model.requests[0])
    assert [m["role"] for m in model.prompts[2]] == ["system", "user", "user", "user"]


def test_an_episode_cut_after_compactions_and_cuts_resumes_with_the_same_bytes(
    play: Callable[..., Any], memory: Memory, settings: Settings
) -> None:
    sizes = [{"rows": 200}] * 6 + [{"pictures": 3}, {"rows": 5000}] + [{"rows": 100}] * 4
    calls = looks(*sizes, save=True)
    summaries = [SUMMARY, Reply("cut", None), replace(SUMMARY, usage=Usage(1, 1, 1))]
    for cut_at in (4, 6, 8, 9, 12):
        agent, model = play(*calls[:cut_at], KeyboardInterrupt(), summaries=summaries)
        with pytest.raises(KeyboardInterrupt):
            agent.ask("q")
        before = saved(agent)
        assert before.compactions or cut_at < 5
        rest = Windowed([SUBMIT], WINDOW, [ServerLost("no summary is asked for again")])
        again = Agent(rest, wide_registry(memory), memory, settings, library_card="9")
        assert agent.last_trace is not None
        assert again.resume(agent.last_trace).uids == ("aaaaa",)
        assert json.dumps(rest.prompts[0]) == json.dumps(model.prompts[-1])
        after = saved(again)
        assert after.compactions == before.compactions
        assert after.cuts == before.cuts


def test_a_server_that_goes_while_it_writes_the_summary_cuts_the_episode(
    play: Callable[..., Any], memory: Memory, settings: Settings
) -> None:
    calls = looks(*[{"rows": 200}] * 9)
    agent, _ = play(*calls, SUBMIT, summaries=[ServerLost("gone")])
    with pytest.raises(ServerLost):
        agent.ask("q")
    trace = saved(agent)
    assert (trace.status, trace.compactions) == ("interrupted", [])
    rest = Windowed([*calls[len(trace.steps) :], SUBMIT], WINDOW)
    again = Agent(rest, wide_registry(memory), memory, settings, library_card="9")
    assert agent.last_trace is not None
    assert again.resume(agent.last_trace).uids == ("aaaaa",)
    assert saved(again).compactions[0].prose is not None


def test_a_second_cut_while_an_episode_is_put_back_loses_no_step(
    play: Callable[..., Any], memory: Memory, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, _ = play(*looks(*[{"rows": 2}] * 4, save=True), KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        agent.ask("q")
    registry = wide_registry(memory)
    put_back, calls = registry.put_back, []

    def cut(call: ToolCall, seen: Observation) -> Any:
        calls.append(call)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return put_back(call, seen)

    monkeypatch.setattr(registry, "put_back", cut)
    assert agent.last_trace is not None
    with pytest.raises(KeyboardInterrupt):
        Agent(Windowed([], WINDOW), registry, memory, settings).resume(agent.last_trace)
    assert len(saved(agent).steps) == 4


def random_calls(chance: random.Random) -> list[Line]:
    """None like another; some ask for a compaction, some are no call at all."""
    calls: list[Line] = []
    for at in range(20):
        size = {
            "rows": chance.choice([0, 1, 20, 200, 900]),
            "pictures": chance.choice([0, 0, 1, 6, 20]),
            "words": chance.choice([0, 0, 100, 30_000]),
        }
        calls.append(ToolCall("filter_photos", {"when": f"June {at}", **size}))
        if chance.random() < 0.15:
            calls.append("only words")
        if chance.random() < 0.1:
            calls.append(ToolCall("compress_context", {"reason": f"r{at}"}))
    return calls


@pytest.mark.parametrize("seed", range(12))
def test_whatever_the_tools_bring_no_prompt_leaves_the_window_or_changes_what_was_sent(
    play: Callable[..., Any], seed: int
) -> None:
    chance = random.Random(seed)
    window = chance.choice([2500, 4000, 8000, 16_000])
    most = chance.choice([0, 8, 24])
    agent, model = play(
        *random_calls(chance), SUBMIT, window=window, most_pictures=most, picture_tokens=60
    )
    agent.ask("q")
    trace = saved(agent)
    assert trace.status == "answered"
    assert max(model.loads) <= window - min(window // 8, SUMMARY_REPLY)
    if most:
        assert all(model.load(prompt, []).pictures <= most for prompt in model.prompts)
    assert all(is_prefix(model.prompts[0], prompt) for prompt in model.prompts)
    turns = [bare(prompt) for prompt in model.prompts]
    assert all(any(is_prefix(turn, bare(asked)) for turn in turns) for asked in model.requests)
    num_new = sum(not is_prefix(before, after) for before, after in pairwise(turns))
    made_anew = [one for attempt in (*trace.attempts, trace) for one in attempt.compactions]
    assert num_new <= len(made_anew) + len(trace.attempts)
    for made in made_anew:
        assert made.tokens_after <= made.tokens_before or "tokens" not in made.why


def bare(prompt: list[Message]) -> list[Message]:
    """Without what is rolled back: corrections and the words of the last turn."""
    end = len(prompt)
    while end > 3 and prompt[end - 1]["role"] == "user" and is_told(prompt[end - 1]["content"]):
        end -= 1
    return prompt[:end]


def is_told(content: Any) -> bool:
    return isinstance(content, str) and not content.startswith("Summary of the")


def test_older_traces_are_read_and_a_compaction_comes_back_as_it_was(tmp_path: Path) -> None:
    record = trajectory.Trajectory(question="q", today=date(2024, 5, 6), backbone="b")
    data = record.to_json()
    for version in (1, 2):
        old = {k: v for k, v in data.items() if k not in ("compactions", "cuts")}
        path = tmp_path / f"{version}.json"
        path.write_text(json.dumps(old | {"version": version}), "utf-8")
        assert trajectory.load(path).compactions == []
        assert trajectory.load(path).cuts == []
