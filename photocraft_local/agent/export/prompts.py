"""A trace as the prompts that its backbone read: the same messages again, and no model asked.

A compaction ends one prompt and begins the next, so an episode gives one segment for each; a
reply belongs to the first segment that holds it. Pictures stand as their ids.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from photocraft_local.agent.opening import opened
from photocraft_local.agent.trajectory import Trajectory
from photocraft_local.memory.skills import NoHints
from photocraft_local.records import Step
from photocraft_local.serving.chat_model import Message

_RULES = "planner"  # reads the question itself and is shown no picture


@dataclass(frozen=True, slots=True)
class Segment:
    """``messages`` end with a reply; the last ``num_new`` replies are of no earlier segment."""

    messages: Sequence[Message]
    num_new: int


def segments(record: Trajectory) -> Iterator[Segment]:
    """The prompts of an episode with the replies to them, in order. The one-off words of a
    correction or of the last turn are in no trace, and so not in here."""
    record = copy.copy(record)
    steps, record.steps = record.steps, []
    shown = {} if record.backbone == _RULES else _own_pictures(record)
    episode = opened(record, card=record.card, hints=NoHints(), library=Path(), shown=shown)
    num_told = 0
    for step in steps:
        episode.take(_with_names(step))
        for made in record.compactions:
            if made.after_step == step.index:
                yield from _segment(episode.memory.messages(), step.index - num_told)
                num_told = step.index
                episode.compact(made)
        for cut in record.cuts:
            episode.memory.cut(cut)
    yield from _segment(episode.memory.messages(), len(steps) - num_told)


def _own_pictures(record: Trajectory) -> dict[str, bytes]:
    return {picture.id: picture.id.encode("utf-8") for picture in record.pictures}


def _with_names(step: Step) -> Step:
    """Where a prompt has a picture's bytes or file, its id stands."""
    images = tuple((uid, uid.encode("utf-8")) for uid, _ in step.observation.images)
    return replace(step, observation=replace(step.observation, images=images))


def _segment(messages: Sequence[Message], num_new: int) -> Iterator[Segment]:
    last = max((at for at, one in enumerate(messages) if one["role"] == "assistant"), default=-1)
    if num_new > 0 and last >= 0:
        yield Segment(messages[: last + 1], num_new)
