"""One question: wires backbone, tools, memory and loop together and reads the answer out.

What was understood and the first sets are told while the search still runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from photocraft_local.app.backbones import chosen
from photocraft_local.app.pictures import check_unchanged, pictures_of
from photocraft_local.app.results import AnsweredPhoto, AskAnswer, AskedPlan, Candidates
from photocraft_local.app.texts import plain
from photocraft_local.errors import UnknownPhoto, UsageError
from photocraft_local.records import Photo, Step, Usage

if TYPE_CHECKING:
    from photocraft_local.agent.loop import Agent
    from photocraft_local.agent.pictures import Picture
    from photocraft_local.agent.planner.planner import Asked, Planner
    from photocraft_local.app.parts import Parts
    from photocraft_local.memory.memory import Memory
    from photocraft_local.records import Answer
    from photocraft_local.serving.chat_model import ChatModel
    from photocraft_local.serving.qwen.brain import Brain
    from photocraft_local.tools.context import ToolContext

MORE = "more of this"  # what a picture without a question asks
_SHOWN = 3  # photos of a set on the way


@dataclass(frozen=True, slots=True)
class Question:
    """What the person gave: words, picture files, the text of a plan; at least one of them."""

    text: str = ""
    files: Sequence[str | bytes | Path] = ()
    plan: str = ""


def _nothing(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is told what while a question runs: of the plan, of each set, of each step."""

    on_plan: Callable[[AskedPlan], None] = _nothing
    on_candidates: Callable[[Candidates], None] = _nothing
    on_step: Callable[[Step], None] = _nothing
    on_stage: Callable[[str], None] = _nothing  # of the model, while it starts


@dataclass(slots=True)
class _Run:
    """The steps of an episode, told as they come."""

    parts: Parts
    listeners: Listeners
    steps: list[Step] = field(default_factory=list)

    def __call__(self, step: Step) -> None:
        self.steps.append(step)
        self.listeners.on_step(step)
        data = step.observation.data
        if step.observation.ok and "save_as" in step.call.arguments and data.get("count"):
            photos = tuple(islice(self._photos(data.get("photos", ())), _SHOWN))
            self.listeners.on_candidates(Candidates(step.thought, data["count"], photos))

    def _photos(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Photo]:
        """Those of the set; a picture of the question, or one that does not pass, is none."""
        for row in rows:
            if row.get("passes", True):
                with suppress(UnknownPhoto):
                    yield self.parts.library().photo(row["uid"])


def ask(parts: Parts, question: Question, listeners: Listeners, today: date) -> AskAnswer:
    """``PhotoSearch.ask``."""
    from photocraft_local.app.memories import memory_of

    parts.library()  # what is not there is said before what was not understood
    given = _given(parts, question, today)
    model, shown = _opened(parts, given, listeners)
    run = _Run(parts, listeners)
    memory = memory_of(parts)
    agent = _agent(parts, model, memory, given, run)
    answer = agent.ask(shown.question, plan=given.plan, pictures=given.pictures)
    return _answer(parts, shown, answer, run.steps, agent)


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
    check_unchanged(record.pictures)
    given = Asked(record.question, record.today, record.pictures, record.plan, habits_of(record))
    model, shown = _opened(parts, given, listeners)
    memory = memory_of(parts)
    run = _Run(parts, listeners)
    agent = _agent(parts, model, memory, given, run)
    answer = agent.resume(trace)
    return _answer(parts, shown, answer, trajectory.load(trace).all_steps, agent)


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


def _agent(parts: Parts, model: ChatModel, memory: Memory, given: Asked, run: _Run) -> Agent:
    from photocraft_local.agent.loop import Agent
    from photocraft_local.app.sights import seen_by, viewing_of
    from photocraft_local.serving.qwen.judge import Judge
    from photocraft_local.tools.registry import Registry
    from photocraft_local.tools.standard import standard_tools

    context = tool_context(parts, memory, given.today, given.pictures)
    context.question = own_words(given.question, given.plan)
    # A question that goes on reads "last week" as it did.
    context.settings = replace(
        context.settings,
        hemisphere=given.habits.hemisphere,
        first_weekday=given.habits.weekday,
    )
    brain = _brain(parts)
    shown = seen_by(brain, given.pictures, parts.settings.max_pixels) if brain else {}
    if brain:
        context.viewing = viewing_of(brain, len(shown))
        context.judge = Judge(brain, run.listeners.on_stage)
    return Agent(
        model,
        Registry(standard_tools(episodic=parts.settings.episodic), context),
        memory,
        parts.settings,
        today=given.today,
        library_card=library_card(parts),
        generation=parts.library().generation(),
        on_step=run,
        shown=shown,
    )


def _brain(parts: Parts) -> Brain | None:
    """The model that runs already; None where rules drive the loop."""
    if chosen(parts.settings) == "planner":
        return None
    return parts.backbone().brain(_nothing)


def tool_context(
    parts: Parts, memory: Memory, today: date, pictures: Sequence[Picture]
) -> ToolContext:
    """What the tools of one episode work on; nothing that needs a model that sees."""
    from photocraft_local.tools.context import ToolContext

    catalog = parts.catalog()
    return ToolContext(
        library=parts.library(),
        catalog=catalog,
        make_searcher=lambda: parts.searcher(catalog),
        make_encoder=parts.encoder,
        gazetteer=parts.atlas(),
        today=today,
        settings=parts.settings,
        memory=memory,
        pictures={picture.id: picture.path for picture in pictures},
        open_knowledge=parts.knowledge,
    )


def own_words(question: str, plan: str) -> str:
    """What an answer is held against, as the tools know it: a plan stands in the question's place,
    and leaves nothing to be read."""
    return "" if plan else question


def library_card(parts: Parts) -> str:
    """A few lines about the library for the prompt: counts and span; nothing untrusted."""
    columns = parts.catalog().columns
    lines = [f"{len(parts.catalog())} photos, {columns.num_dated} of them with a time"]
    if columns.num_dated:
        times = columns.times[[0, columns.num_dated - 1]].astype("datetime64[s]").astype(str)
        lines.append(f"from {times[0]} to {times[1]}")
    lines.append(f"{int(columns.located.sum())} photos with a position")
    return "\n".join(lines)


def _planner(parts: Parts) -> Planner:
    from photocraft_local.agent.planner import Planner

    chosen(parts.settings)  # a backbone that is not there is said even where none is needed
    return Planner(parts.atlas())


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
        filter=_filters_that_ran(steps),
        understood=answer.understood,
        not_understood=answer.not_understood,
        steps=tuple(steps),
        trajectory=agent.last_trace,
        plan=shown,
        usage=_usage(agent),
        limit=agent.record.limit if agent.record else "",
        attempts=1 + (len(agent.record.attempts) if agent.record else 0),
    )


def _usage(agent: Agent) -> Usage | None:
    """Of all that the episode asked of a model."""
    total = agent.record.total_usage() if agent.record else Usage()
    return total if total.prompt else None


def _filters_that_ran(steps: Iterable[Step]) -> str:
    """The echoes of the filters that the steps asked for, each once, in order."""
    asked = [step for step in steps if {"when", "where"} & set(step.call.arguments)]
    echoes = [str(step.observation.data.get("filter", "")) for step in asked]
    return "; ".join(dict.fromkeys(echo for echo in echoes if echo))
