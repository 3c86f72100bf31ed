"""The planner as a backbone: reads the messages like any other, and replies with tool calls.

Everything it knows stands in the messages: the question, today, the person's own plan and the
question's pictures in the question block, what came back in tool messages. So a trajectory of
it resumes and replays like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from photocraft_local.agent.planner.execute import Move, Result, moves, nothing
from photocraft_local.agent.planner.mentions import Places
from photocraft_local.agent.planner.plan import Plan
from photocraft_local.agent.planner.script import Reader, from_text
from photocraft_local.agent.planner.understand import understand
from photocraft_local.errors import ModelError
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema

_TODAY = re.compile(r"^Today is (\d{4}-\d{2}-\d{2})\.$", re.MULTILINE)
_QUESTION = re.compile(r"^The question, as JSON text: (\".*\")$", re.MULTILINE)
_PICTURES = re.compile(r"^The question's pictures, as JSON ids: (\[.*\])$", re.MULTILINE)
_PLAN = re.compile(r"^The person's plan, as JSON text: (\".*\")$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """The question block. ``plan`` is the text of the person's own plan; empty if there is none,
    and the question is understood."""

    question: str
    today: date
    pictures: tuple[str, ...] = ()
    plan: str = ""


class Planner:
    """A ChatModel by rules. ``places`` finds place names in a question."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._planned = lru_cache(maxsize=8)(self._fresh_plan)

    @property
    def name(self) -> str:
        return "planner"

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        """The next call. Raises QuestionNotUnderstood, TimeWordsError or, for a plan that cannot
        be read, UsageError in the first turn."""
        plan = self._planned(asked(messages))
        move = _next_move(plan, list(_results(messages)))
        if move.call.name not in {tool["name"] for tool in tools}:
            move = nothing(plan, "the turns ran out before the set was complete")
        return Reply(text=move.thought, call=move.call)

    def _fresh_plan(self, asked: Asked) -> Plan:
        if asked.plan:
            return from_text(asked.plan, Reader(asked.today, self._places, asked.pictures))
        return understand(
            asked.question, today=asked.today, places=self._places, pictures=asked.pictures
        )


def asked(messages: Sequence[Message]) -> Asked:
    """From the question block: the first message that holds question and today."""
    for message in messages:
        content = message["content"]
        if message["role"] != "user" or not isinstance(content, str):
            continue
        today, question = _TODAY.search(content), _QUESTION.search(content)
        if today and question:
            pictures, plan = _PICTURES.search(content), _PLAN.search(content)
            return Asked(
                question=json.loads(question[1]),
                today=date.fromisoformat(today[1]),
                pictures=tuple(json.loads(pictures[1])) if pictures else (),
                plan=json.loads(plan[1]) if plan else "",
            )
    raise ModelError(
        "the planner found no question block in the messages",
        hint="it needs the lines of agent/prompts/question.md",
    )


def _results(messages: Sequence[Message]) -> Iterator[Result]:
    for message in messages:
        if message["role"] == "tool":
            content = json.loads(message["content"])
            yield Result(content.get("result", {}), content.get("error", ""))


def _next_move(plan: Plan, results: Sequence[Result]) -> Move:
    going = moves(plan)
    move = next(going)
    for result in results:
        try:
            move = going.send(result)
        except StopIteration:
            return nothing(plan, result.error or "the plan is at its end")
    return move
