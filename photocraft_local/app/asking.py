"""One question: wires backbone, tools, memory and loop together and reads the answer out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import TYPE_CHECKING

from photocraft_local.app.results import AnsweredPhoto, AskAnswer
from photocraft_local.errors import SettingsError, UsageError
from photocraft_local.records import Photo, Step

if TYPE_CHECKING:
    from photocraft_local.agent.loop import Agent
    from photocraft_local.app.parts import Parts
    from photocraft_local.memory.memory import Memory
    from photocraft_local.records import Answer
    from photocraft_local.serving.chat_model import ChatModel
    from photocraft_local.tools.context import ToolContext

BACKBONES = ("planner",)


def ask(
    parts: Parts, question: str, on_step: Callable[[Step], None] | None, today: date
) -> AskAnswer:
    """``PhotoSearch.ask``."""
    from photocraft_local.agent.loop import Agent
    from photocraft_local.memory.memory import Memory
    from photocraft_local.tools.registry import Registry
    from photocraft_local.tools.standard import standard_tools

    if not question.strip():
        raise UsageError("the question is empty", hint="ask for photos by what they show")
    model = _backbone(parts)
    memory = Memory.open(parts.settings)
    context = _context(parts, memory, today)
    steps: list[Step] = []

    def record(step: Step) -> None:
        steps.append(step)
        if on_step:
            on_step(step)

    agent = Agent(
        model,
        Registry(standard_tools(), context),
        memory,
        parts.settings,
        today=today,
        library_card=library_card(parts),
        generation=parts.library().generation(),
        on_step=record,
    )
    answer = agent.ask(question)
    return _answer(parts, question, answer, steps, agent)


def _context(parts: Parts, memory: Memory, today: date) -> ToolContext:
    from photocraft_local.tools.context import ToolContext

    return ToolContext(
        library=parts.library(),
        catalog=parts.catalog(),
        searcher=parts.searcher(),
        encoder=parts.encoder(),
        gazetteer=parts.atlas(),
        today=today,
        settings=parts.settings,
        memory=memory,
    )


def library_card(parts: Parts) -> str:
    """A few lines about the library for the prompt: counts and span; nothing untrusted."""
    columns = parts.catalog().columns
    lines = [f"{len(parts.catalog())} photos, {columns.num_dated} of them with a time"]
    if columns.num_dated:
        times = columns.times[[0, columns.num_dated - 1]].astype("datetime64[s]").astype(str)
        lines.append(f"from {times[0]} to {times[1]}")
    lines.append(f"{int(columns.located.sum())} photos with a position")
    return "\n".join(lines)


def _backbone(parts: Parts) -> ChatModel:
    if parts.settings.backbone not in BACKBONES:
        raise SettingsError(
            f"there is no backbone {parts.settings.backbone!r}",
            hint=f"known: {', '.join(BACKBONES)}",
        )
    from photocraft_local.agent.planner import Planner

    return Planner(parts.atlas())


def _answer(
    parts: Parts, question: str, answer: Answer, steps: list[Step], agent: Agent
) -> AskAnswer:
    library = parts.library()
    photos: list[Photo] = [library.photo(uid) for uid in answer.uids]
    return AskAnswer(
        question=question,
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
    )


def _filters_that_ran(steps: Iterable[Step]) -> str:
    """The echoes of the steps' filters, each once, in order."""
    echoes = [str(step.observation.data.get("filter", "")) for step in steps]
    return "; ".join(dict.fromkeys(echo for echo in echoes if echo))
