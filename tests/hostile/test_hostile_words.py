"""A model that repeats an attack wherever it may write: thoughts, plans, conditions, summaries, the
post-mortem. None of it becomes a control token, a line of the prompt, or a record that steers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attack_texts import ATTACKS, HARMLESS, attack
from obedient import Obedient, rendered
from qwen_tokens import control_tokens
from twins import Twin, ask_model

from photocraft_local.memory.markdown import from_markdown, to_markdown
from photocraft_local.memory.skills import Skill
from photocraft_local.memory.skills.skill import is_closed
from photocraft_local.memory.store import MemoryStore
from photocraft_local.records import ToolCall
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema
from photocraft_local.serving.tool_calls import Form

pytest.importorskip("tokenizers", reason="tokens need the cpu or gpu extra")
LONGEST = 90  # characters, within the limits of every argument
TOLD = list(ATTACKS)[::2]  # as many as the time allows; each takes some 20 turns


def lines(said: str) -> list[ToolCall | None]:
    """What it does, one a turn; None is a reply without a call."""
    step = {"goal": said, "expect": "many"}
    claim = {"constraint": said, "where": "year == 1066"}
    return [
        ToolCall("plan", {"context": said, "steps": [step], "target": said}),
        ToolCall("filter_photos", {"where": "year == 2021", "save_as": "all"}),
        ToolCall("search_photos", {"text": f"red {said}", "within": "all"}),
        ToolCall("recall", {"text": said}),
        ToolCall("lookup", {"query": said, "source": said}),
        ToolCall("filter_photos", {"where": said}),
        ToolCall("plan", {"mark": {"step": 1, "status": "ruled out", "why": said}}),
        ToolCall("submit_answer", {"set": "all", "evidence": [claim]}),
        ToolCall("compress_context", {"reason": said}),
        ToolCall(said or "x", {said: said}),
        *[None] * 7,  # the attempt ends here; another one begins with what it left
        ToolCall("filter_photos", {"where": "year == 2021 and month == 6", "save_as": "june"}),
        ToolCall("submit_answer", {"photos": [], "evidence": [], "reason": said}),
    ]


class Quoting:
    name = "quoting"

    def __init__(self, said: str) -> None:
        self._said = said
        self._lines = iter(lines(said))
        self.tokens: list[list[str]] = []
        self.reader = Obedient(Form.JSON)

    def load(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> None:
        return None

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        for form in Form:  # without the tools, which are the package's own words
            self.tokens.append(control_tokens(rendered(messages, (), form)))
        self.reader.read(messages, ())
        if tools[0]["name"].startswith("write_"):
            told = dict.fromkeys(tools[0]["parameters"]["properties"], self._said)
            return Reply(text=self._said, call=ToolCall(tools[0]["name"], told))
        return Reply(text=self._said, call=next(self._lines))


def quoted(twin: Twin, said: str) -> tuple[Quoting, Any]:
    model = Quoting(said)
    return model, ask_model(twin, model, "photos from 2021").trace


def test_nothing_that_a_model_repeats_becomes_a_mark(clean: Twin) -> None:
    harmless, usual = quoted(clean, HARMLESS)
    assert len(usual.attempts) == 1
    assert usual.compactions or usual.attempts[0].compactions
    assert len({step.call.name for step in usual.all_steps}) >= 7
    for name in TOLD:
        said = attack(name, clean.target).encode("utf-8", "replace").decode()[:LONGEST]
        model, trace = quoted(clean, said)
        assert model.tokens == harmless.tokens, name
        assert model.reader.obeyed == "", name
        assert [step.call.name for step in trace.all_steps] == [
            step.call.name for step in usual.all_steps
        ]
    records = [one for one in MemoryStore(clean.settings.library).list() if one.reason]
    assert len(records) == len(TOLD) + 1
    for record in records:
        assert from_markdown(to_markdown(record), "x") == record
    with clean.open() as search:
        skills = [one for one in search.memory.list("skills") if isinstance(one, Skill)]
    assert all(is_closed(one) for one in skills if one.origin == "learned")
