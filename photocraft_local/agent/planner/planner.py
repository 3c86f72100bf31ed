"""The planner as a backbone: reads the messages like any other, and replies with tool calls.

Everything it knows stands in the messages: the question and today in the question block, what
came back in tool messages. So a trajectory of it resumes and replays like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache

from photocraft_local.agent.planner.mentions import Places
from photocraft_local.agent.planner.moves import Move, Result, moves, nothing
from photocraft_local.agent.planner.reading import Reading, read
from photocraft_local.errors import ModelError
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema

_TODAY = re.compile(r"^Today is (\d{4}-\d{2}-\d{2})\.$", re.MULTILINE)
_QUESTION = re.compile(r"^The question, as JSON text: (\".*\")$", re.MULTILINE)


class Planner:
    """A ChatModel by rules. ``places`` finds place names in a question."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._read = lru_cache(maxsize=8)(self._fresh_reading)

    @property
    def name(self) -> str:
        return "planner"

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        """The next call. Raises QuestionNotUnderstood or TimeWordsError in the first turn."""
        question, today = _asked(messages)
        reading = self._read(question, today)
        move = _next_move(reading, list(_results(messages)))
        if move.call.name not in {tool["name"] for tool in tools}:
            move = nothing(reading, "the turns ran out before the set was complete")
        return Reply(text=move.thought, call=move.call)

    def _fresh_reading(self, question: str, today: date) -> Reading:
        return read(question, today=today, places=self._places)


def _asked(messages: Sequence[Message]) -> tuple[str, date]:
    """Question and today, from the question block: the first message that holds both."""
    for message in messages:
        content = message["content"]
        if message["role"] != "user" or not isinstance(content, str):
            continue
        today, question = _TODAY.search(content), _QUESTION.search(content)
        if today and question:
            return json.loads(question[1]), date.fromisoformat(today[1])
    raise ModelError(
        "the planner found no question block in the messages",
        hint="it needs the lines of agent/prompts/question.md",
    )


def _results(messages: Sequence[Message]) -> Iterator[Result]:
    for message in messages:
        if message["role"] == "tool":
            content = json.loads(message["content"])
            yield Result(content.get("result", {}), content.get("error", ""))


def _next_move(reading: Reading, results: Sequence[Result]) -> Move:
    plan = moves(reading)
    move = next(plan)
    for result in results:
        try:
            move = plan.send(result)
        except StopIteration:
            return nothing(reading, result.error or "the plan is at its end")
    return move
