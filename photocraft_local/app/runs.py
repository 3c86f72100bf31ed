"""Several independent runs of one question on one prefix, and the one answer that comes of them.

Each run is an episode with a trace of its own; a record without steps joins them, so that a
question that was cut goes on with the runs that have no end. Runs of a model that reads many
prompts together go at once. Knows nothing of how candidates are judged (agent/pooling.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local import __version__
from photocraft_local.agent import trajectory
from photocraft_local.agent.loop import Agent
from photocraft_local.agent.opening import config_of, opened
from photocraft_local.agent.pooling import Pooled, pooled
from photocraft_local.agent.run_conditions import Ran
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.app.at_once import Turns, Yielding, takes_many, together
from photocraft_local.app.episodes import (
    Eyes,
    Listeners,
    StepsTold,
    agent_of,
    episode_context,
    eyes_of,
    filters_that_ran,
    library_card,
)
from photocraft_local.app.results import AnsweredPhoto, AskAnswer, AskedPlan, AskedRun
from photocraft_local.errors import AgentError, ModelError, PhotocraftError, ServerLost
from photocraft_local.memory.memory import EpisodeMemory, Memory
from photocraft_local.records import Answer, Step, Usage
from photocraft_local.serving.judging import Left
from photocraft_local.tools.format import counted
from photocraft_local.tools.registry import Registry
from photocraft_local.tools.standard import standard_tools

if TYPE_CHECKING:
    from photocraft_local.agent.planner.planner import Asked
    from photocraft_local.app.parts import Parts
    from photocraft_local.serving.qwen.brain import Brain
    from photocraft_local.serving.qwen.model import QwenModel
    from photocraft_local.settings import Settings
    from photocraft_local.tools.context import ToolContext

TEMPERATURE = 0.7  # of every run but the first, which is the one that a single run would be


class RunMemory(Memory):
    """The question's memory as one run sees it: what the others find is not in it. Its episode is
    kept for whoever pools them."""

    episode: EpisodeMemory | None = None
    steps: Sequence[Step] | None = None  # of all its attempts

    @classmethod
    def of(cls, memory: Memory) -> RunMemory:
        own = cls.__new__(cls)
        own.__dict__.update(memory.__dict__)
        return own

    def finish(
        self, episode: EpisodeMemory, answer: Answer, steps: Sequence[Step] | None = None
    ) -> None:
        self.episode, self.steps = episode, steps


@dataclass(slots=True)
class _Job:
    """One run: what it is made with, and what became of it."""

    number: int  # from 1
    agent: Agent
    memory: RunMemory
    trace: Path
    eyes: Eyes
    record: Trajectory | None = None
    problem: PhotocraftError | None = None

    def __call__(self) -> None:
        """A run that fails leaves the others alone."""
        try:
            self.agent.resume(self.trace)
        except PhotocraftError as error:
            self.problem = error
        finally:
            self.record = self.agent.record


@dataclass(slots=True)
class _Question:
    """What all runs of one question share."""

    parts: Parts
    brain: Brain
    shown: AskedPlan
    given: Asked
    memory: Memory
    listeners: Listeners
    turns: Turns = field(default_factory=Turns)
    has_turn: bool = False  # whoever asks holds it, since other questions run beside this one

    @property
    def traces(self) -> Path:
        return self.parts.library().path / "traces"

    def working(self) -> AbstractContextManager[None]:
        return nullcontext() if self.has_turn else self.turns.taken()

    def waiting(self) -> AbstractContextManager[None]:
        return self.turns.given_up() if self.has_turn else nullcontext()


def ask_all(
    parts: Parts,
    brain: Brain,
    shown: AskedPlan,
    given: Asked,
    memory: Memory,
    listeners: Listeners,
    turns: Turns | None = None,
    began: Callable[[Trajectory], object] = lambda group: None,
) -> AskAnswer:
    """As many runs as the setting ``runs`` says. ``turns``: those of several questions at once; the
    caller has its turn. ``began`` is told of the record that joins them, before they run."""
    asked = _Question(parts, brain, shown, given, memory, listeners)
    if turns is not None:
        asked.turns, asked.has_turn = turns, True
    group = _new_group(asked)
    began(group)
    return _answered(asked, group)


def go_on(
    parts: Parts,
    brain: Brain | None,
    shown: AskedPlan,
    given: Asked,
    memory: Memory,
    listeners: Listeners,
    trace: Path,
) -> AskAnswer:
    """Runs that have their answer are not made again. Raises AgentError without a model, and where
    the library has changed."""
    if brain is None:
        raise AgentError(
            "the runs of this question were a model's, and rules drive the loop now",
            hint="give --backbone, weights or backbone_url as when it was asked",
        )
    group = trajectory.load(trace)
    if group.status != "answered" and group.generation != parts.library().generation():
        raise AgentError(
            f"the library has changed since episode {group.episode_id} was cut",
            hint="ask the question again",
        )
    return _answered(_Question(parts, brain, shown, given, memory, listeners), group)


def _new_group(asked: _Question) -> Trajectory:
    """The record that joins the runs, with the hints that all of them are given."""
    parts = asked.parts
    group = Trajectory(
        question=asked.shown.question,
        plan=asked.given.plan,
        pictures=asked.given.pictures,
        today=asked.given.today,
        backbone=asked.brain.name,
        package_version=__version__,
        generation=parts.library().generation(),
        config=config_of(parts.settings),
        card=library_card(parts),
    )
    opened(group, card=group.card, hints=asked.memory.hints, library=parts.library().path)
    numbers = range(1, parts.settings.runs + 1)
    group.runs = [f"{group.episode_id}-{number}" for number in numbers]
    return group


def _answered(asked: _Question, group: Trajectory) -> AskAnswer:
    if group.status == "answered":
        jobs = [job for job in _jobs(asked, group) if job.trace.exists()]
        for job in jobs:
            job.record = trajectory.load(job.trace)
        return _told(asked, group, jobs)
    group.status, group.error = "running", ""
    group.save(asked.traces)  # before its runs: without it, nobody would know what they are for
    try:
        _begin(asked, group)
        jobs = _jobs(asked, group)
        _run(asked, jobs)
        with asked.working():  # the judge gives its turn up while it is waited for
            found = _pooled(asked, group, jobs)
        group.answer, group.pooling = found.answer, found.usage
        group.notes = [*_failures(jobs), *found.notes]
        group.status = "answered"
    except KeyboardInterrupt:
        group.status = "interrupted"
        raise
    except PhotocraftError as error:
        group.status = "interrupted" if isinstance(error, ModelError) else "failed"
        group.error = error.message
        raise
    finally:
        group.save(asked.traces)
    _remember(asked, group, jobs)
    return _told(asked, group, jobs)


def _begin(asked: _Question, group: Trajectory) -> None:
    """A run whose trace is not there yet gets one without steps."""
    for name in group.runs:
        if not (asked.traces / f"{name}.json").exists():
            fresh = deepcopy(group)
            fresh.episode_id, fresh.runs = name, []
            fresh.save(asked.traces)


def _jobs(asked: _Question, group: Trajectory) -> list[_Job]:
    brain = asked.brain
    if takes_many(brain):
        brain = replace(brain, chat=Yielding(brain.chat, asked.turns))
    eyes = eyes_of(asked.parts, brain, asked.given, asked.listeners, group.config)
    eyes = replace(eyes, settings=_share(eyes.settings, len(group.runs), takes_many(brain)))
    jobs = []
    for number, name in enumerate(group.runs, start=1):
        trace = asked.traces / f"{name}.json"
        memory = RunMemory.of(asked.memory)
        steps = StepsTold(asked.parts, asked.listeners)
        model = model_of(brain, number)
        agent = agent_of(asked.parts, model, memory, asked.given, steps, eyes)
        jobs.append(_Job(number, agent, memory, trace, eyes))
    return jobs


def model_of(brain: Brain, number: int) -> QwenModel:
    """Of the ``number``-th of independent runs; the first is what a single run would be."""
    if number == 1:
        return brain.model()
    return brain.model(temperature=TEMPERATURE, seed=number)


def _share(settings: Settings, runs: int, at_once: bool) -> Settings:
    """The question's limits are those of all runs together: tokens in equal parts, and time, too,
    where one run comes after another."""
    share = replace(settings, max_tokens=-(-settings.max_tokens // runs))
    return share if at_once else replace(share, max_seconds=settings.max_seconds / runs)


def _run(asked: _Question, jobs: Sequence[_Job]) -> None:
    """All of them to their ends. Raises ServerLost, KeyboardInterrupt, and what the first run
    raised if every run failed."""
    if takes_many(asked.brain):
        cancel: Callable[[], None] = getattr(asked.brain.chat, "cancel", lambda: None)
        with asked.waiting():
            together([_heard(asked, job, len(jobs)) for job in jobs], asked.turns, cancel)
    else:
        for job in jobs:
            _heard(asked, job, len(jobs))()
            if isinstance(job.problem, ServerLost):
                break
    problems = [job.problem for job in jobs if job.problem]
    for problem in problems:
        if isinstance(problem, ServerLost):
            raise problem
    if len(problems) == len(jobs):
        raise problems[0]


def _heard(asked: _Question, job: _Job, number: int) -> Callable[[], None]:
    def run() -> None:
        job()
        told = "failed"
        if job.record and job.record.answer:
            told = f"found {counted(len(job.record.answer.uids), 'photo')}"
        asked.listeners.on_stage(f"run {job.number} of {number} {told}")

    return run


def _pooled(asked: _Question, group: Trajectory, jobs: Sequence[_Job]) -> Pooled:
    """From the traces alone: sets and conditions are put back, no run's model is asked again."""
    runs = []
    for job in jobs:
        record = job.record
        if job.problem or record is None or record.answer is None:
            continue
        context = episode_context(asked.parts, asked.memory, asked.given, job.eyes)
        runs.append(Ran(record.answer, record.steps, _put_back(record, context)))
    return pooled(runs, group.question, _left(asked, [job.record for job in jobs if job.record]))


