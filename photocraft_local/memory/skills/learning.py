"""What a finished episode does to the skills: it teaches one, and settles those it was given.

Failures to store are logged, never raised: the question has its answer.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from photocraft_local.errors import PhotocraftError
from photocraft_local.memory.episode import EpisodeRecord
from photocraft_local.memory.skills.abstraction import is_accepted, skill_of
from photocraft_local.memory.skills.masking import FindPlaces, no_places
from photocraft_local.memory.skills.merging import absorbed
from photocraft_local.memory.skills.store import SkillStore
from photocraft_local.records import Answer, Step

_READS_NO_HINTS = ("planner",)  # backbones: how their episodes end says nothing of hints
_log = logging.getLogger(__name__)


def learn(
    store: SkillStore,
    record: EpisodeRecord,
    answer: Answer,
    steps: Sequence[Step],
    hints: Sequence[str] = (),
    find_places: FindPlaces = no_places,
) -> None:
    """``hints`` are the ids of the skills that the episode was given."""
    try:
        if hints and record.backbone not in _READS_NO_HINTS:
            store.count(hints, record.episode_id, won=outcome(record, answer, steps))
        new = skill_of(record, answer, steps, find_places)
        if new is not None:
            store.absorb(lambda skills: absorbed(skills, new))
    except PhotocraftError as error:
        _log.warning("nothing is learned from this question: %s (%s)", error.message, error.hint)


def outcome(record: EpisodeRecord, answer: Answer, steps: Sequence[Step]) -> bool | None:
    """Whether the episode won: its answer is accepted. It lost if it gave photos that are not,
    or gave up. An empty answer that it submitted may be right: None."""
    if is_accepted(record, answer, steps):
        return True
    submitted = bool(steps) and steps[-1].call.name == "submit_answer" and steps[-1].observation.ok
    return None if submitted and not answer.uids else False
