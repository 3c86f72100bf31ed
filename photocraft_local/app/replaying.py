"""A recorded episode replayed without a model: its calls made again, their results compared.

What only a model could do again is named, not guessed. Nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from photocraft_local.app.pictures import is_unchanged
from photocraft_local.errors import MalformedCall
from photocraft_local.records import Json, Observation, Step

if TYPE_CHECKING:
    from photocraft_local.agent.trajectory import Trajectory
    from photocraft_local.app.parts import Parts
    from photocraft_local.tools.registry import Registry

Outcome = Literal["same", "differs", "not run"]
_MOST = 20  # differences of one step
_BY_MODEL = "compare_photos"
_SHOWING = ("view_photos", "fetch_image", "zoom_in")
_LAID_OUT = ("detail", "layout", "labels", "sheets", "shown", "scale", "padding")
_SECOND_LOOK = ("doubtful", "left_out")  # keys of a submission that a model looked at


@dataclass(frozen=True, slots=True)
class Difference:
    """``where`` is the way into the result, e.g. ``data.photos[3].place``; None: not there."""

    where: str
    before: Json
    now: Json


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    step: Step
    outcome: Outcome
    differences: tuple[Difference, ...] = ()
    more: int = 0  # differences that are not listed
    why: str = ""  # it was not run
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Replay:
    """``generation`` is that of the library, when it was asked and now."""

    trajectory: Trajectory
    generation: int
    steps: tuple[ReplayedStep, ...]

    @property
    def num_differing(self) -> int:
        return sum(one.outcome == "differs" for one in self.steps)

    @property
    def num_not_run(self) -> int:
        return sum(one.outcome == "not run" for one in self.steps)


def replay(parts: Parts, record: Trajectory) -> Replay:
    """On the day, and with the habits and pictures of the question."""
    tools = _tools(parts, record)
    lost = {one.id for one in record.pictures if not is_unchanged(one)}
    # A set that could not be made again takes with it what was made of it.
    steps: list[ReplayedStep] = []
    for number, attempt in enumerate((*record.attempts, record), start=1):
        if number > 1:
            tools.begin_anew()
        for step in attempt.steps:
            why = _not_run(step, lost)
            if not why:
                seen = _called(step, tools, last=attempt.is_last(step.index))
                found = _compared(step, seen, by_model=record.by_model)
                steps.append(replace(found, attempt=number))
                continue
            steps.append(ReplayedStep(step, "not run", why=why, attempt=number))
            if isinstance(saved := step.call.arguments.get("save_as"), str):
                lost.add(saved)
    return Replay(record, parts.library().generation(), tuple(steps))


def _tools(parts: Parts, record: Trajectory) -> Registry:
    from photocraft_local.agent.opening import habits_of
    from photocraft_local.app.episodes import own_words, tool_context
    from photocraft_local.memory.memory import Memory
    from photocraft_local.tools.registry import Registry
    from photocraft_local.tools.standard import standard_tools

    context = tool_context(parts, Memory.open(parts.settings), record.today, record.pictures)
    context.question = own_words(record.question, record.plan)
    habits = habits_of(record)
    context.settings = replace(
        context.settings, hemisphere=habits.hemisphere, first_weekday=habits.weekday
    )
    return Registry(standard_tools(), context)


def _not_run(step: Step, lost: set[str]) -> str:
    """Why the call cannot be made again here; empty if it can."""
    if step.call.name == _BY_MODEL and step.observation.ok:
        return "a model looked at the photos"
    if any(key in step.observation.data for key in _SECOND_LOOK) or step.observation.usage.prompt:
        return "a model took a second look at the photos"
    used = sorted(lost.intersection(_strings(step.call.arguments)))
    return f"it needs {', '.join(used)}, which cannot be had again" if used else ""


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _called(step: Step, tools: Registry, *, last: bool) -> Observation | MalformedCall:
    try:
        return tools.call(step.call, last=last)
    except MalformedCall as error:
        return error


def _compared(step: Step, seen: Observation | MalformedCall, *, by_model: bool) -> ReplayedStep:
    if isinstance(seen, MalformedCall):
        return ReplayedStep(step, "differs", (Difference("call", "", seen.message),))
    told = _told_of_shown if by_model and step.call.name in _SHOWING else _told
    found = list(_differences("", told(step.observation), told(seen)))
    outcome: Outcome = "differs" if found else "same"
    return ReplayedStep(step, outcome, tuple(found[:_MOST]), max(0, len(found) - _MOST))


def _told(seen: Observation) -> dict[str, Json]:
    return {
        "error": seen.error,
        "brief": seen.brief,
        "images": [uid for uid, _ in seen.images],
        "data": seen.data,
    }


def _told_of_shown(seen: Observation) -> dict[str, Json]:
    """What holds for any model: sizes and sheets go by the window of the one that was asked."""
    data = {key: value for key, value in seen.data.items() if key not in _LAID_OUT}
    return {"error": seen.error, "data": data}


def _differences(where: str, before: Json, now: Json) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            path = f"{where}.{key}" if where else str(key)
            yield from _differences(path, before.get(key), now.get(key))
    elif _is_list(before) and _is_list(now) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differences(f"{where}[{number}]", one, other)
    elif _is_list(before) and _is_list(now):
        yield Difference(where, list(before), list(now))
    elif before != now:
        yield Difference(where, before, now)


def _is_list(value: Json) -> bool:
    return isinstance(value, list | tuple)