def _left(asked: _Question, records: Sequence[Trajectory]) -> Left:
    """What the runs have left of the question's tokens and time for the judge of their photos."""
    settings = asked.parts.settings
    spent = sum(record.total_usage().fresh for record in records)
    tokens = max(0, settings.max_tokens - spent) if settings.max_tokens else None
    if not settings.max_seconds:
        return Left(tokens)
    seconds = [record.seconds for record in records]
    took = max(seconds, default=0) if takes_many(asked.brain) else sum(seconds)
    end = time.monotonic() + settings.max_seconds - took
    return Left(tokens, lambda: end - time.monotonic())


def _put_back(record: Trajectory, context: ToolContext) -> ToolContext:
    """With the sets and conditions that the run's calls left behind; none shows a picture again."""
    tools = Registry(standard_tools(episodic=True), context)
    for attempt in (*record.attempts, record):
        tools.begin_anew()
        for step in attempt.steps:
            tools.put_back(step.call, replace(step.observation, images=()))
    return context


def _failures(jobs: Sequence[_Job]) -> list[str]:
    return [f"run {job.number} failed: {job.problem.message}" for job in jobs if job.problem]


def _remember(asked: _Question, group: Trajectory, jobs: Sequence[_Job]) -> None:
    """Once, as the question's own episode: by the way of a run that found just this answer. Where
    none did, the answer is no run's way, and nobody learns from it."""
    answer = group.answer
    for job in jobs:
        record = job.record
        own = record.answer if record else None
        if answer and record and own and set(own.uids) == set(answer.uids):
            episode = job.memory.episode or _as_it_was(asked, record)
            episode.record = replace(episode.record, episode_id=group.episode_id)
            asked.memory.finish(episode, answer, record.all_steps)
            return


