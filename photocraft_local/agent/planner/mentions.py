"""Times and places that a question mentions, joined to conditions as its words join them.

"in 2019 or 2020" and "in Italy and France" are one condition with two choices; "in June 2021
in the evening" and "in Lisbon, Portugal" are two conditions that both hold.
"""

from __future__ import annotations

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
from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.timelang import When, find_times

NEAR_KM = 25.0  # "near" without a distance
_KM_PER_UNIT = {"k": 1.0, "mi": 1.609344, "m": 0.001}
T = TypeVar("T")


class Places(Protocol):
    """What the reading needs of the gazetteer."""

    def find_in_text(self, text: str) -> list[PlaceMention]: ...

    def find(self, name: str) -> list[Area]: ...

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


def claim_times(draft: Draft, today: date) -> list[TimeCondition]:
    """Raises TimeWordsError for a date that does not exist."""
    return [piece.condition for piece in time_pieces(draft, today)]  # type: ignore[misc]


def claim_places(draft: Draft, places: Places) -> list[PlaceCondition]:
    """Blocks what is asked of a place but cannot be followed: directions, ways between."""
    return [piece.condition for piece in place_pieces(draft, places)]  # type: ignore[misc]


def time_pieces(draft: Draft, today: date) -> list[Piece]:
    """Raises TimeWordsError for a date that does not exist."""
    found = [
        _claimed(draft, mention.start, mention.end, mention.when, negated=mention.negated)
        for mention in find_times(draft.text, today=today)
        if draft.is_free(mention.start, mention.end)
    ]
    return [
        Piece(
            group[0].start,
            group[-1].end,
            TimeCondition(
                _words(draft, group), tuple(item.value for item in group), group[0].negated
            ),
        )
        for group in _grouped(draft, found, When.can_join)
    ]


def place_pieces(draft: Draft, places: Places) -> list[Piece]:
    """Blocks what is asked of a place but cannot be followed: directions, ways between."""
    found = [
        _claimed_spot(draft, mention)
        for mention in places.find_in_text(draft.text)
        if draft.is_free(mention.start, mention.end)
    ]
    groups = _grouped(draft, [item for item in found if item], _apart)
    return [
        Piece(
            group[0].start,
            group[-1].end,
            PlaceCondition(
                _words(draft, group), tuple(item.value for item in group), group[0].negated
            ),
        )
        for group in groups
    ]


def _claimed_spot(draft: Draft, mention: PlaceMention) -> _Found[Spot] | None:
    start, name = mention.start, mention.text
    for pattern in (words.BETWEEN, words.DIRECTION):
        if draft.before(start, pattern):
            at = draft.claim_before(start, pattern)
            said = draft.claim(at, mention.end)
            draft.blocked.append(Unused(said, "ways and directions are not followed yet"))
            return None
    km, at = None, start
    if within := draft.before(start, words.WITHIN):
        unit = within["unit"].lower()
        scale = next(km for mark, km in _KM_PER_UNIT.items() if unit.startswith(mark))
        km, at = float(within["number"]) * scale, draft.claim_before(start, words.WITHIN)
    elif draft.before(start, words.NEAR):
        km, at = NEAR_KM, draft.claim_before(start, words.NEAR)
    if km is not None and mention.areas[0].kind in ("country", "region"):
        said = draft.claim(at, mention.end)
        draft.blocked.append(Unused(said, "nearness is measured from a town; name one"))
        return None
    end = mention.end
    if behind := words.TRIP_BEHIND.match(draft.text[end:]):
        draft.claim(end, end + behind.end())
        end += behind.end()
    spot = Spot(name, mention.areas, None if km is None else max(km, 0.01))
    return _claimed(draft, start, end, spot, lead=at)


def _claimed(
    draft: Draft, start: int, end: int, value: T, *, lead: int = -1, negated: bool = False
) -> _Found[T]:
    """Claims the mention, its prepositions and a NOT before them. ``lead``: where words that
    were claimed already begin."""
    draft.claim(start, end)
    first = start if lead < 0 else lead
    first = draft.claim_before(first, words.LEAD)
    at = draft.claim_before(first, words.MENTION_NOT)
    negated = negated or at < first
    if not negated:
        at = draft.claim_before(first, words.TRIP)
    return _Found(draft.claim_before(at, words.LEAD), end, value, negated)


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
    for name, pattern in (("or", words.OR), ("and", words.AND), (",", words.COMMA)):
        if pattern.fullmatch(between) or (between and pattern.fullmatch(between.strip() + " ")):
            return name
    return ""


def _apart(one: Spot, other: Spot) -> bool:
    """Whether neither place can hold the other: two towns, two countries …"""
    kinds = one.areas[0].kind, other.areas[0].kind
    shared = {a.country_code for a in one.areas} & {a.country_code for a in other.areas}
    return kinds[0] == kinds[1] or not shared
