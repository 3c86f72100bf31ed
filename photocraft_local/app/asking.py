"""One question: wires backbone, tools, memory and loop together and reads the answer out.

What was understood and the first sets are told while the search still runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from photocraft_local.app.backbones import chosen
from photocraft_local.app.episodes import (
    Listeners,
    StepsTold,
    agent_of,
    brain_of,
    eyes_of,
    filters_that_ran,
)
from photocraft_local.app.pictures import check_unchanged, pictures_of
from photocraft_local.app.results import AnsweredPhoto, AskAnswer, AskedPlan
from photocraft_local.app.texts import plain
from photocraft_local.errors import UsageError
from photocraft_local.records import Photo, Step, Usage

if TYPE_CHECKING:
    from photocraft_local.agent.loop import Agent
    from photocraft_local.agent.planner.planner import Asked, Planner
    from photocraft_local.app.parts import Parts
    from photocraft_local.records import Answer
    from photocraft_local.serving.chat_model import ChatModel

MORE = "more of this"  # what a picture without a question asks
RULES_ARE_ONE = "rules give the same answer each time: however many runs of them are one"


@dataclass(frozen=True, slots=True)
class Question:
    """What the person gave: words, picture files, the text of a plan; at least one of them."""

    text: str = ""
    files: Sequence[str | bytes | Path] = ()
    plan: str = ""


def ask(parts: Parts, question: Question, listeners: Listeners, today: date) -> AskAnswer:
    """``PhotoSearch.ask``."""
    from photocraft_local.app.memories import memory_of

    parts.library()  # what is not there is said before what was not understood
    given = _given(parts, question, today)
    model, shown = _opened(parts, given, listeners)
    memory = memory_of(parts)
    if parts.settings.runs > 1 and (brain := brain_of(parts)):
        from photocraft_local.app.runs import ask_all

        return ask_all(parts, brain, shown, given, memory, listeners)
    run = StepsTold(parts, listeners)
    eyes = eyes_of(parts, brain_of(parts), given, listeners)
    agent = agent_of(parts, model, memory, given, run, eyes)
    answer = agent.ask(shown.question, plan=given.plan, pictures=given.pictures)
    told = _answer(parts, shown, answer, run.steps, agent)
    told = replace(told, value=_value(model, given, answer, run.steps))
    return replace(told, notes=(RULES_ARE_ONE,)) if parts.settings.runs > 1 else told


def plan(parts: Parts, question: Question, today: date) -> AskedPlan:
    """``PhotoSearch.plan``: what the rules understand, whoever drives the loop."""
    return _shown(_planner(parts), _given(parts, question, today))


def resume(parts: Parts, trace: Path, listeners: Listeners) -> AskAnswer:
    """``PhotoSearch.resume``; on the day and with the pictures of the question."""
    from photocraft_local.agent import trajectory
    from photocraft_local.agent.opening import habits_of
    from photocraft_local.agent.planner.planner import Asked
    from photocraft_local.app.memories import memory_of

    record = trajectory.load(trace)
    if group := trajectory.group_of(record.episode_id):
        whole = trace.with_name(f"{group}.json")
        if whole.is_file():  # one run alone gives no answer to the question
            trace, record = whole, trajectory.load(whole)
    check_unchanged(record.pictures)
    given = Asked(record.question, record.today, record.pictures, record.plan, habits_of(record))
    model, shown = _opened(parts, given, listeners)
    memory = memory_of(parts)
    if record.runs:
        from photocraft_local.app.runs import go_on

        return go_on(parts, brain_of(parts), shown, given, memory, listeners, trace)
    run = StepsTold(parts, listeners)
    eyes = eyes_of(parts, brain_of(parts), given, listeners, record.config)
    agent = agent_of(parts, model, memory, given, run, eyes)
    answer = agent.resume(trace)
    steps = trajectory.load(trace).all_steps
    told = _answer(parts, shown, answer, steps, agent)
    return replace(told, value=_value(model, given, answer, steps))


def _given(parts: Parts, question: Question, today: date) -> Asked:
    """The question block of the prompt, as the planner reads it."""
    from photocraft_local.agent.planner.planner import Asked

    pictures = pictures_of(parts, question.files)
    text, plan = plain(question.text).strip(), plain(question.plan)
    if plan and not plan.strip():
        raise UsageError("the plan is empty", hint="write what is wanted, e.g. look: dog")
    if not text and pictures and not plan:
        text = MORE
    if not text and not plan:
        raise UsageError("the question is empty", hint="ask for photos by what they show")
    return Asked(text, today, pictures, plan, parts.habits)


def _opened(parts: Parts, given: Asked, listeners: Listeners) -> tuple[ChatModel, AskedPlan]:
    """The backbone, ready, and what the person was told of the question.

    A model makes its own way: of the planner's reading it gets, and the person sees, only a plan
    that the person gave.
    """
    if chosen(parts.settings) == "planner":
        planner = _planner(parts)
        shown = _shown(planner, given)
        _check_looks(parts, planner, given)
        listeners.on_plan(shown)
        return planner, shown
    shown = AskedPlan(given.question, given.question, "", given.pictures)
    if given.plan:
        shown = _shown(_planner(parts), given)
    model = parts.backbone().brain(listeners.on_stage).model()
    listeners.on_plan(shown)
    return model, shown


def _shown(model: Planner, given: Asked) -> AskedPlan:
    """A plan without a question is asked in its own words."""
    from photocraft_local.agent.planner.script import in_words, to_text

    words = in_words(model.told(given))
    text = to_text(model.plan(given), model.reader(given))
    return AskedPlan(given.question or words, words, text, given.pictures)


def _check_looks(parts: Parts, model: Planner, given: Asked) -> None:
    """That there are vectors if what is seen decides. Raises NoVectors, EncoderError,
    MissingExtraError; a plan of metadata alone opens no model."""
    if model.told(given).needs_looks:
        parts.searcher()


def _planner(parts: Parts) -> Planner:
    from photocraft_local.agent.planner import Planner

    chosen(parts.settings)  # a backbone that is not there is said even where none is needed
    return Planner(parts.atlas(), parts.cameras)


def _answer(
    parts: Parts, shown: AskedPlan, answer: Answer, steps: list[Step], agent: Agent
) -> AskAnswer:
    library = parts.library()
    photos: list[Photo] = [library.photo(uid) for uid in answer.uids]
    return AskAnswer(
        question=shown.question,
        photos=tuple(
            AnsweredPhoto(photo, answer.evidence.get(uid, ()))
            for uid, photo in zip(answer.uids, photos, strict=True)
        ),
        text=answer.text,
        reason=answer.reason,
        filter=filters_that_ran(steps),
        understood=answer.understood,
        not_understood=answer.not_understood,
        steps=tuple(steps),
        trajectory=agent.last_trace,
        plan=shown,
        usage=_usage(agent),
        limit=agent.record.limit if agent.record else "",
        attempts=1 + (len(agent.record.attempts) if agent.record else 0),
    )


def _value(model: ChatModel, given: Asked, answer: Answer, steps: Sequence[Step]) -> str:
    """Rules know it beside their sentence; what a model says is its text."""
    from photocraft_local.agent.planner import Planner

    return model.value(given, answer, steps) if isinstance(model, Planner) else ""


def _usage(agent: Agent) -> Usage | None:
    """Of all that the episode asked of a model."""
    total = agent.record.total_usage() if agent.record else Usage()
    return total if total.prompt else None
