"""Exports hold the very prompts that the backbone read; redaction of whatever stands in a trace."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from importlib.resources import files
from itertools import pairwise
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_lines import saved
from test_plain_mode import WRITES
from wide_tools import Windowed, looks, wide_registry

from photocraft_local.agent import trajectory
from photocraft_local.agent.export.formats import rows, tool_schemas
from photocraft_local.agent.export.prompts import segments
from photocraft_local.agent.export.redaction import Redaction, safe_words
from photocraft_local.agent.loop import MAX_REFUSED, MAX_REFUSED_AT_END, Agent
from photocraft_local.memory.memory import Memory
from photocraft_local.memory.text import prompt_json
from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema
from photocraft_local.serving.scripted import Line, ScriptedModel
from photocraft_local.settings import Settings
from photocraft_local.tools.registry import Registry

TODAY = date(2026, 11, 30)


@pytest.fixture
def played(
    new_registry: Callable[[], Registry], memory: Memory, settings: Settings
) -> tuple[ScriptedModel, trajectory.Trajectory]:
    """An episode of nine turns with two compactions in it."""
    calls = [ToolCall("find", {"text": f"dog {number}"}) for number in range(6)]
    for at in (2, 5):
        calls.insert(at, ToolCall("compress_context", {"reason": f"after {at}"}))
    model = ScriptedModel([*calls, ToolCall("submit_answer", {"photos": ["aaaaa"]})])
    agent = Agent(model, new_registry(), memory, settings, library_card="two photos")
    agent.ask("where is the dog?")
    assert agent.last_trace
    return model, trajectory.load(agent.last_trace)


def test_the_prompts_are_those_that_the_model_read(
    played: tuple[ScriptedModel, trajectory.Trajectory],
) -> None:
    model, record = played
    jsonschema.validate(json.loads(json.dumps(record.to_json())), trajectory.json_schema())
    assert len(record.compactions) == 2
    found = list(segments(record))
    assert sum(segment.num_new for segment in found) == len(model.seen) == len(record.steps)
    turn = 0
    for segment in found:
        replies = [n for n, one in enumerate(segment.messages) if one["role"] == "assistant"]
        for at in replies[len(replies) - segment.num_new :]:
            assert list(segment.messages[:at]) == list(model.seen[turn])
            turn += 1


def test_each_reply_is_trained_on_once(
    played: tuple[ScriptedModel, trajectory.Trajectory],
) -> None:
    _, record = played
    for form in ("chatml", "sharegpt"):
        made = list(rows(record, form, str))
        sides = [side for row in made for side in row.get("messages") or row["conversations"]]
        trained = [one.get("content") or one["value"] for one in sides if one["train"]]
        texts = [json.loads(text)["call"]["arguments"] for text in trained]
        assert texts == [step.call.arguments for step in record.steps]


class Fair(Windowed):
    """Keeps every prompt with its reply, as a trainer would have to see them."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.turns: list[tuple[list[Message], Reply]] = []

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        reply = super().complete(messages, tools)
        self.turns.append((list(messages), reply))
        return reply


@pytest.mark.parametrize("summary", ["code", "model"])
def test_an_export_holds_each_usable_reply_once_behind_the_very_prompt_it_came_to(
    memory: Memory, settings: Settings, summary: str
) -> None:
    """Compactions with their requests, corrections, a forced last turn, an attempt that failed and
    its post-mortem."""
    bad: list[Line] = ["words"] * (MAX_REFUSED + MAX_REFUSED_AT_END)
    calls = looks(*[{"rows": 150}] * 24)
    lines: list[Line] = [*calls[:12], *bad, calls[12], "words", "more words", *calls[13:]]
    model = Fair(lines, 9000, [WRITES[summary]])
    words = {"failed": "the lake", "useful": "dates", "next": "go by event"}
    model.post_mortem = Reply("So.", ToolCall("write_post_mortem", words))
    limited = replace(settings, max_turns=24, summary=summary)
    agent = Agent(model, wide_registry(memory), memory, limited, library_card="9")
    assert agent.ask("q").uids == ("aaaaa",)
    record = saved(agent)
    assert (len(record.attempts), record.limit) == (1, "turns")
    assert all(attempt.compactions for attempt in (*record.attempts, record))
    found: list[tuple[list[Message], str, str]] = []
    for segment in segments(record):
        for at in sorted(segment.new):
            said = segment.messages[at]
            function = said["tool_calls"][0]["function"]
            found.append((list(segment.messages[:at]), said["content"], function["name"]))
    wanted = [(prompt, reply.text, reply.call.name) for prompt, reply in model.turns if reply.call]
    key = json.dumps
    assert sorted(map(key, found)) == sorted(map(key, wanted))
    names = Counter(name for _, _, name in found)
    assert names["write_post_mortem"] == 1
    assert names["write_summary" if summary == "code" else "write_memory"] >= 2
    for form in ("chatml", "sharegpt"):
        made = list(rows(record, form, str))
        sides = [side for row in made for side in row.get("messages") or row["conversations"]]
        assert sum(side["train"] for side in sides) == len(wanted)
        told = json.dumps(made)
        for once in ("That reply held no tool call", "This is the last turn", "write_post_mortem"):
            assert once in told
        for row in made:
            if form == "sharegpt":
                turns = [side["from"] for side in row["conversations"]]
                assert all(a == "gpt" or b == "gpt" for a, b in pairwise(turns))
            else:
                ends = [one for one in row["messages"] if "last turn (" in str(one["content"])]
                assert all(one["kind"] == "prompt" for one in ends)


