"""Which skills a new question is given as hints: alike enough, not retired, each way once.

A store that cannot be read costs the hints of what was learned, never the question.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from photocraft_local.errors import PhotocraftError
from photocraft_local.memory.skills.hints import Hint
from photocraft_local.memory.skills.likeness import ByMeaning, Embed, by_symbols
from photocraft_local.memory.skills.masking import FindPlaces, masked, no_places
from photocraft_local.memory.skills.skill import Skill
from photocraft_local.memory.skills.store import SkillStore

MOST = 3
FLOOR = 0.5  # of likeness; below it a hint misleads more than it helps
_EMBEDDED = 50  # skills that are compared by meaning, those first that are alike in symbols
_log = logging.getLogger(__name__)


@dataclass
class StoredHints:
    """Hints out of a store. ``embed`` is the encoder's, where it can tell sentences apart."""

    store: SkillStore
    find_places: FindPlaces = no_places
    embed: Embed | None = None
    _meaning: ByMeaning | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._meaning = ByMeaning(self.embed) if self.embed else None

    def for_question(self, question: str) -> tuple[Hint, ...]:
        """At most three, best first."""
        shape = masked(question, self.find_places)
        if not shape:
            return ()
        scored = self._scored(shape, [skill for skill in self._skills() if not skill.retired])
        good = [(score, skill) for score, skill in scored if score >= FLOOR]
        good.sort(key=lambda pair: (-pair[0] * _trust(pair[1]), pair[1].skill_id))
        return tuple(_hint(score, skill) for score, skill in _each_way_once(good)[:MOST])

    def _skills(self) -> Sequence[Skill]:
        try:
            return self.store.list()
        except PhotocraftError as error:
            _log.warning("no hints of earlier questions: %s (%s)", error.message, error.hint)
            return self.store.seeds

    def _scored(self, shape: str, skills: Sequence[Skill]) -> list[tuple[float, Skill]]:
        scored = [(by_symbols(shape, skill.when), skill) for skill in skills]
        if self._meaning is None:
            return scored
        scored.sort(key=lambda pair: (-pair[0], pair[1].skill_id))
        try:
            return [(self._by_meaning(shape, pair), pair[1]) for pair in scored[:_EMBEDDED]]
        except PhotocraftError as error:  # an encoder that cannot be loaded
            _log.warning("hints are chosen by words alone: %s", error.message)
            self._meaning = None
            return scored

    def _by_meaning(self, shape: str, scored: tuple[float, Skill]) -> float:
        assert self._meaning is not None
        found = self._meaning.of(shape, scored[1].when)
        return scored[0] if found is None else found


def _trust(skill: Skill) -> float:
    """Share of uses that won, as if one of two had before any."""
    return 0.5 + (skill.wins + 1) / (skill.wins + skill.losses + 2)


def _each_way_once(scored: list[tuple[float, Skill]]) -> list[tuple[float, Skill]]:
    """Two skills that say the same take no room twice."""
    said: set[tuple[tuple[str, ...], str]] = set()
    kept = []
    for score, skill in scored:
        way = (skill.sketch, skill.advice)
        if way not in said:
            said.add(way)
            kept.append((score, skill))
    return kept


def _hint(score: float, skill: Skill) -> Hint:
    return Hint(
        text=skill.hint(),
        skill_id=skill.skill_id,
        origin=skill.origin,
        score=round(min(1.0, score), 3),
        episodes=skill.episodes,
    )
