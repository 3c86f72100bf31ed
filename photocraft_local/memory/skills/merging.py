"""How a store takes in what an episode taught: the same way for alike questions is one skill.

Keeps the store small: few ways for one shape, and a limit over all. Text of a person is never
changed by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from photocraft_local.memory.skills.likeness import by_symbols
from photocraft_local.memory.skills.skill import MAX_LINES, Skill

MAX_LEARNED = 300
MAX_WAYS = 3  # for one shape and the same kinds of conditions
MAX_EPISODES = 20  # that a skill names, the newest
_ALIKE = 0.75
_LOOKING = ("view_photos", "fetch_image", "zoom_in", "get_metadata", "list_events", "lookup")


def absorbed(skills: Sequence[Skill], new: Skill) -> list[Skill]:
    """``skills`` with ``new``: merged into the one that is most alike, or beside them."""
    same = [skill for skill in skills if _same(skill, new)]
    if same:
        best = max(same, key=lambda skill: (by_symbols(skill.when, new.when), skill.skill_id))
        merged = _merged(best, new)
        return [merged if skill is best else skill for skill in skills]
    return _bounded([*skills, new])


def _same(one: Skill, other: Skill) -> bool:
    """The same way for alike questions. A seed stays what it is, so that nothing is lost when it is
    switched off."""
    return (
        one.origin != "seed"
        and _way(one) == _way(other)
        and set(one.kinds) == set(other.kinds)
        and by_symbols(one.when, other.when) >= _ALIKE
    )


def _way(skill: Skill) -> tuple[str, ...]:
    """Calls that only look at what was found do not make another way."""
    return tuple(line for line in skill.sketch if line.partition("(")[0] not in _LOOKING)


def _merged(old: Skill, new: Skill) -> Skill:
    """The shorter shape and the shorter way are the more general ones. Counts stay those of the
    old: a way that was found anew won nothing as a hint."""
    episodes = tuple(sorted({*old.episodes, *new.episodes}))[-MAX_EPISODES:]
    if old.origin != "learned":
        return replace(old, episodes=episodes)
    pitfalls = tuple(dict.fromkeys((*old.pitfalls, *new.pitfalls)))[:MAX_LINES]
    when = min((old.when, new.when), key=lambda shape: (len(shape.split()), shape))
    sketch = min((old.sketch, new.sketch), key=len)
    return replace(old, when=when, sketch=sketch, pitfalls=pitfalls, episodes=episodes)


def _bounded(skills: list[Skill]) -> list[Skill]:
    new = skills[-1]
    ways = [one for one in skills if one.origin == "learned" and _shape(one) == _shape(new)]
    if len(ways) > MAX_WAYS:
        skills.remove(min(ways, key=_worth))
    learned = [one for one in skills if one.origin == "learned"]
    if len(learned) > MAX_LEARNED:
        skills.remove(min(learned, key=_worth))
    return skills


def _shape(skill: Skill) -> tuple[str, frozenset[str]]:
    return skill.when, frozenset(skill.kinds)


def _worth(skill: Skill) -> tuple[bool, float, int, str, str]:
    """The least goes: retired, then by share of wins, episodes, and how long ago it was used."""
    share = (skill.wins + 1) / (skill.wins + skill.losses + 2)
    used = max(skill.last_used, skill.created)
    return not skill.retired, share, len(skill.episodes), used, skill.skill_id
