"""Times and places that a question mentions, joined to conditions as its words join them.

"in 2019 or 2020" and "in Italy and France" are one condition with two choices; "in June 2021
in the evening" and "in Lisbon, Portugal" are two conditions that both hold.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Generic, Protocol, TypeVar

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.conditions import (
    Condition,
    PlaceCondition,
    Spot,
    TimeCondition,
)
from photocraft_local.agent.planner.draft import Draft, Unused
from photocraft_local.places.phrase import PlaceSpot
from photocraft_local.places.phrases import PlaceNames, find_places
from photocraft_local.timelang import USUAL, Habits, When, find_times

T = TypeVar("T")
_OWNED = re.compile(r"'s\b")
_WENT = re.compile(r"^(?:(?:visit(?:ed|ing)?|to|my|our) )+(?=\w)", re.IGNORECASE)


class Places(PlaceNames, Protocol):
    """What the reading needs of the gazetteer."""

    def suggest(self, name: str, *, limit: int = 3) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class _Found(Generic[T]):
    """A mention, with the small words to its left that belong to it."""

    start: int
    end: int
    value: T
    negated: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A condition and the words ``text[start:end]`` that say it."""

    start: int
    end: int
    condition: Condition
    notes: tuple[str, ...] = ()  # how something doubtful was taken


def time_pieces(draft: Draft, today: date, habits: Habits = USUAL) -> list[Piece]:
    """Raises TimeWordsError for a date that does not exist."""
    found = [
        _claimed(draft, start, mention.end, mention.when, negated=mention.negated)
        for mention in find_times(draft.text, today=today, habits=habits)
        if (start := draft.first_free(mention.start, mention.end)) < mention.end
        and draft.is_free(start, mention.end)
    ]
    return [
        Piece(
            group[0].start,
            group[-1].end,
            TimeCondition(
                _words(draft, group), tuple(item.value for item in group), group[0].negated
            ),
        )
        for group in _grouped(draft, found, are_choices)
    ]


def place_pieces(draft: Draft, places: Places) -> list[Piece]:
    """Blocks what is asked of a place but cannot be followed."""
    pieces = []

    def parted(start: int, end: int) -> bool:
        return not draft.is_free(start, end)

    for phrase in find_places(draft.text, places, parted=parted):
        start = draft.first_free(phrase.start, phrase.end)
        end = draft.last_free(start, phrase.end)
        only_small = words.LEAD.fullmatch(draft.text[start:end] + " ")
        if start >= end or only_small or not draft.is_free(start, end):
            continue
        at = draft.claim_before(start, words.CJK_NOT)
        negated = phrase.negated or at < start
        said = draft.claim(start, end).strip()
        if owned := _OWNED.match(draft.text, end):  # "Lisbon's trams"
            draft.claim(end, owned.end())
        if phrase.problem:
            reason = "; ".join(part for part in (phrase.problem, phrase.hint) if part)
            draft.blocked.append(Unused(said, reason))
            continue
        said = _WENT.sub("", said)
        spots = tuple(_spot(spot) for spot in phrase.spots)
        pieces.append(Piece(at, end, PlaceCondition(said, spots, negated), phrase.notes))
    return pieces


def _spot(spot: PlaceSpot) -> Spot:
    km = spot.km if spot.relation in ("near", "within") else None
    return Spot(spot.name, (spot.area, *spot.others), km, spot)


def _claimed(draft: Draft, start: int, end: int, value: T, *, negated: bool = False) -> _Found[T]:
    """Claims the mention, its prepositions and a NOT before them."""
    draft.claim(start, end)
    first = draft.claim_before(start, words.LEAD)
    at = draft.claim_before(first, words.MENTION_NOT)
    negated = negated or at < first
    if not negated:
        at = draft.claim_before(first, words.TRIP)
    return _Found(draft.claim_before(at, words.LEAD), end, value, negated)


def are_choices(one: When, other: When) -> bool:
    """Whether no time is both: "2021, 2022" are two choices, "2021, 12 June 2021" is one day."""
    spans = itertools.product(one.intervals, other.intervals)
    return one.can_join(other) and not any(a[0] < b[1] and b[0] < a[1] for a, b in spans)


def _words(draft: Draft, group: Sequence[_Found[T]]) -> str:
    return draft.text[group[0].start : group[-1].end].strip()


def _grouped(
    draft: Draft, found: Sequence[_Found[T]], choices: Callable[[T, T], bool]
) -> list[list[_Found[T]]]:
    """Neighbours that are choices of one condition. Joined by "or" they always are; by "and" or
    a comma only if ``choices`` says that one photo cannot meet both."""
    groups: list[list[_Found[T]]] = []
    for item in found:
        last = groups[-1][-1] if groups else None
        if last is not None and last.negated and not item.negated and _joint(draft, last, item):
            item = _Found(item.start, item.end, item.value, True)
        if last is not None and last.negated == item.negated:
            joint = _joint(draft, last, item)
            if joint == "or" or (joint and choices(last.value, item.value)):
                draft.claim(last.end, item.start)
                groups[-1].append(item)
                continue
        groups.append([item])
    return groups


def _joint(draft: Draft, left: _Found[T], right: _Found[T]) -> str:
    """ "or", "and", "," if nothing else stands between two mentions, else nothing."""
    between = draft.text[left.end : right.start]
    if between.isspace():  # "2021 2022"; but "in summer in December" must be both
        return "" if " " in draft.text[right.start : right.end] else ","
    for name, pattern in (("or", words.OR), ("and", words.AND), (",", words.COMMA)):
        if pattern.fullmatch(between) or (between and pattern.fullmatch(between.strip() + " ")):
            return name
    return ""
