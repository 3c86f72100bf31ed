"""Answers the questions of a data set with this package: one thread's library, backbone and memory.

Each question meets an empty episodic memory and skills of other users only, both frozen; what it
teaches is kept apart. Knows no layout of a data set and no metric.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.agent.loop import Agent
from photocraft_local.app.albums import Shelf
from photocraft_local.app.at_once import Turns, Yielding
from photocraft_local.app.backbones import Backbone, chosen
from photocraft_local.app.episodes import (
    Listeners,
    episode_context,
    eyes_of,
    library_card,
    nothing,
)
from photocraft_local.app.evaluation_replies import (
    OF_THE_QUESTION,
    Told,
    of_episode,
    of_runs,
    refused,
)
from photocraft_local.app.evaluation_skills import Skills
from photocraft_local.app.filters import Filters
from photocraft_local.app.parts import Parts
from photocraft_local.app.results import AskedPlan
from photocraft_local.app.searching import Look, search
from photocraft_local.errors import EvaluationError, PhotocraftError, ServerLost
from photocraft_local.evaluation.disbench.failure_classes import (
    Course,
    course_ids,
    failure_class,
    is_whole,
)
from photocraft_local.evaluation.disbench.presets import Preset
from photocraft_local.evaluation.questions import EvalQuestion, Reply
from photocraft_local.evaluation.several import voted
from photocraft_local.records import Step
from photocraft_local.settings import Settings
from photocraft_local.storage.faults import mapped
from photocraft_local.tools.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from photocraft_local.agent.planner.planner import Asked
    from photocraft_local.agent.trajectory import Trajectory
    from photocraft_local.embeddings.encoder import Encoder
    from photocraft_local.serving.chat_model import ChatModel
    from photocraft_local.serving.qwen.brain import Brain
    from photocraft_local.tools.context import ToolContext

# What a model is told beside a question whose answer in words is scored; rules have a bare value.
_BARE = "As text give the bare answer alone: a number, a date as YYYY-MM-DD, a name; no sentence."
_MOST_GUESSED = 10  # of a set on the way, where a guess is wanted


@dataclass(frozen=True, slots=True)
class How:
    """``guesses``: an empty answer gives way to the best that was found. ``skills``: the folder of
    an earlier run whose skills are given, those of the asked user left out; ``learns``: where this
    run's go. ``top_k``: of ``embedding-only``; 0: every match."""

    preset: Preset
    guesses: bool
    skills: Path | None = None
    learns: Path | None = None
    top_k: int = 0


class SharedBackbone:
    """One that several threads ask; whoever made it closes it."""

    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    def brain(self, progress: object) -> Brain:
        del progress
        return self._brain

    def close(self) -> None:
        pass


