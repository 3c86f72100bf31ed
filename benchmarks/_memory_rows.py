"""Episodes of a controller under one choice of settings, and what they came to.

The true loop, tools, memory and skill store, in folders that go again. Tokens are bytes of JSON
by four, the tools' schemas included: a stated count, not an engine's.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from _made_life import TODAY, Eyes, Shot, World
from _made_questions import Question

from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.agent.pooling import pooled
from photocraft_local.agent.run_conditions import Ran
from photocraft_local.app.runs import RunMemory
from photocraft_local.errors import PromptTooLong
from photocraft_local.memory.memory import Memory
from photocraft_local.memory.skills import skill, store
from photocraft_local.memory.text import prompt_json
from photocraft_local.records import Answer, Step, Usage
from photocraft_local.serving.chat_model import ChatModel, Load, Message, Reply, ToolSchema
from photocraft_local.settings import Settings
from photocraft_local.tools.around import Around
from photocraft_local.tools.combine_sets import CombineSets
from photocraft_local.tools.context import ToolContext
from photocraft_local.tools.filter_photos import FilterPhotos
from photocraft_local.tools.ports import Tool
from photocraft_local.tools.recall import Recall
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.search_photos import SearchPhotos
from photocraft_local.tools.submit_answer import SubmitAnswer

WINDOW = 12_288  # tokens; the tools' schemas take 4,650 of them
CARD = "photos of a made life, 2019 to 2023, all with time and position"
_REPLY = 256  # tokens that a call may take
TOOLS: Sequence[type[Tool]] = (
    Around,
    CombineSets,
    FilterPhotos,
    Recall,
    SearchPhotos,
    SubmitAnswer,
)


class Windowed:
    """A backbone with a window, 0 for none, and a count of what of its prompts no cache has."""

    def __init__(self, model: ChatModel, window: int, warm: Sequence[str] = ()) -> None:
        """``warm``: the messages of a prompt that the cache has already."""
        self._model, self._window = model, window
        self._last = list(warm)
        self.first: Sequence[str] = ()  # the messages of the first prompt
        self.prefill = 0

    @property
    def name(self) -> str:
        return self._model.name

    def load(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Load | None:
        if not self._window:
            return None
        sizes = _size(json.dumps(tools)) + sum(map(_size, map(json.dumps, messages)))
        return Load(sizes, self._window, _REPLY)

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> Reply:
        told = [json.dumps(message) for message in messages]
        total = sum(map(_size, told))
        if self._window and total > self._window:
            raise PromptTooLong(f"{total} tokens leave no room in {self._window}")
        self.first = self.first or told
        same = 0
        while same < min(len(told), len(self._last)) and told[same] == self._last[same]:
            same += 1
        new = sum(map(_size, told[same:]))
        self.prefill += new
        reply = self._model.complete(messages, tools)
        said = "" if reply.call is None else prompt_json(reply.call.arguments)
        spent = Usage(total, total - new, _size(reply.text + said))
        self._last = told
        return replace(reply, usage=spent)


class _Clock(datetime):
    """Each look at it is a minute later."""

    looks = itertools.count()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime(2024, 3, 15, tzinfo=tz) + timedelta(minutes=next(cls.looks))


@contextmanager
def steady() -> Iterator[None]:
    """Ids and times are counted, not drawn or read, so that a run can be made again: memory breaks
    ties by them."""
    _Clock.looks, drawn = itertools.count(), itertools.count()
    ids = SimpleNamespace(token_hex=lambda size: f"{next(drawn):0{2 * size}x}")
    with ExitStack() as stack:
        for module in (trajectory, skill):
            stack.enter_context(patch.object(module, "secrets", ids))
        for module in (trajectory, store):
            stack.enter_context(patch.object(module, "datetime", _Clock))
        yield


def _size(text: str) -> int:
    return len(text.encode()) // 4


@dataclass(frozen=True)
class Outcome:
    """Of one question. ``drift``: turns that went against what was established in the episode."""

    question: Question
    answer: frozenset[str]
    turns: int
    prefill: int
    drift: int
    compactions: int
    text: str = ""

    @property
    def em(self) -> float:
        return float(self.answer == self.question.gold)

    @property
    def f1(self) -> float:
        both = len(self.answer) + len(self.question.gold)
        return 2 * len(self.answer & self.question.gold) / both if both else 1.0


@dataclass(frozen=True)
class Row:
    """``settings`` are those of the product that make the row what it is; ``judged``: closer eyes
    look at the photos of an answer; ``runs`` of one question."""

    name: str
    settings: dict[str, Any]
    judged: bool = False
    runs: int = 1
    window: int = WINDOW


class Stream:
    """Questions asked one after the other, with one memory for all of them."""

    def __init__(
        self,
        world: World,
        row: Row,
        folder: Path,
        make_model: Callable[[int], ChatModel],
        *,
        max_turns: int = 30,
        memory: Memory | None = None,
        tools: Sequence[type[Tool]] = TOOLS,
    ) -> None:
        self.world, self.row, self._tools = world, row, tools
        self._make_model = make_model
        alone = Settings(
            library=folder / "library",
            cache=folder / "cache",
            memory_folder=folder / "memory",
            memory=False,
            skill_seeds=False,
            max_turns=max_turns,
        )
        self.settings = replace(alone, **row.settings)
        self.memory = memory or Memory.open(self.settings)
        self._warm: Sequence[str] = ()

    def ask(self, questions: Iterable[Question]) -> list[Outcome]:
        return [self.asked(question) for question in questions]

    def asked(self, question: Question) -> Outcome:
        runs = [self._ran(question.text, number) for number in range(self.row.runs)]
        answer = runs[0].answer if len(runs) == 1 else self._pooled(question.text, runs)
        life = self.world.life.values()
        return Outcome(
            question=question,
            answer=frozenset(answer.uids),
            turns=sum(len(run.trace.all_steps) for run in runs),
            prefill=sum(run.prefill for run in runs),
            drift=sum(_drift(run.trace.all_steps, question, life) for run in runs),
            compactions=sum(len(run.trace.compactions) for run in runs),
            text=answer.text,
        )

    def _ran(self, text: str, number: int) -> _Run:
        """One run. Of several, none has the memory of the others."""
        model = Windowed(self._make_model(number), self.row.window, self._warm)
        memory = self.memory if self.row.runs == 1 else RunMemory.of(self.memory)
        judge = Eyes(self.world.life) if self.row.judged else None
        context = self.world.context(self.settings, memory, judge)
        agent = Agent(
            model,
            Registry([tool() for tool in self._tools], context),
            memory,
            self.settings,
            today=TODAY,
            library_card=CARD,
            generation=1,
        )
        answer = agent.ask(text)
        assert agent.last_trace is not None
        self._warm = model.first
        return _Run(answer, trajectory.load(agent.last_trace), context, memory, model.prefill)

    def _pooled(self, text: str, runs: Sequence[_Run]) -> Answer:
        """As ``ask --runs`` does it; remembered is a run that found just the answer."""
        told = [Ran(run.answer, run.trace.steps, run.context) for run in runs]
        answer = pooled(told, text).answer
        for run in runs:
            memory = run.memory
            if isinstance(memory, RunMemory) and set(run.answer.uids) == set(answer.uids):
                assert memory.episode is not None
                self.memory.finish(memory.episode, answer, memory.steps)
                break
        return answer


@dataclass(frozen=True)
class _Run:
    answer: Answer
    trace: trajectory.Trajectory
    context: ToolContext
    memory: Memory
    prefill: int


def _drift(steps: Sequence[Step], question: Question, life: Iterable[Shot]) -> int:
    """Calls that were made before in this episode and brought the same, and photos that were
    handed in though they break a condition of the question."""
    made: set[str] = set()
    against = 0
    for step in steps:
        call = prompt_json([step.call.name, step.call.arguments])
        against += call in made
        made.add(call)
        if step.call.name == "submit_answer":
            given = set(step.observation.data.get("photos", ()))
            against += bool(given - question.gold)
    return against


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Means over questions; EM, F1 in %, drift a turn."""
    turns = sum(one.turns for one in outcomes)
    return {
        "em": round(100 * fmean(one.em for one in outcomes), 1),
        "f1": round(100 * fmean(one.f1 for one in outcomes), 1),
        "turns": round(fmean(one.turns for one in outcomes), 2),
        "prefill_tokens": round(fmean(one.prefill for one in outcomes)),
        "drift": round(sum(one.drift for one in outcomes) / turns, 3),
    }
