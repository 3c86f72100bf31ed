"""What an episode's steps came to, for whoever reads its trace: verdicts, reflections, the plan.

Worked out from the trace anew. The plan of rules is in no step, so it is read from memory, if kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from photocraft_local.memory.course import Course
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.store import MemoryStore

if TYPE_CHECKING:
    from photocraft_local.agent.trajectory import Trajectory


def thoughts(trace: Trajectory, store: MemoryStore) -> EpisodeRecord:
    """As memory keeps an episode, without its answer."""
    record = EpisodeRecord(
        episode_id=trace.episode_id,
        started=trace.started,
        question=trace.question,
        backbone=trace.backbone,
    )
    for kept in store.list():
        if kept.episode_id == trace.episode_id:
            record = replace(record, intent=kept.intent, plan=kept.plan)
    course = Course(bool(trace.config.get("episodic", False)))
    for step in trace.steps:
        record = course.into(record, step)
    return record