def _as_it_was(asked: _Question, record: Trajectory) -> EpisodeMemory:
    """Of a run that had its answer before the question was cut."""
    hints, library = asked.memory.hints, asked.parts.library().path
    memory = opened(record, card=record.card, hints=hints, library=library).memory
    for step in record.steps:
        memory.observe(step)
    return memory


def _told(asked: _Question, group: Trajectory, jobs: Sequence[_Job]) -> AskAnswer:
    library, answer = asked.parts.library(), group.answer or Answer(())
    usages = [job.record.total_usage() for job in jobs if job.record]
    total = sum(usages, group.total_usage())
    steps = tuple(step for job in jobs if job.record for step in job.record.all_steps)
    return AskAnswer(
        question=asked.shown.question,
        photos=tuple(
            AnsweredPhoto(library.photo(uid), answer.evidence.get(uid, ())) for uid in answer.uids
        ),
        text=answer.text,
        reason=answer.reason,
        filter=filters_that_ran(steps),
        understood=answer.understood,
        not_understood=answer.not_understood,
        steps=steps,
        trajectory=asked.traces / f"{group.episode_id}.json",
        plan=asked.shown,
        usage=total if total.prompt else None,
        runs=tuple(_asked_run(job, answer) for job in jobs),
        notes=tuple(group.notes),
    )


def _asked_run(job: _Job, answer: Answer) -> AskedRun:
    record = job.record
    own = (record.answer if record else None) or Answer(())
    usage = record.total_usage() if record else Usage()
    return AskedRun(
        number=job.number,
        photos=own.uids,
        text=own.text,
        reason=own.reason,
        problem=record.error if record else "",
        is_kept=bool(record and record.answer) and _is_kept(own, answer),
        steps=tuple(record.all_steps) if record else (),
        trajectory=job.trace,
        usage=usage if usage.prompt else None,
        limit=record.limit if record else "",
    )


def _is_kept(own: Answer, answer: Answer) -> bool:
    return set(own.uids) <= set(answer.uids) and bool(own.uids) is bool(answer.uids)
