"""A contradiction keeps an answer from being accepted; the search goes on and finds the right one.

The true loop over real photos, whose backbone is scripted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from fake_judge import FakeJudge
from tool_album import TODAY, Album

from photocraft_local.agent.loop import Agent
from photocraft_local.agent.trajectory import load
from photocraft_local.memory.memory import Memory
from photocraft_local.records import Answer, ToolCall
from photocraft_local.serving.scripted import ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools

OCTOBER: Mapping[str, object] = {"constraint": "in October 2008", "when": "October 2008"}


@pytest.fixture
def nikon(album: Album) -> list[str]:
    return [album.uid(f"ia_DSCN00{n}.jpg") for n in (10, 21, 42)]


def answered(
    context: ToolContext, question: str, folder: Path, *calls: ToolCall
) -> tuple[Answer, Path]:
    """What the agent answers, and its trace; each call is made, whatever came back before."""
    context.question = question
    settings = Settings(library=folder, cache=folder, memory=False)
    model = ScriptedModel(calls)
    tools = Registry(standard_tools(), context)
    agent = Agent(model, tools, Memory.open(settings), settings, today=TODAY)
    answer = agent.ask(question)
    assert model.num_left == 0
    assert agent.last_trace
    return answer, agent.last_trace


def submit(photos: list[str], *claims: Mapping[str, object]) -> ToolCall:
    return ToolCall("submit_answer", {"photos": photos, "evidence": list(claims)})


def test_a_fact_that_the_evidence_states(
    context: ToolContext, nikon: list[str], album: Album, tmp_path: Path
) -> None:
    other = album.uid("me_Apple iPhone 4.jpg")
    answer, trace = answered(
        context,
        "photos from October 2008",
        tmp_path,
        submit([other], OCTOBER),
        ToolCall("filter_photos", {"when": "October 2008", "save_as": "october"}),
        submit(nikon, OCTOBER),
    )
    assert answer.uids == tuple(nikon)
    refused, _, accepted = load(trace).steps
    assert refused.observation.data["unmet_photos"] == [other]
    assert accepted.observation.ok


def test_a_fact_that_the_evidence_keeps_quiet_about(
    context: ToolContext, nikon: list[str], album: Album, tmp_path: Path
) -> None:
    other = album.uid("me_Apple iPhone 4.jpg")
    answer, trace = answered(
        context,
        "photos from October 2008",
        tmp_path,
        submit([other], {"constraint": "a photo", "where": "width > 0"}),
        ToolCall("filter_photos", {"when": "October 2008", "save_as": "october"}),
        ToolCall("submit_answer", {"set": "october", "evidence": [OCTOBER]}),
    )
    assert set(nikon) <= set(answer.uids)
    assert other not in answer.uids
    assert answer.not_understood == ()
    refused = load(trace).steps[0].observation
    assert refused.data["unmentioned"][0]["condition"] == "from October 2008"
    assert "search on" in refused.error


def test_a_look(context: ToolContext, nikon: list[str], tmp_path: Path) -> None:
    context.judge = FakeJudge(sure={nikon[0]: 0.1})
    dog = {"constraint": "a dog", "seen": "a dog"}
    answer, trace = answered(
        context,
        "a dog in October 2008",
        tmp_path,
        submit(nikon[:1], OCTOBER, dog),
        ToolCall("filter_photos", {"when": "October 2008", "save_as": "october"}),
        ToolCall("compare_photos", {"set": "october", "question": "a dog?", "save_as": "dogs"}),
        submit(nikon[1:2], OCTOBER, dog),
    )
    assert answer.uids == (nikon[1],)
    assert load(trace).steps[0].observation.data["doubtful_photos"] == [nikon[0]]


def test_the_same_answer_may_be_given_again_once_it_was_told_what_it_keeps_quiet_about(
    context: ToolContext, nikon: list[str], tmp_path: Path
) -> None:
    """It is no repeated call: what was a refusal is an answer now, with a word to the person."""
    quiet = submit(nikon, {"constraint": "a photo", "where": "width > 0"})
    answer, _ = answered(context, "photos from 2011", tmp_path, quiet, quiet)
    assert answer.uids == tuple(nikon)
    assert answer.not_understood[0].startswith("from 2011 (the question's own words; broken by")
