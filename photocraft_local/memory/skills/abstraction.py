"""From a finished episode to a skill: only if its answer holds by itself, and without its words.

No gold label is asked: an episode teaches if each condition was met on re-check, no word of the
question was left out, and nothing that was found on the way contradicts the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.skills.masking import FindPlaces, masked, no_places
from photocraft_local.memory.skills.sketch import fields_of, leading, sketch_of
from photocraft_local.memory.skills.skill import Skill, new_skill_id
from photocraft_local.memory.skills.wording import KINDS, PITFALLS
from photocraft_local.records import Answer, Step
from photocraft_local.tools.plan import PlanTool

_BY_ARGUMENT = {"when": "time", "any_text": "look", "not_text": "not-look", "order": "order"}
_BY_SEARCH = {"text": "look", "like": "likeness"}  # elsewhere they are another thing
_ASKING = {"how-many", "when", "where", "which-camera", "how-long", "how-far", "what-says"}
_BY_TOOL = {"around": "relation", "compare_photos": "judged", "combine_sets": "sets"}
_TIMES = {"time", "date", "year", "month", "day", "weekday", "hour", "clock", "holiday", "has_time"}
_FACTS = {"event", "trip", "width", "height", "flag"}
_EMPTY = {
    "search_photos": "empty search",
    "filter_photos": "empty filter",
    "around": "empty relation",
}


def is_accepted(record: EpisodeRecord, answer: Answer, steps: Sequence[Step]) -> bool:
    """Whether the answer holds without anybody's word for it."""
    if not record.accepted or answer.not_understood:
        return False
    doubted = {uid for step in steps for uid in _doubted(step)}
    return not doubted & set(answer.uids)


def skill_of(
    record: EpisodeRecord,
    answer: Answer,
    steps: Sequence[Step],
    find_places: FindPlaces = no_places,
) -> Skill | None:
    """None for an episode that teaches nothing: not accepted, or without a way to tell."""
    if not is_accepted(record, answer, steps):
        return None
    sketch = sketch_of(steps)
    shape = masked(record.question, find_places)
    if len(sketch) < 2 or not shape:
        return None
    return Skill(
        skill_id=new_skill_id(),
        when=shape,
        kinds=_kinds(steps, shape),
        sketch=sketch,
        pitfalls=_pitfalls(steps),
        episodes=(record.episode_id,),
        created=record.started,
    )


def _doubted(step: Step) -> list[str]:
    """Photos that a step found wanting. An answer that was refused names those it was refused
    for, which the person's answer may then lack."""
    data = step.observation.data
    rows = [row for row in data.get("photos", ()) if isinstance(row, dict)]
    unlike = [row["uid"] for row in rows if row.get("passes") is False]
    rows = [row for key in ("unmet", "doubtful") for row in data.get(key, ())]
    named = [row["uid"] for row in rows if isinstance(row, dict)]
    listed = [uid for key in ("unmet_photos", "doubtful_photos") for uid in data.get(key, ())]
    return [*unlike, *named, *listed]


def _kinds(steps: Sequence[Step], shape: str) -> tuple[str, ...]:
    found = {"words"} if _ASKING & set(shape.split()) else set()
    for step in leading(steps):
        given = step.call.arguments
        told = _BY_ARGUMENT | (_BY_SEARCH if step.call.name == "search_photos" else {})
        found |= {kind for name, kind in told.items() if given.get(name)}
        if step.call.name in _BY_TOOL:
            found.add(_BY_TOOL[step.call.name])
        if isinstance(where := given.get("where"), str):
            found |= set(map(_kind_of_field, fields_of(where)))
    return tuple(kind for kind in KINDS if kind in found)


def _kind_of_field(name: str) -> str:
    if name in _TIMES:
        return "time"
    if name in ("camera", "has_camera"):
        return "camera"
    return "facts" if name in _FACTS else "place"


def _pitfalls(steps: Sequence[Step]) -> tuple[str, ...]:
    found: set[str] = set()
    for at, step in enumerate(steps):
        seen, name = step.observation, step.call.name
        if name == "submit_answer":
            found |= {"doubted answer"} if seen.data.get("doubtful") else set()
            found |= {"refused answer"} if seen.data.get("unmet") else set()
        elif seen.error and name != PlanTool.name:
            found.add("refused call")
        elif name in _EMPTY and seen.data.get("count") == 0 and _found(name, steps[at + 1 :]):
            found.add(_EMPTY[name])
    return tuple(text for key, text in PITFALLS.items() if key in found)


def _found(tool: str, later: Sequence[Step]) -> bool:
    return any(one.call.name == tool and one.observation.data.get("count") for one in later)