def test_the_tools_are_told_as_the_registry_tells_them() -> None:
    from photocraft_local.tools.standard import standard_tools

    registry = Registry(standard_tools(), context=None)  # type: ignore[arg-type]
    assert tool_schemas() == registry.schemas()


HOSTILE = (
    "/mnt/anna/Pictures/IMG 2041.jpg",
    "C:\\Users\\Anna\\a.jpg",
    "~/Zurich/p7k3mq.jpg",
    "anna@example.org, +44 20 7946 0018",
    "38.7139,-9.1394",
    'near("38.7, -9.1", 5)',
    "at 38.713912",
    "Anna and Rose at Rose Cottage",
    "sunset of 2021-06-14T10:31:00",
    "on 14 June 2021",
    "\ue000Anna\ue001",
    "李雷在里斯本",
    "Ἀθῆναι Москва",
    "p7k3mq.c12 p7k3mq",
)
SECRETS = (
    *("anna", "rose", "cottage", "zurich", "example", "img", "38.7", "-9.1", "2021", "14 june"),
    *("10-31", "李雷", "里斯本", "москва", "ἀθῆναι", "p7k3mq", "users", "pictures", "06-14"),
)


@given(st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4), st.text(max_size=5))
def test_no_name_survives_wherever_it_stands(texts: list[str], between: str) -> None:
    redaction = Redaction(["Rose", "Cottage"], weeks=260)
    words = f" {between} ".join(texts)
    told = redaction.text(f"photos of {words}").casefold()
    found = [secret for secret in SECRETS if secret in told]
    assert not [secret for secret in found if secret not in between.casefold()]


def test_every_place_of_a_trace_is_reached() -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {"Quimby": "Quimby"} | {key: filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [*map(filled, value), "Quimby"]
        return "Quimby" if isinstance(value, str) else value

    from test_trajectory import full

    data = json.loads(json.dumps(full().to_json()))
    kept = {key: data[key] for key in ("schema", "today", "status", "package_version", "pictures")}
    told = Redaction().trace({**filled(data), **kept})
    assert "quimby" not in json.dumps(told).casefold()


def test_the_words_that_stay_name_no_one() -> None:
    words = safe_words()
    assert {"photos", "dog", "filter_photos", "beach", "from"} <= words
    assert not words & {"anna", "peter", "lisbon", "paris", "italy", "london", "portugal", "maria"}


def test_our_own_words_stay_so_that_a_row_reads_as_its_prompt_did() -> None:
    prompts = files("photocraft_local.agent.prompts")
    texts = [one.read_text("utf-8") for one in prompts.iterdir() if one.name.endswith(".md")]
    left = {"refused_replies": {"no call": 7}, "in_its_words": {"useful": "2 -> 3 photos"}}
    texts.append(f"An earlier attempt left, as JSON: {prompt_json(left)}")
    redaction = Redaction(weeks=208)
    for text in texts:
        told = re.sub(r"{{ *(\w+) *}}|\b[pq][0-9a-z]*\.?c1\b", "", text)
        redaction.trace(trajectory.Trajectory(question=told, today=TODAY, backbone="t").to_json())
        assert redaction.text(told) == told


@pytest.mark.parametrize("suffix", ["", "-1", "-12"])
def test_no_episode_is_named_by_its_time(suffix: str) -> None:
    one, other = "20261130-190757-5f4ebd", "20261201-080000-0a1b2c"
    record = trajectory.Trajectory(question="q", today=TODAY, backbone="t", episode_id=one + suffix)
    record.runs, record.notes = [f"{one}-1", f"{other}-1"], [f"as in {other}, with {one}."]
    record.hints = [{"text": "x", "episodes": [one, other]}]
    told = Redaction().trace(record.to_json())
    assert told["episode_id"] == f"redacted-000001{suffix}"
    assert told["runs"] == ["redacted-000001-1", "redacted-000002-1"]
    assert told["notes"] == ["as in redacted-000002, with redacted-000001."]
    assert told["hints"][0]["episodes"] == ["redacted-000001", "redacted-000002"]
    assert "2026" not in json.dumps(told)


def test_times_keep_their_distances_and_weekdays() -> None:
    redaction = Redaction(weeks=208)
    told = redaction.text("from 2021-06-14T10:31:00 to 2021-06-21 10:31, month 2021-06")
    assert told == "from 2025-06-09T10:31:00 to 2025-06-16 10:31, month 2025-05"
    told = redaction.text("in October 2008, after 22 October 2008")
    assert told == "26 September 2012 to 26 October 2012, from 18 October 2012 on"
