"""Turns, tokens and seconds of a question: honoured to the last one, by a clock that is made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from loop_lines import SUBMIT, finds, last_text, saved, trace_of
from tiny_tools import Find, make_registry
from wide_tools import looks, wide_registry

from photocraft_local.agent.loop import Agent
from photocraft_local.errors import ReplyLate
from photocraft_local.memory.memory import Memory
from photocraft_local.records import Observation, ToolCall, Usage
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.ports import Arguments


class Clock:
    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Slow(Find):
    """Takes ten seconds."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def run(self, arguments: Arguments, context: ToolContext) -> Observation:
        self._clock.now += 10
        return super().run(arguments, context)


class Told(ScriptedModel):
    """Keeps the limits that it is told before each call."""

    def __init__(self, lines: Sequence[Line], **options: Any) -> None:
        super().__init__(lines, **options)
        self.limits: list[tuple[int, float]] = []

    def limit(self, *, tokens: int, seconds: float) -> None:
        self.limits.append((tokens, round(seconds, 6)))


@pytest.fixture
def timed(memory: Memory, settings: Settings) -> Callable[..., tuple[Agent, Told]]:
    def make(*lines: Line, start: float = 0.0, **limits: Any) -> tuple[Agent, Told]:
        clock = Clock(start)
        model = Told(lines)
        registry = make_registry(Slow(clock), memory)
        return Agent(model, registry, memory, replace(settings, **limits), clock=clock), model

    return make


def test_four_fifths_of_the_seconds_are_for_turns_and_the_rest_for_the_answer(
    timed: Callable[..., Any],
) -> None:
    agent, model = timed(*finds(8), SUBMIT, max_seconds=100)
    assert agent.ask("q").uids == ("aaaaa",)
    assert "the 100 seconds for this question are over" in last_text(model)
    assert model.limits == [*((0, 80.0 - 10 * n) for n in range(8)), (0, 20.0)]
    assert (saved(agent).limit, saved(agent).seconds) == ("seconds", 80.0)


def test_without_limits_none_is_told(timed: Callable[..., Any]) -> None:
    agent, model = timed(*finds(2), SUBMIT)
    agent.ask("q")
    assert model.limits == [(0, 0.0)] * 3
    assert saved(agent).limit == ""


def test_a_reply_in_flight_when_the_time_is_over_is_given_up_for_the_last_turn(
    timed: Callable[..., Any],
) -> None:
    agent, model = timed(*finds(2), ReplyLate("late"), SUBMIT, max_seconds=100)
    assert agent.ask("q").uids == ("aaaaa",)
    assert saved(agent).limit == "seconds"
    agent, model = timed(*finds(2), ReplyLate("late"), ReplyLate("late"), max_seconds=100)
    answer = agent.ask("q")
    assert answer.uids == ()
    assert answer.reason == (
        "the 100 seconds for this question are over, and no answer came in time"
    )
    assert saved(agent).status == "answered"
    assert model.num_left == 0


def test_when_even_the_last_turn_has_no_time_no_model_is_asked(timed: Callable[..., Any]) -> None:
    agent, model = timed(*finds(3), max_seconds=10)
    answer = agent.ask("q")
    assert "no answer came in time" in answer.reason
    assert len(model.seen) == 1


def test_time_before_a_cut_counts_and_time_between_does_not(
    timed: Callable[..., Any],
) -> None:
    agent, _ = timed(*finds(5), KeyboardInterrupt(), max_seconds=100)
    with pytest.raises(KeyboardInterrupt):
        agent.ask("q")
    assert saved(agent).seconds == 50
    more = [ToolCall("find", {"text": f"cat {n}"}) for n in range(3)]
    again, model = timed(*more, SUBMIT, start=9000.0, max_seconds=100)
    again.resume(trace_of(agent))
    assert model.limits == [(0, 30.0), (0, 20.0), (0, 10.0), (0, 20.0)]
    assert saved(again).seconds == 80


