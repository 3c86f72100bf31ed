"""How an episode begins: the trace with its settings, the stable blocks of the prompt.

Also how a cut one is put back together. Knows nothing of turns and limits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from photocraft_local.agent.episode import Episode
from photocraft_local.agent.pictures import facts_by_id
from photocraft_local.agent.prompts import render
from photocraft_local.agent.trajectory import Kept, Trajectory
from photocraft_local.memory.context import Content, Context, picture_parts
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.memory import EpisodeMemory
from photocraft_local.memory.skills import SkillHints
from photocraft_local.memory.text import prompt_json
from photocraft_local.records import Intent, Json, Observation, Step, ToolCall
from photocraft_local.serving.chat_model import ChatModel, Stating, ToolSchema
from photocraft_local.serving.judging import ANY, Left
from photocraft_local.settings import Settings
from photocraft_local.timelang import USUAL, Habits
from photocraft_local.tools.compress_context import CompressContext


class Tools(Protocol):
    """What the agent needs of the tool registry."""

    def schemas(self) -> list[ToolSchema]: ...

    def call(self, call: ToolCall, *, last: bool = False, left: Left = ANY) -> Observation: ...

    def put_back(self, call: ToolCall, seen: Observation) -> Observation: ...

    def begin_anew(self) -> None: ...


def opened(
    record: Trajectory,
    *,
    card: str,
    hints: SkillHints,
    library: Path,
    shown: Mapping[str, bytes] = MappingProxyType({}),
) -> Episode:
    """An episode without steps: system, library card, question and hints are its prompt.

    ``shown`` has the question's pictures as the backbone is to see them, by their ids.
    """
    if record.hints is None:  # those of an episode that goes on stay as they were
        record.hints = [_kept(hint) for hint in hints.for_question(record.question)]
    told = "\n".join(f"- {hint['text']}" for hint in record.hints)
    blocks = [
        render("library_card", card=card) if card else "",
        with_pictures(question_block(record, shown), shown),
        render("hints", hints=told) if told else "",
        *(one.post_mortem.text for one in record.attempts if one.post_mortem),
    ]
    remembered = EpisodeRecord(
        episode_id=record.episode_id,
        started=record.started,
        question=record.question,
        backbone=record.backbone,
        intent=Intent(target=record.question),
    )
    given = [hint["skill_id"] for hint in record.hints if "skill_id" in hint]
    episodic = bool(record.config.get("episodic", False))  # older traces had none
    bare = not record.config.get("working", True)
    context = Context(system_text(episodic=episodic), blocks, bare=bare)
    memory = EpisodeMemory(context, remembered, hints=given, episodic=episodic)
    return Episode(record, memory, Kept(record, library / "traces"))


def system_text(*, episodic: bool) -> str:
    """The first block: the same bytes for every question under the same settings."""
    return render("system", planning=f" {render('planning')}" if episodic else "")


def with_intent(episode: Episode, model: ChatModel) -> Episode:
    """With what a backbone of rules understands of the question, asked once, without a turn."""
    intent = model.intent(episode.messages()) if isinstance(model, Stating) else None
    if intent is not None:
        episode.memory.state(intent)
    return episode


def _kept(hint: object) -> dict[str, Json]:
    """A hint as the trace keeps it: its text, and what is known of where it came from."""
    if is_dataclass(hint) and not isinstance(hint, type):
        return asdict(hint)
    return {"text": str(hint)}


def with_pictures(block: str, shown: Mapping[str, bytes]) -> Content:
    """The block's text, and below it the pictures, each under its id."""
    if not shown:
        return block
    pictures = [part for name, source in shown.items() for part in picture_parts(name, source)]
    return [{"type": "text", "text": block}, *pictures]


def question_block(record: Trajectory, shown: Collection[str] = ()) -> str:
    """All that the person gave: the question, their pictures, and the plan that they corrected.

    ``shown`` are the ids of the pictures that follow the block.
    """
    question = prompt_json(record.question)
    lines = [render("question", today=record.today.isoformat(), question=question)]
    habits = habits_of(record)
    if habits != USUAL:
        weekday = habits.weekday.capitalize()
        lines.append(render("habits", weekday=weekday, hemisphere=habits.hemisphere))
    if record.pictures:
        ids: list[Json] = [picture.id for picture in record.pictures]
        facts = prompt_json(facts_by_id(record.pictures))
        lines.append(render("pictures", ids=prompt_json(ids), facts=facts))
    if shown:
        lines.append(render("pictures_shown", ids=", ".join(shown)))
    if record.plan:
        lines.append(render("plan", plan=prompt_json(record.plan)))
    return "\n".join(lines)


def habits_of(record: Trajectory) -> Habits:
    """How the person counted seasons and weeks when the question was asked."""
    hemisphere = record.config.get("hemisphere", USUAL.hemisphere)
    return Habits.named(hemisphere, record.config.get("first_weekday", USUAL.weekday))


def replayed(episode: Episode, steps: list[Step], tools: Tools) -> Episode:
    """Puts recorded steps into a fresh episode, with the compactions that came after them: its
    prompt is the same again, limits, corrections and earlier attempts included, and no model is
    asked.

    What a step left behind beside its result, sets and pixels, is put back by its tool. Nothing
    is saved before all is put back, so that a second cut loses no step.
    """
    record = episode.trajectory
    for attempt in record.attempts:
        for step in attempt.steps:
            tools.put_back(step.call, step.observation)
        tools.begin_anew()
    for step in steps:
        seen = tools.put_back(step.call, step.observation)
        episode.take(replace(step, observation=seen))
        for made in record.compactions:
            if made.after_step == step.index:
                episode.compact(made)
        for cut in record.cuts:
            episode.memory.cut(cut)
    episode.put_back_limits()
    return episode


def wish_left(record: Trajectory) -> str:
    """Why the model wanted its turns compacted in the last step, if the episode was cut before
    that was done; else empty."""
    last = record.steps[-1] if record.steps else None
    if last is None or last.call.name != CompressContext.name or not last.observation.ok:
        return ""
    is_done = any(made.after_step == last.index for made in record.compactions)
    return "" if is_done else str(last.call.arguments["reason"])


def config_of(settings: Settings) -> dict[str, Json]:
    """Settings in the form that goes into a trace."""
    values = {item.name: getattr(settings, item.name) for item in fields(settings)}
    return {
        name: value if isinstance(value, bool | int | float) else str(value)
        for name, value in values.items()
    }
