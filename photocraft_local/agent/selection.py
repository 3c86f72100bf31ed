"""One answer out of those of several runs, by evidence: what each candidate meets, not how many
runs gave it.

The rule stands in docs/backbone.md ("Several runs"). Nothing here depends on the order of the
runs. Knows conditions by their numbers and photos by their ids; neither texts nor pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

Rank = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class Condition:
    """``is_strong``: the question's words support what was checked, or every run that gives photos
    states it. ``broken_by``: those photos of the pool that break it, by the evidence. ``about``:
    which words of the question it reads; two runs may read them differently."""

    words: str
    is_strong: bool
    broken_by: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one run took the question for, and what it gave. ``states``: numbers of its conditions;
    ``accounts``: those of others that it accounts for in another way, as what led to an anchor.
    ``ways``: conditions of single parts ("in Italy, or of dogs"): one of them has to hold.
    ``covered``: the question's words that its conditions say; ``least``: the lowest probability
    among the looks of its photos and anchors, 0.5 where none was judged."""

    uids: tuple[str, ...]
    states: frozenset[int] = frozenset()
    accounts: frozenset[int] = frozenset()
    ways: frozenset[frozenset[int]] = frozenset()
    covered: frozenset[str] = frozenset()
    least: float = 0.5


@dataclass(frozen=True, slots=True)
class Selected:
    """``uids`` sorted. ``left_out``: what each other candidate breaks, by number. ``decided``:
    "held" (every condition), "rivals" (of two readings of the same words, the one with more
    evidence), "contest" (all candidates broke something, one reading stood out), or "tie" (none
    did). ``won``: which runs' readings that was."""

    uids: tuple[str, ...]
    left_out: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    decided: str = "held"
    won: tuple[int, ...] = ()


def selected(readings: Sequence[Reading], conditions: Sequence[Condition]) -> Selected:
    """The photos of all readings that hold. Empty readings count as such: what they looked for and
    did not find is among the conditions."""
    pool = sorted({uid for reading in readings for uid in reading.uids})
    breaks = {uid: _broken(uid, readings, conditions) for uid in pool}
    holding = [uid for uid in pool if not breaks[uid]]
    left_out = {uid: numbers for uid, numbers in breaks.items() if numbers}
    if pool and not holding:
        return _contested(readings, conditions, left_out)
    return _without_rivals(readings, conditions, holding, left_out)


def _broken(
    uid: str, readings: Sequence[Reading], conditions: Sequence[Condition]
) -> tuple[int, ...]:
    """Strong conditions that hold against a candidate and that it breaks."""
    giving = [reading for reading in readings if uid in reading.uids]
    broken = {
        number
        for number, condition in enumerate(conditions)
        if condition.is_strong
        and uid in condition.broken_by
        and not any(number in reading.accounts for reading in giving)
        and _is_held(number, readings)
    }
    return tuple(sorted(broken | _missed_ways(uid, readings, conditions)))


def _is_held(number: int, readings: Sequence[Reading]) -> bool:
    """Not if it is one part of an "or" for everybody who states it."""
    return any(number in reading.states for reading in readings)


def _missed_ways(
    uid: str, readings: Sequence[Reading], conditions: Sequence[Condition]
) -> set[int]:
    """Of a reading in parts that did not give the photo: the strong conditions of the part that it
    misses by least, if it misses them all."""
    missed: set[int] = set()
    for reading in readings:
        if not reading.ways or uid in reading.uids:
            continue
        if any(not way for way in reading.ways):
            continue
        each = [
            sorted(n for n in way if conditions[n].is_strong and uid in conditions[n].broken_by)
            for way in reading.ways
        ]
        fewest: list[int] = min(each, key=_least)
        missed.update(fewest)
    return missed


def _least(broken: list[int]) -> tuple[int, list[int]]:
    return len(broken), broken


def rank(reading: Reading, conditions: Sequence[Condition]) -> Rank:
    """By the evidence for a reading as a whole: how many words of the question it accounts for, how
    few strong conditions its photos break, its weakest look."""
    broken = sum(
        condition.is_strong
        and number not in reading.accounts
        and not condition.broken_by.isdisjoint(reading.uids)
        for number, condition in enumerate(conditions)
    )
    return len(reading.covered), -broken, round(reading.least, 3)


def _contested(
    readings: Sequence[Reading],
    conditions: Sequence[Condition],
    left_out: Mapping[str, tuple[int, ...]],
) -> Selected:
    """The readings contradict one another. The foremost gives its photos, possibly none."""
    ranks = [rank(reading, conditions) for reading in readings]
    won = tuple(number for number, one in enumerate(ranks) if one == max(ranks))
    uids = sorted({uid for number in won for uid in readings[number].uids})
    answers = {frozenset(readings[number].uids) for number in won}
    kept = {uid: numbers for uid, numbers in left_out.items() if uid not in uids}
    return Selected(tuple(uids), kept, "contest" if len(answers) == 1 else "tie", won)


def _without_rivals(
    readings: Sequence[Reading],
    conditions: Sequence[Condition],
    holding: Sequence[str],
    left_out: dict[str, tuple[int, ...]],
) -> Selected:
    """Two runs may read the same words in two ways that exclude each other, and neither way is the
    words' own ("my trip": 2019, 2020). The photos of the one with less evidence go."""
    ranks = [rank(reading, conditions) for reading in readings]
    beaten: dict[int, set[int]] = {}
    is_tied = False
    for at, other in permutations(range(len(readings)), 2):
        rivals = _rivals(readings[at], readings[other], conditions, frozenset(holding))
        if rivals and ranks[at] > ranks[other]:
            beaten.setdefault(other, set()).update(rivals)
        is_tied |= bool(rivals) and ranks[at] == ranks[other]
    stands = {
        uid
        for number, reading in enumerate(readings)
        for uid in reading.uids
        if number not in beaten
    }
    for number, by in beaten.items():
        for uid in (set(readings[number].uids) & set(holding)) - stands:
            left_out[uid] = tuple(sorted({*left_out.get(uid, ()), *by}))
    uids = tuple(uid for uid in holding if uid in stands)
    decided = "tie" if is_tied else "rivals" if beaten else "held"
    return Selected(uids, left_out, decided, _won(readings, beaten, uids))


def _won(
    readings: Sequence[Reading], beaten: Mapping[int, object], uids: Sequence[str]
) -> tuple[int, ...]:
    return tuple(
        number
        for number, reading in enumerate(readings)
        if number not in beaten and not set(uids).isdisjoint(reading.uids)
    )


def _rivals(
    one: Reading, other: Reading, conditions: Sequence[Condition], holding: frozenset[str]
) -> frozenset[int]:
    """Weak conditions of ``one`` that all photos of ``other`` break, where some of ``other`` about
    the same words do the same to ``one``; empty if they are no rivals."""
    mine, theirs = holding & set(one.uids), holding & set(other.uids)
    if not mine or not theirs:
        return frozenset()
    return frozenset(
        number
        for number in one.states - other.states
        for its in other.states - one.states
        if not (conditions[number].is_strong or conditions[its].is_strong)
        and conditions[number].about & conditions[its].about
        and theirs <= conditions[number].broken_by
        and mine <= conditions[its].broken_by
    )
