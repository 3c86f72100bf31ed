"""Lines that a scripted model says in the loop's tests, and what is read of it afterwards."""

from __future__ import annotations

from pathlib import Path

from photocraft_local.agent import trajectory
from photocraft_local.agent.attempts import PostMortem
from photocraft_local.agent.loop import Agent
from photocraft_local.records import ToolCall
from photocraft_local.serving.scripted import Line, ScriptedModel

FIND = ToolCall("find", {"text": "dog"})
SUBMIT = ToolCall("submit_answer", {"photos": ["aaaaa"]})


def finds(number: int) -> list[Line]:
    return [ToolCall("find", {"text": f"dog {n}"}) for n in range(number)]


def last_text(model: ScriptedModel) -> str:
    return str(model.seen[-1][-1]["content"])


def saved(agent: Agent) -> trajectory.Trajectory:
    assert agent.last_trace is not None
    return trajectory.load(agent.last_trace)


def trace_of(agent: Agent) -> Path:
    assert agent.last_trace is not None
    return agent.last_trace


def post_mortem(record: trajectory.Trajectory) -> PostMortem:
    """Of the first attempt."""
    told = record.attempts[0].post_mortem
    assert told is not None
    return told
