"""The planner as a backbone: reads the messages like any other, and replies with tool calls.

Everything it knows stands in the messages: the question, today, the person's own plan and the
question's pictures in the question block, what came back in tool messages. So a trajectory of
it resumes and replays like any other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any

from photocraft_local.agent.pictures import Picture, with_facts_of
from photocraft_local.agent.planner.draft import Unused
from photocraft_local.agent.planner.execute import Move, Result, moves, nothing
from photocraft_local.agent.planner.execute.values import value_of
from photocraft_local.agent.planner.execute.wording import in_words
from photocraft_local.agent.planner.intent import intent_of
from photocraft_local.agent.planner.mentions import Places
from photocraft_local.agent.planner.pictured import with_facts
from photocraft_local.agent.planner.plan import Plan
from photocraft_local.agent.planner.script import Reader, from_text
from photocraft_local.agent.planner.understand import understand
from photocraft_local.errors import ModelError, PhotocraftError
from photocraft_local.memory.text import shortened
from photocraft_local.records import Answer, Intent, Step
from photocraft_local.serving.chat_model import Message, Reply, ToolSchema
from photocraft_local.timelang import USUAL, Habits

_TODAY = re.compile(r"^Today is (\d{4}-\d{2}-\d{2})\.$", re.MULTILINE)
_HABITS = re.compile(
    r"^Weeks begin on (\w+day), and seasons are those of the (north|south)\.$", re.MULTILINE
)
_QUESTION = re.compile(r"^The question, as JSON text: (\".*\")$", re.MULTILINE)
_PICTURES = re.compile(r"^The question's pictures, as JSON ids: (\[.*\])$", re.MULTILINE)
_FACTS = re.compile(r"^What these pictures say of themselves, as JSON: (\{.*\})$", re.MULTILINE)
_LONGEST_SAID = 200  # characters of a plan that could not be carried out to its end
_PLAN = re.compile(r"^The person's plan, as JSON text: (\".*\")$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """The question block. ``plan`` is the text of the person's own plan; empty if there is none,
    and the question is understood."""

    question: str
    today: date
    pictures: tuple[Picture, ...] = ()  # what they say of themselves; without their files
    plan: str = ""
    habits: Habits = USUAL

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(picture.id for picture in self.pictures)


class Planner:
    """A ChatModel by rules. ``places`` finds place names in a question, ``cameras`` gives the
    names of the library's cameras."""

    def __init__(self, places: Places, cameras: Callable[[], Sequence[str]] = tuple) -> None:
        self._places = places
        self._cameras = cameras
        self._planned = lru_cache(maxsize=8)(self._fresh_plan)

    @property
    def name(self) -> str:
        return "planner"

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        """The next call. Raises QuestionNotUnderstood, TimeWordsError or, for a plan that cannot
        be read, UsageError in the first turn."""
        given = asked(messages)
        plan = self.told(given)
        results = list(_results(messages))
        move = _next_move(plan, results)
        if move.call.name not in {tool["name"] for tool in tools}:
            move = _cut(plan, len(results))
        return Reply(text=move.thought, call=move.call)

    def intent(self, messages: Sequence[Message]) -> Intent | None:
        """For the record; what ``complete`` would raise is left to it."""
        with suppress(PhotocraftError):
            return intent_of(self.told(asked(messages)))
        return None

    def plan(self, given: Asked) -> Plan:
        """The person's own plan, else what the question is understood as. Raises as
        ``complete``."""
        return self._planned(given)

    def told(self, given: Asked) -> Plan:
        """The same with what the question's pictures say of themselves: what is carried out."""
        return with_facts(self.plan(given), {one.id: one for one in given.pictures})

    def value(self, given: Asked, answer: Answer, steps: Sequence[Step]) -> str:
        """The bare answer beside the sentence; empty where photos alone are asked for, or the
        question was not understood."""
        with suppress(PhotocraftError):
            return value_of(self.told(given), answer, steps)
        return ""

    def reader(self, given: Asked) -> Reader:
        """What reads the lines of a plan as it reads the question."""
        return Reader(given.today, self._places, given.ids, given.habits, tuple(self._cameras()))

    def _fresh_plan(self, given: Asked) -> Plan:
        if given.plan:
            return from_text(given.plan, self.reader(given))
        return understand(
            given.question,
            today=given.today,
            places=self._places,
            pictures=given.ids,
            habits=given.habits,
            cameras=self._cameras(),
        )


def _cut(plan: Plan, num_steps: int) -> Move:
    """The last turn is there and the set is not complete: nothing is known of it, and it is told
    which words had no effect."""
    reason = f"it takes more than {num_steps} steps; ask for fewer things at once"
    all_of_it = shortened(in_words(plan.wanted), _LONGEST_SAID)
    return nothing(replace(plan, blocked=(*plan.blocked, Unused(all_of_it, reason))), reason)


def asked(messages: Sequence[Message]) -> Asked:
    """From the question block: the first message that holds question and today."""
    for message in messages:
        content = _text(message["content"])
        if message["role"] != "user":
            continue
        today, question = _TODAY.search(content), _QUESTION.search(content)
        if today and question:
            plan = _PLAN.search(content)
            return Asked(
                question=json.loads(question[1]),
                today=date.fromisoformat(today[1]),
                pictures=_pictures(content),
                plan=json.loads(plan[1]) if plan else "",
                habits=_habits(content),
            )
    raise ModelError(
        "the planner found no question block in the messages",
        hint="it needs the lines of agent/prompts/question.md",
    )


def _text(content: Any) -> str:
    """Of a message; what stands beside pictures, too."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if part["type"] == "text")


def _habits(content: str) -> Habits:
    found = _HABITS.search(content)
    return Habits.named(found[2], found[1].lower()) if found else USUAL


def _pictures(content: str) -> tuple[Picture, ...]:
    ids, facts = _PICTURES.search(content), _FACTS.search(content)
    known = json.loads(facts[1]) if facts else {}
    return tuple(
        with_facts_of(Picture(name, b""), known.get(name, {}))
        for name in (json.loads(ids[1]) if ids else ())
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