def test_tokens_that_are_reported_count_but_for_those_from_a_cache(
    memory: Memory, settings: Settings
) -> None:
    usage = Usage(1000, 940, 40)
    calls = [ToolCall("find", {"text": f"dog {n}"}) for n in range(3)]
    lines: list[Line] = [Reply(call=call, usage=usage) for call in calls]
    lines[1:1] = [Reply("words", None, Usage(500, 480, 30))]
    model = ScriptedModel([*lines, SUBMIT])
    limited = replace(settings, max_tokens=350)
    agent = Agent(model, make_registry(Find(), memory), memory, limited)
    assert agent.ask("q").uids == ("aaaaa",)
    assert "the 350 tokens for this question are used" in last_text(model)
    assert saved(agent).limit == "tokens"
    assert len(saved(agent).steps) == 4  # 100 each, 50 for the words, and the answer


class Counting(Told):
    """A backbone with a window that reports what it used: ``caches`` the longest known prefix."""

    def __init__(self, lines: Sequence[Line], *, caches: bool, window: int) -> None:
        super().__init__(lines, window=window)
        self._caches, self._known = caches, list[list[Message]]()

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        load, most = self.load(messages, tools), self.limits[-1][0]
        assert load is not None
        same = max((_common(messages, known) for known in self._known), default=0)
        known = self.load(messages[:same], tools)
        cached = known.prompt if known and same and self._caches else 0
        self._known.append(list(messages))
        generated = min(load.reply, most) if most else load.reply
        usage = Usage(load.prompt, cached, generated)
        if [tool["name"] for tool in tools] == ["submit_answer"]:
            return Reply(call=SUBMIT, usage=usage)
        if len(tools) == 1:
            return Reply("no summary of mine", None, usage)
        return replace(super().complete(messages, tools), usage=usage)


def _common(one: Sequence[Message], other: Sequence[Message]) -> int:
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


@pytest.mark.parametrize("caches", [True, False])
@pytest.mark.parametrize("most", [1, 1500, 3000, 5000, 9000, 14_000, 30_000, 60_000, 10**6])
def test_a_budget_of_tokens_is_never_passed(
    memory: Memory, settings: Settings, most: int, caches: bool
) -> None:
    sizes = [{"rows": 5}, {"rows": 200}, {"rows": 30}, {"rows": 900}] * 15
    lines = [Reply(call=call) for call in looks(*sizes)]
    model = Counting(lines, caches=caches, window=6000)
    limited = replace(settings, max_tokens=most, max_turns=100, restarts=0)
    agent = Agent(model, wide_registry(memory), memory, limited)
    if most < 10**6:
        answer = agent.ask("q")
        record = saved(agent)
        usage = record.total_usage()
        assert usage.prompt - usage.cached + usage.generated <= most
        assert (record.status, record.limit) == ("answered", "tokens")
        assert answer.uids or "tokens for this question are used" in answer.reason
        assert answer.uids == ("aaaaa",) or most < 9000
    else:
        with pytest.raises(Exception, match="ran out"):
            agent.ask("q")
        assert len(saved(agent).steps) == 60


def test_a_budget_that_pays_for_no_turn_is_said(memory: Memory, settings: Settings) -> None:
    model = Counting([], caches=False, window=6000)
    agent = Agent(model, wide_registry(memory), memory, replace(settings, max_tokens=100))
    answer = agent.ask("q")
    assert answer.reason == (
        "the 100 tokens for this question are used, and what is left pays for no answer"
    )
    assert model.limits
    assert not saved(agent).total_usage().prompt


def test_the_last_turn_is_offered_what_the_search_has_established(
    play: Callable[..., Any],
) -> None:
    saving = ToolCall("find", {"text": "dog", "save_as": "dogs"})
    agent, model = play(saving, SUBMIT, max_turns=1)
    agent.ask("where <|im_end|> is it?")
    words = last_text(model)
    held = json.loads(words.split("as JSON: ")[1].splitlines()[0])
    assert held == {"confirmed": {}, "rejected": "", "sets": {"dogs": 2}}
    assert "<|" not in words
    last = saved(agent).last_turn
    assert last
    assert last.words == words
