"""What the episodes of a question are made of: tools on this library, a model's eyes, listeners.

The same for one run and for several, which share what they see with. Knows nothing of how an
answer is read out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any

from photocraft_local.app.backbones import chosen
from photocraft_local.app.results import AskedPlan, Candidates
from photocraft_local.errors import UnknownPhoto
from photocraft_local.records import Json, Photo, Step

if TYPE_CHECKING:
    from photocraft_local.agent.loop import Agent
    from photocraft_local.agent.pictures import Picture
    from photocraft_local.agent.planner.planner import Asked
    from photocraft_local.app.parts import Parts
    from photocraft_local.memory.memory import Memory
    from photocraft_local.serving.chat_model import ChatModel
    from photocraft_local.serving.qwen.brain import Brain
    from photocraft_local.settings import Settings
    from photocraft_local.tools.context import ToolContext
    from photocraft_local.tools.ports import Judging
    from photocraft_local.tools.viewing import Viewing

_SHOWN = 3  # photos of a set on the way


def nothing(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is told what while a question runs: of the plan, of each set, of each step."""

    on_plan: Callable[[AskedPlan], None] = nothing
    on_candidates: Callable[[Candidates], None] = nothing
    on_step: Callable[[Step], None] = nothing
    on_stage: Callable[[str], None] = nothing  # of the model, while it starts


@dataclass(slots=True)
class StepsTold:
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


@dataclass(frozen=True, slots=True)
class Eyes:
    """What an episode is given to see with, and its settings; the runs of a question share it."""

    settings: Settings
    shown: Mapping[str, bytes] = field(default_factory=dict)  # the question's pictures, by id
    viewing: Viewing | None = None
    judge: Judging | None = None


def eyes_of(
    parts: Parts,
    brain: Brain | None,
    given: Asked,
    listeners: Listeners,
    config: Mapping[str, Json] | None = None,
) -> Eyes:
    """None to see with where rules drive the loop. ``config`` is that of the trace of a question
    that goes on: it keeps the tools that its prompt began with."""
    settings = parts.settings
    if config is not None:
        settings = replace(settings, episodic=bool(config.get("episodic", False)))
    if brain is None:
        return Eyes(settings)
    from photocraft_local.app.sights import seen_by, viewing_of
    from photocraft_local.serving.qwen.judge import Judge

    shown = seen_by(brain, given.pictures, settings.max_pixels)
    judge = Judge(brain, listeners.on_stage)
    return Eyes(settings, shown, viewing_of(brain, len(shown)), judge)


def episode_context(parts: Parts, memory: Memory, given: Asked, eyes: Eyes) -> ToolContext:
    """What the tools of one episode work on."""
    context = tool_context(parts, memory, given.today, given.pictures)
    context.question = own_words(given.question, given.plan)
    # A question that goes on reads "last week" as it did.
    context.settings = replace(
        context.settings,
        hemisphere=given.habits.hemisphere,
        first_weekday=given.habits.weekday,
    )
    context.viewing = eyes.viewing or context.viewing
    context.judge = eyes.judge
    return context


def agent_of(
    parts: Parts,
    model: ChatModel,
    memory: Memory,
    given: Asked,
    on_step: Callable[[Step], None],
    eyes: Eyes,
) -> Agent:
    """For one episode."""
    from photocraft_local.agent.loop import Agent
    from photocraft_local.tools.registry import Registry
    from photocraft_local.tools.standard import standard_tools

    context = episode_context(parts, memory, given, eyes)
    return Agent(
        model,
        Registry(standard_tools(episodic=eyes.settings.episodic), context),
        memory,
        eyes.settings,
        today=given.today,
        library_card=library_card(parts),
        generation=parts.library().generation(),
        on_step=on_step,
        shown=eyes.shown,
    )


def brain_of(parts: Parts) -> Brain | None:
    """The model that runs already; None where rules drive the loop."""
    if chosen(parts.settings) == "planner":
        return None
    return parts.backbone().brain(nothing)


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
        decoded=parts.decoded(),
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


def filters_that_ran(steps: Iterable[Step]) -> str:
    """The echoes of the filters that the steps asked for, each once, in order."""
    asked = [step for step in steps if {"when", "where"} & set(step.call.arguments)]
    echoes = [str(step.observation.data.get("filter", "")) for step in asked]
    return "; ".join(dict.fromkeys(echo for echo in echoes if echo))
