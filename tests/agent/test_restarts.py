"""Attempts that bring no answer: what the next one is told of them, and how they are cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from loop_lines import FIND, SUBMIT, finds, post_mortem, saved, trace_of
from wide_tools import SUMMARY, Windowed, looks, wide_registry

from photocraft_local.agent.loop import MAX_REFUSED, MAX_REFUSED_AT_END, Agent
from photocraft_local.agent.room import most_characters
from photocraft_local.cli.traces import trace_lines
from photocraft_local.errors import ServerLost
from photocraft_local.memory.memory import Memory
from photocraft_local.records import ToolCall, Usage
from photocraft_local.serving.chat_model import Reply
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.registry import Registry

BAD: list[Line] = ["words"] * (MAX_REFUSED + MAX_REFUSED_AT_END)
SAVING = ToolCall("find", {"text": "dog", "save_as": "dogs"})
NOTHING = ToolCall("find", {"text": "nothing"})
GAVE_UP = ToolCall("submit_answer", {"photos": [], "reason": "cannot <|say|>"})
WORDS = {"failed": "the lake <|im_end|>", "useful": "the dates", "next": "go by event"}


@pytest.fixture
def run(memory: Memory, settings: Settings, registry: Registry) -> Callable[..., Any]:
    def make(*lines: Line, **options: Any) -> tuple[Agent, ScriptedModel]:
        model = ScriptedModel(lines)
        return Agent(model, registry, memory, replace(settings, **options)), model

    return make


def left_in(messages: Any) -> list[dict[str, Any]]:
    """What the post-mortems in a prompt say."""
    texts = [str(one["content"]) for one in messages if "An earlier attempt" in str(one["content"])]
    return [json.loads(text.split("code's): ", 1)[1].split("\n")[0]) for text in texts]


def test_a_run_without_an_answer_starts_afresh_with_its_post_mortem(
    run: Callable[..., Any],
) -> None:
    agent, model = run(SAVING, NOTHING, *BAD, FIND, SUBMIT)
    assert agent.ask("where is the dog?").uids == ("aaaaa",)
    trace = saved(agent)
    (failed,) = trace.attempts
    assert [len(failed.steps), len(trace.steps), len(trace.all_steps)] == [2, 2, 4]
    assert len(failed.rejected) == len(BAD)
    assert failed.limit == "replies"
    assert (trace.limit, trace.rejected) == ("", [])
    first = model.seen[2 + len(BAD)]
    assert first[:2] == model.seen[0][:2]  # the stable blocks; then the post-mortem, and no turn
    assert len(first) == 3
    assert first[2]["content"] == post_mortem(trace).text
    (left,) = left_in(first)
    assert left["ended"] == "5 replies in a row could not be used, and no usable answer came"
    assert left["failed"] == ['2 find -> "failed: no photo like that; use other words"']
    assert left["useful"] == ['1 find -> dogs: "2 photos"; aaaaa bbbbb']
    assert left["refused_replies"] == {"no call": 7}
    assert left["sets"] == {"dogs": 2}
    assert model.seen[-1][:3] == first  # it stays where it is


def test_a_set_of_the_first_attempt_can_be_used_in_the_second(
    run: Callable[..., Any], registry: Registry
) -> None:
    reading = ToolCall("find", {"text": "cat", "within": "dogs"})
    agent, _ = run(SAVING, *BAD, reading, SUBMIT)
    agent.ask("q")
    assert "dogs" in registry.context.sets


@pytest.mark.parametrize("restarts", [0, 1, 3])
def test_after_the_last_attempt_the_question_ends_without_an_answer(
    run: Callable[..., Any], restarts: int
) -> None:
    agent, model = run(*[FIND, *BAD] * 4, restarts=restarts)
    answer = agent.ask("q")
    assert answer.uids == ()
    assert answer.reason == "5 replies in a row could not be used, and no usable answer came"
    trace = saved(agent)
    assert (len(trace.attempts), trace.status) == (restarts, "answered")
    assert model.num_left == (3 - restarts) * (1 + len(BAD))
    assert len(left_in(model.seen[-1])) == restarts


def test_attempts_share_the_turns_of_the_question(run: Callable[..., Any]) -> None:
    agent, model = run(*finds(4), *BAD, *finds(3), SUBMIT, max_turns=6)
    model._replies[-2:-1] = []  # two turns are left
    assert agent.ask("q").uids == ("aaaaa",)
    assert saved(agent).limit == "turns"
    assert [len(one.steps) for one in (*saved(agent).attempts, saved(agent))] == [4, 3]


def test_a_budget_that_is_used_up_brings_no_further_attempt(run: Callable[..., Any]) -> None:
    agent, model = run(*finds(2), "words", "words", max_turns=2, restarts=5)
    assert "all 2 turns are used" in agent.ask("q").reason
    assert saved(agent).attempts == []
    assert model.num_left == 0


def test_giving_up_where_an_answer_was_forced_is_no_answer_but_freely_it_is(
    run: Callable[..., Any],
) -> None:
    agent, model = run(FIND, *["words"] * MAX_REFUSED, GAVE_UP, FIND, SUBMIT)
    assert agent.ask("q").uids == ("aaaaa",)
    (failed,) = saved(agent).attempts
    assert failed.steps[-1].call == GAVE_UP
    assert left_in(model.seen[-1])[0]["ended"] == "cannot <|say|>"
    assert "<|" not in str(model.seen[-1])
    agent, model = run(FIND, GAVE_UP)
    assert agent.ask("q").reason == "cannot <|say|>"
    assert saved(agent).attempts == []


def windowed(
    memory: Memory, settings: Settings, *lines: Line, window: int = 8000, **options: Any
) -> tuple[Agent, Windowed]:
    model = Windowed(lines, window)
    limited = replace(settings, max_turns=200, **options)
    return Agent(model, wide_registry(memory), memory, limited), model


def test_the_model_is_asked_for_its_words_on_the_live_prefix(
    memory: Memory, settings: Settings
) -> None:
    agent, model = windowed(memory, settings, *looks(*[{"rows": 3}] * 3), *BAD, SUBMIT)
    model.post_mortem = Reply("So.", ToolCall("write_post_mortem", WORDS), Usage(90, 80, 9))
    assert agent.ask("q").uids == ("aaaaa",)
    (asked,) = model.asked_why
    assert asked[:-1] == model.prompts[3][: len(asked) - 1]
    told = post_mortem(saved(agent))
    assert (told.problem, told.usage) == ("", Usage(90, 80, 9))
    assert left_in(model.prompts[-1])[0]["in_its_words"] == WORDS
    assert "<|" not in told.text
    assert saved(agent).total_usage().prompt == 90


@pytest.mark.parametrize(
    "reply",
    [
        Reply("cut"),
        Reply("", ToolCall("write_summary", {})),
        Reply("", ToolCall("write_post_mortem", {**WORDS, "more": "x"})),
        Reply("", ToolCall("write_post_mortem", {**WORDS, "next": "x" * 900})),
    ],
)
def test_without_usable_words_it_is_code_alone(
    memory: Memory, settings: Settings, reply: Reply
) -> None:
    agent, model = windowed(memory, settings, *looks({"rows": 3}), *BAD, SUBMIT)
    model.post_mortem = reply
    assert agent.ask("q").uids == ("aaaaa",)
    assert "is no post-mortem" in post_mortem(saved(agent)).problem
    (left,) = left_in(model.prompts[-1])
    assert "in_its_words" not in left
    assert left["conditions"] == ["time: June 1900"]


def test_after_sixty_turns_it_still_takes_an_eighth_of_a_small_window(
    memory: Memory, settings: Settings
) -> None:
    calls = looks(*[{"rows": 40}] * 60, save=True)
    agent, _ = windowed(memory, settings, *calls, *BAD, SUBMIT, window=5000)
    assert agent.ask("q").uids == ("aaaaa",)
    assert len(post_mortem(saved(agent)).text) <= most_characters(5000)


@pytest.mark.parametrize("num_steps", [0, 1, 2])
def test_an_episode_cut_in_its_second_attempt_goes_on_with_the_same_bytes(
    memory: Memory,
    settings: Settings,
    new_registry: Callable[[], Registry],
    num_steps: int,
) -> None:
    first, second = [SAVING, NOTHING], finds(num_steps)
    model = ScriptedModel([*first, *BAD, *second, KeyboardInterrupt()])
    agent = Agent(model, new_registry(), memory, settings, library_card="two photos")
    with pytest.raises(KeyboardInterrupt):
        agent.ask("where?")
    before = saved(agent)
    registry, rest = new_registry(), ScriptedModel([*BAD])
    again = Agent(rest, registry, memory, settings)
    answer = again.resume(trace_of(agent))
    assert rest.seen[0] == model.seen[-1]
    assert "dogs" in registry.context.sets
    assert answer.uids == ()
    after = saved(again)
    assert [one.to_json() for one in after.attempts] == [one.to_json() for one in before.attempts]
    assert len(after.attempts) == settings.restarts  # none more than that


@pytest.mark.parametrize("num_bad", range(1, len(BAD)))
def test_an_episode_cut_after_bad_replies_stands_where_it_stood(
    memory: Memory,
    settings: Settings,
    new_registry: Callable[[], Registry],
    num_bad: int,
) -> None:
    model = ScriptedModel([FIND, *BAD[:num_bad], KeyboardInterrupt()])
    agent = Agent(model, new_registry(), memory, settings)
    with pytest.raises(KeyboardInterrupt):
        agent.ask("where?")
    rest = ScriptedModel([*BAD[num_bad:], KeyboardInterrupt()])
    again = Agent(rest, new_registry(), memory, settings)
    with pytest.raises(KeyboardInterrupt):  # asked at once in the second attempt
        again.resume(trace_of(agent))
    assert rest.seen[0] == model.seen[-1]
    assert len(saved(again).attempts) == 1
    assert rest.num_left == 0


def test_a_server_that_goes_amid_the_post_mortem_loses_nothing(
    memory: Memory, settings: Settings
) -> None:
    lines = [*looks({"rows": 3}), *BAD]
    agent, model = windowed(memory, settings, *lines)

    class Lost(Windowed):
        def complete(self, messages: Any, tools: Any) -> Reply:
            if tools[0]["name"] == "write_post_mortem":
                raise ServerLost("gone")
            return super().complete(messages, tools)

    agent.model = Lost(lines, 8000)
    with pytest.raises(ServerLost):
        agent.ask("q")
    assert saved(agent).status == "interrupted"
    again, model = windowed(memory, settings, *looks({"rows": 4}), SUBMIT)
    assert again.resume(trace_of(agent)).uids == ("aaaaa",)
    assert len(model.asked_why) == 1
    assert [len(one.steps) for one in (*saved(again).attempts, saved(again))] == [1, 2]


def test_what_is_learned_leans_on_the_steps_of_both_attempts(
    run: Callable[..., Any], memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught: list[Any] = []
    monkeypatch.setattr("photocraft_local.memory.memory.learn", lambda *given: taught.append(given))
    agent, _ = run(SAVING, *BAD, FIND, SUBMIT)
    agent.ask("twice")
    (given,) = taught
    assert [step.call for step in given[3]] == [SAVING, FIND, SUBMIT]
    assert memory.store is not None
    assert [record.question for record in memory.store.list()] == ["twice"]


def test_a_hundred_turns_in_one_episode_of_a_small_window(
    memory: Memory, settings: Settings
) -> None:
    calls = looks(*[{"rows": 120}] * 100)
    for call in calls[:60]:
        call.arguments["save_as"] = f"set_{call.arguments['when'][-4:]}"
    bad: list[Line] = ["words", ToolCall("fnid"), calls[0]]
    lines = [one for at, call in enumerate(calls) for one in (*bad[: at % 4 == 1 and 2], call)]
    model = Windowed([*lines], 10_000, [SUMMARY])
    agent = Agent(model, wide_registry(memory), memory, replace(settings, max_turns=100))
    assert agent.ask("q").uids == ("aaaaa",)
    trace = saved(agent)
    assert (trace.limit, trace.attempts, len(trace.steps)) == ("turns", [], 101)
    assert len(trace.rejected) == 50
    assert len(trace.compactions) >= 10
    assert max(model.loads) <= 10_000
    assert "all 100 turns are used" in model.prompts[-1][-1]["content"]
    summary = next(one for one in model.prompts[-1] if str(one["content"])[:7] == "Summary")
    kept = json.loads(summary["content"].split("\n", 1)[1])["working"]
    num = trace.compactions[-1].after_step
    assert kept["sets"] == {f"set_{1900 + n}": 120 for n in range(60)}
    assert kept["constraints"] == {"open": {"time": [f"June {1900 + n}" for n in range(num)]}}


def test_without_working_memory_the_oldest_turns_are_dropped_and_nothing_takes_their_place(
    memory: Memory, settings: Settings
) -> None:
    calls = looks(*[{"rows": 120}] * 40, save=True)
    bare = replace(settings, max_turns=40, working=False)
    model = Windowed([*calls], 10_000)
    agent = Agent(model, wide_registry(memory), memory, bare)
    assert agent.ask("q").uids == ("aaaaa",)
    trace = saved(agent)
    assert model.requests == []
    assert len(trace.compactions) > 5
    assert any("were dropped; " in line for line in trace_lines(trace))
    assert max(model.loads) <= 10_000
    stable = model.prompts[0]
    for number, prompt in enumerate(model.prompts[:-1]):
        assert prompt[: len(stable)] == stable
        turns = [one for one in prompt[len(stable) :] if one["role"] == "assistant"]
        told = [json.loads(one["tool_calls"][0]["function"]["arguments"]) for one in turns]
        newest = [call.arguments for call in calls[:number]]
        assert told == newest[len(newest) - len(told) :]  # the newest, all of them whole
        assert not number or told
    assert "state" not in str(model.prompts[-1])
    assert "June 1900" not in str(model.prompts[-1])
    rest = Windowed([SUBMIT], 10_000)
    cut = Windowed([*calls[:30], KeyboardInterrupt()], 10_000)
    agent = Agent(cut, wide_registry(memory), memory, bare)
    with pytest.raises(KeyboardInterrupt):
        agent.ask("q")
    longer = replace(settings, max_turns=60)
    Agent(rest, wide_registry(memory), memory, longer).resume(trace_of(agent))
    assert rest.prompts[0] == cut.prompts[-1]


def test_a_trace_replays_in_its_window_with_what_was_written_at_its_compactions(
    memory: Memory, settings: Settings
) -> None:
    calls = looks(*[{"rows": 120}] * 30)
    lines = [*calls[:20], calls[0], *calls[20:], SUBMIT]  # made again when it was compacted away
    longer = replace(settings, max_turns=100)
    agent = Agent(Windowed(lines, 10_000), wide_registry(memory), memory, longer)
    answer = agent.ask("q")
    record = saved(agent)
    assert [step.call for step in record.steps] == lines
    model = ScriptedModel.from_trajectory(record.to_json(), window=10_000)
    again = Agent(model, wide_registry(memory), memory, longer)
    assert again.ask("q") == answer
    assert [step.call for step in saved(again).steps] == lines
    assert saved(again).rejected == []
    made = [(one.after_step, one.prose) for one in record.compactions]
    assert [(one.after_step, one.prose) for one in saved(again).compactions] == made
    assert len(made) > 2


def test_a_trace_of_two_attempts_replays_as_one(
    run: Callable[..., Any], memory: Memory, settings: Settings, new_registry: Any
) -> None:
    reading = ToolCall("find", {"text": "cat", "within": "dogs"})
    agent, _ = run(SAVING, FIND, *["words"] * MAX_REFUSED, GAVE_UP, FIND, reading, SUBMIT)
    answer = agent.ask("q")
    model = ScriptedModel.from_trajectory(trace_of(agent))
    again = Agent(model, new_registry(), memory, settings)
    assert again.ask("q") == answer
    assert [step.call for step in saved(again).steps] == [SAVING, FIND, reading, SUBMIT]
