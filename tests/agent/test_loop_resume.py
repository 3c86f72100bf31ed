"""Episodes that were cut: what the trace keeps of them, and how they go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from loop_lines import FIND, SUBMIT, finds, saved

from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.errors import AgentError
from photocraft_local.memory.memory import Memory
from photocraft_local.records import Step, ToolCall
from photocraft_local.serving.scripted import ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.registry import Registry


def test_a_wish_for_compaction_that_a_cut_left_open_is_granted(
    play: Callable[..., Any], new_registry: Callable[[], Registry], memory: Memory
) -> None:
    wish = ToolCall("compress_context", {"reason": "full"})
    agent, _model = play(*finds(2), wish, SUBMIT)

    def cut(step: Step) -> None:  # the step is on disk, what follows from it is not
        if step.call == wish:
            raise KeyboardInterrupt

    agent.on_step = cut
    with pytest.raises(KeyboardInterrupt):
        agent.ask("q")
    rest = ScriptedModel([SUBMIT])
    again = Agent(rest, new_registry(), memory, agent.settings)
    assert agent.last_trace is not None
    again.resume(agent.last_trace)
    assert [one.why for one in saved(again).compactions] == ["asked for: full"]
    assert not any(one["role"] == "tool" for one in rest.seen[0])


def test_ctrl_c_leaves_a_readable_trace_that_resumes(
    play: Callable[..., Any],
    new_registry: Callable[[], Registry],
    memory: Memory,
    settings: Settings,
) -> None:
    saving = ToolCall("find", {"text": "dog", "save_as": "dogs"})
    agent, model = play(saving, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        agent.ask("where is the dog?")
    trace = saved(agent)
    assert trace.status == "interrupted"
    assert [step.call for step in trace.steps] == [saving]

    registry = new_registry()
    rest = ScriptedModel([SUBMIT])
    again = Agent(rest, registry, memory, settings)
    assert agent.last_trace is not None
    assert again.resume(agent.last_trace).uids == ("aaaaa",)
    assert rest.seen[0] == model.seen[-1]  # the prompt is the same, byte for byte
    assert "dogs" in registry.context.sets
    assert saved(again).episode_id == trace.episode_id
    assert saved(again).status == "answered"


def test_an_answered_episode_gives_its_answer_again(
    play: Callable[..., Any], registry: Registry, memory: Memory, settings: Settings
) -> None:
    agent, _ = play(FIND, SUBMIT)
    answer = agent.ask("q")
    assert agent.last_trace is not None
    trace = agent.last_trace.read_bytes()
    silent = ScriptedModel([])
    again = Agent(silent, registry, memory, settings, generation=7)
    assert again.resume(agent.last_trace) == answer
    assert agent.last_trace.read_bytes() == trace
    assert silent.seen == []


def test_an_episode_cut_right_after_its_answer_keeps_it(
    play: Callable[..., Any], registry: Registry, memory: Memory, settings: Settings
) -> None:
    """Killed when the accepted answer was saved as a step, but not yet as the answer."""
    agent, _ = play(FIND, SUBMIT)
    answer = agent.ask("q")
    trace = saved(agent)
    trace.status, trace.answer = "running", None
    path = trace.save(settings.library / "traces")
    silent = ScriptedModel([])
    again = Agent(silent, registry, memory, settings)
    assert again.resume(path) == answer
    assert silent.seen == []
    assert trajectory.load(path).status == "answered"


def test_an_episode_does_not_resume_over_a_changed_library(
    play: Callable[..., Any], registry: Registry, memory: Memory, settings: Settings
) -> None:
    agent, _ = play(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        agent.ask("q")
    changed = Agent(ScriptedModel([SUBMIT]), registry, memory, settings, generation=7)
    assert agent.last_trace is not None
    with pytest.raises(AgentError, match="has changed"):
        changed.resume(agent.last_trace)


def test_a_trace_replays_without_the_model(
    play: Callable[..., Any], registry: Registry, memory: Memory, settings: Settings
) -> None:
    agent, _ = play(FIND, *finds(2), SUBMIT)
    answer = agent.ask("q")
    assert agent.last_trace is not None
    replay = Agent(ScriptedModel.from_trajectory(agent.last_trace), registry, memory, settings)
    assert replay.ask("q") == answer
    assert [step.call for step in saved(replay).steps] == [step.call for step in saved(agent).steps]


def test_an_episode_that_is_killed_while_it_is_remembered_is_remembered_once(
    play: Callable[..., Any], memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, _model = play(FIND, SUBMIT)
    finish = memory.finish

    def killed(*given: Any) -> None:
        finish(*given)
        monkeypatch.setattr(trajectory.Trajectory, "save", lambda *_: None)  # what it still writes
        raise SystemExit

    monkeypatch.setattr(memory, "finish", killed)
    with pytest.raises(SystemExit):
        agent.ask("a dog on the beach")
    monkeypatch.undo()
    assert agent.last_trace is not None
    again, _ = play()
    assert again.resume(agent.last_trace).uids == ("aaaaa",)
    assert memory.store is not None
    assert len(memory.store.list()) == 1


def test_a_wish_for_compaction_does_not_outlive_its_episode(
    play: Callable[..., Any], memory: Memory
) -> None:
    memory.request_compaction("left by a question that was cut")
    agent, model = play(FIND, *finds(1), SUBMIT)
    agent.ask("q")
    assert len(model.seen[2]) == len(model.seen[1]) + 2


def test_card_and_hints_are_in_the_trace_and_stay_when_it_goes_on(
    play: Callable[..., Any], memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Told:
        def for_question(self, question: str) -> tuple[str, ...]:
            return ("begin with the time",)

    class Silent:
        def for_question(self, question: str) -> tuple[str, ...]:
            return ()

    monkeypatch.setattr(memory, "hints", Told())
    agent, first = play(FIND, KeyboardInterrupt())
    agent.library_card = "two photos"
    with pytest.raises(KeyboardInterrupt):
        agent.ask("where is the dog?")
    trace = saved(agent)
    assert trace.card == "two photos"
    assert trace.hints == [{"text": "begin with the time"}]
    monkeypatch.setattr(memory, "hints", Silent())
    again, second = play(SUBMIT)
    again.resume(agent.last_trace)
    assert second.seen[0] == first.seen[1]