@dataclass(slots=True)
class LibraryAnswerer:
    """``model`` takes the backbone's place, e.g. a scripted one, ``encoder`` that of the settings;
    ``turns`` are shared by threads that ask one model."""

    shelves: Mapping[str, Shelf]
    settings: Settings
    how: How
    backbone: Backbone | None = None
    turns: Turns | None = None
    model: ChatModel | None = None
    encoder: Encoder | None = None
    _open: Parts | None = field(default=None, init=False)
    _skills: Skills = field(init=False)

    def __post_init__(self) -> None:
        self._skills = Skills(self.how.skills, self.how.learns)

    def answer(self, question: EvalQuestion, trace: Path) -> Reply:
        with self.turns.taken() if self.turns else nullcontext():
            began = time.monotonic()
            reply = self._answered(question, trace)
            seconds = reply.seconds or round(time.monotonic() - began, 3)
            return replace(reply, seconds=seconds)

    def close(self) -> None:
        self._skills.close()
        if self._open is not None:
            self._open.close()

    @property
    def by_rules(self) -> bool:
        """A model given by code counts as rules: it is asked once."""
        return self.model is not None or chosen(self.settings) == "planner"

    # --- one question

    def _answered(self, question: EvalQuestion, trace: Path) -> Reply:
        parts = self._parts(question.library)
        shelf = self.shelves[question.library]
        if self.how.preset.name == "embedding-only":
            return self._by_embedding(parts, shelf, question)
        given = self._asked(parts, shelf, question)
        several = parts.settings.runs > 1 and not self.by_rules
        if several and self.how.preset.keeps_memory:
            reply, steps, course = self._in_runs(parts, shelf, given, trace)
        elif several:
            reply, steps, course = self._by_majority(parts, shelf, given, trace)
        else:
            reply, steps, course = self._episode(parts, shelf, given, trace)
        if self.how.guesses and not reply.predicted and (reply.reason or not reply.text):
            guess, why = self._guess(parts, shelf, question, steps)
            reply = replace(reply, predicted=guess, reason=f"{reply.reason} [{why}]".strip())
            course = replace(course, listed=course.listed | set(guess))  # code's choice
        listed, looked_at = course_ids(steps)
        course = replace(
            course,
            listed=shelf.named(listed) | course.listed,
            looked_at=shelf.named(looked_at),
            days=shelf.album.days,
        )
        why = failure_class(question, reply.predicted, course) if question.has_gold else ""
        return replace(reply, failure_class=why)

    def _episode(self, parts: Parts, shelf: Shelf, given: Asked, trace: Path, run: int = 1) -> Told:
        agent, context = self._agent(parts, shelf.album.name, given, run)
        problem: PhotocraftError | None = None
        try:
            agent.ask(given.question)
        except OF_THE_QUESTION as error:
            if isinstance(error, ServerLost):
                raise
            problem = error
        finally:  # whatever ends it, the library keeps nothing of it
            has_trace = _moved(agent.last_trace, trace)
        record = agent.record
        if record is None:
            raise EvaluationError("the episode left no record") from problem
        reply, steps, course = of_episode(shelf, record, problem, has_trace=has_trace)
        reply = replace(reply, value=self._value(parts, given, record))
        sets = list(context.sets)
        kept = shelf.named({uid for one in sets for uid in one.uids})
        whole = is_whole(steps, [one.name for one in sets])
        return reply, steps, replace(course, listed=frozenset(kept), is_whole=whole)

    def _value(self, parts: Parts, given: Asked, record: Trajectory) -> str:
        """Of the planner: the bare answer. What a model says is scored as it stands."""
        if self.model is not None or chosen(self.settings) != "planner" or record.answer is None:
            return ""
        from photocraft_local.agent.planner import Planner

        return Planner(parts.atlas(), parts.cameras).value(given, record.answer, record.all_steps)

    def _by_majority(self, parts: Parts, shelf: Shelf, given: Asked, trace: Path) -> Told:
        """As the published systems choose: what more than half of independent episodes gave."""
        made = []
        for run in range(1, parts.settings.runs + 1):
            file = trace if run == 1 else _of_run(trace, run)
            made.append(self._episode(parts, shelf, given, file, run))
        replies, runs, courses = zip(*made, strict=True)
        course = replace(
            courses[0],
            listed=frozenset().union(*[one.listed for one in courses]),
            is_whole=all(one.is_whole for one in courses),
        )
        return voted(replies), [step for steps in runs for step in steps], course

    def _in_runs(self, parts: Parts, shelf: Shelf, given: Asked, trace: Path) -> Told:
        from photocraft_local.app.runs import ask_all

        brain = parts.backbone().brain(nothing)
        shown = AskedPlan(given.question, given.question, "")
        memory, turns = self._skills.memory(parts, shelf.album.name), self.turns
        begun: list[Trajectory] = []
        problem: PhotocraftError | None = None
        try:
            told = ask_all(parts, brain, shown, given, memory, Listeners(), turns, begun.append)
        except OF_THE_QUESTION as error:
            if isinstance(error, ServerLost):
                raise
            problem = error
        finally:
            traces = parts.library().path / "traces"
            has_trace = any(_moved_runs(group, traces, trace) for group in begun)
        if problem is None:
            return of_runs(shelf, told, has_trace=has_trace)
        reply = replace(refused(problem), has_trace=has_trace)
        return reply, (), Course(reply.status)

    def _by_embedding(self, parts: Parts, shelf: Shelf, question: EvalQuestion) -> Reply:
        top_k = self.how.top_k or None
        look = Look(question.text, (), ())
        found = search(parts, look, Filters(), top_k, shelf.album.last_day)
        names = shelf.in_order([one.photo.uid for one in found.photos])
        if not names and self.how.guesses:
            best = search(parts, look, Filters(), 1, shelf.album.last_day)
            names = shelf.in_order([one.photo.uid for one in best.photos])
        unused = found.not_understood
        course = Course("answered", frozenset(names), unused_words=unused)
        return Reply(predicted=names, failure_class=failure_class(question, names, course))

    def _guess(
        self, parts: Parts, shelf: Shelf, question: EvalQuestion, steps: Sequence[Step]
    ) -> tuple[tuple[str, ...], str]:
        """The last small set on the way; else the photo that is nearest to the question's words."""
        for step in reversed(steps):
            listed, _ = course_ids([step])
            names = shelf.in_order(sorted(listed))
            if step.call.name != "submit_answer" and 0 < len(names) <= _MOST_GUESSED:
                return names, f"guessed: the set of step {step.index}"
        look = Look(question.text, (), ())
        try:
            best = search(parts, look, Filters(), 1, shelf.album.last_day)
        except OF_THE_QUESTION:  # words that cannot be searched
            return (), "no guess: nothing to search by"
        names = shelf.in_order([one.photo.uid for one in best.photos])
        return names, "guessed: the nearest photo"

    # --- what an episode is made of

    def _agent(
        self, parts: Parts, library: str, given: Asked, run: int = 1
    ) -> tuple[Agent, ToolContext]:
        preset, settings = self.how.preset, parts.settings
        brain: Brain | None = None
        if self.model is not None:
            model = self.model
        elif chosen(settings) == "planner":
            from photocraft_local.agent.planner import Planner

            model = Planner(parts.atlas(), parts.cameras)
        else:
            from photocraft_local.app.runs import model_of

            brain = parts.backbone().brain(nothing)
            if self.turns is not None:
                brain = replace(brain, chat=Yielding(brain.chat, self.turns))
            model = model_of(brain, run)
            if preset.compact_tokens and brain.window > preset.compact_tokens:
                share = preset.compact_tokens / brain.window
                settings = replace(settings, compact_at=max(0.2, min(settings.compact_at, share)))
        memory = self._skills.memory(parts, library)
        context = episode_context(parts, memory, given, eyes_of(parts, brain, given, Listeners()))
        tools = preset.tools(settings.episodic, parts.library().has_events)
        agent = Agent(
            preset.view(model, given.question),
            Registry(tools, context),
            memory,
            settings,
            today=given.today,
            library_card=library_card(parts),
            generation=parts.library().generation(),
        )
        return agent, context

    def _parts(self, library: str) -> Parts:
        path = self.shelves[library].path
        if self._open is not None and self._open.settings.library == path:
            return self._open
        settings = replace(self.settings, **{**self.how.preset.settings, "library": path})
        if settings.memory and settings.skills:
            folder = self._skills.of_others(library)
            settings = replace(settings, memory_folder=folder, skill_seeds=False)
        parts = Parts(settings, self.backbone, self.encoder)
        if self._open is not None:
            parts.take_over(self._open)
            self._open.close()
        self._open = parts
        return parts

    def _asked(self, parts: Parts, shelf: Shelf, question: EvalQuestion) -> Asked:
        from photocraft_local.agent.planner.planner import Asked
        from photocraft_local.app.texts import plain

        text = plain(question.text).strip()
        if question.gold_text and not self.by_rules:
            text = f"{text}\n{_BARE}"
        return Asked(text, shelf.album.last_day, (), "", parts.habits)


def _of_run(trace: Path, number: int) -> Path:
    """No id of a question gives this name: ``safe_name`` leaves no "~" in one."""
    return trace.with_name(f"{trace.stem}~run{number}.json")


def _moved_runs(group: Trajectory, traces: Path, trace: Path) -> bool:
    """With the record that joins them, whose trace is the question's."""
    for number, name in enumerate(group.runs, start=1):
        _moved(traces / f"{name}.json", _of_run(trace, number))
    return _moved(traces / f"{group.episode_id}.json", trace)


def _moved(source: Path | None, target: Path) -> bool:
    """The trace of an episode goes from the library to the run."""
    if source is None or not source.is_file():
        return False
    with mapped(target):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.move(source, target)
    return True
