"""Heads → relations: each with the set that it leans on, understood like the question itself.

The leftmost head of a stretch takes its anchor's words, in which further heads may stand; so
chains nest as they are said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.conditions import CameraCondition, TimeCondition
from photocraft_local.agent.planner.mentions import Piece
from photocraft_local.agent.planner.plan import Apart, Pick, Relation, RelationKind, Wanted, Which
from photocraft_local.agent.planner.understand.clauses import simple
from photocraft_local.agent.planner.understand.excepting import take_excepted, without
from photocraft_local.agent.planner.understand.heads import UNITS, Head
from photocraft_local.agent.planner.understand.picks import take_picks
from photocraft_local.agent.planner.understand.pictures import (
    take_here_before,
    take_pictures,
    take_unlike,
)
from photocraft_local.agent.planner.understand.sheet import Sheet

_NOTHING_SAID = "what it leans on is not said"
_RIGHT = re.compile(r"(?:right|just|directly|immediately|straight)\b", re.IGNORECASE)


def described(sheet: Sheet, heads: list[Head], start: int, end: int) -> Wanted:
    """The set that ``text[start:end]`` describes. Takes its heads out of ``heads``."""
    relations: list[Relation] = []
    choices: list[tuple[Relation, ...]] = []
    shared: list[Wanted] = []
    while head := _next(heads, start, end):
        heads.remove(head)
        relation = _related(sheet, heads, head, end)
        if isinstance(relation, Wanted):
            shared.append(relation)
        elif relation and head.is_choice and relations:
            relations, choices = relations[:-1], [(relations[-1], relation)]
        elif relation and head.is_choice and choices:
            choices[-1] = (*choices[-1], relation)
        elif relation:
            relations.append(relation)
    left_out = [described(sheet, heads, *bounds) for bounds in take_excepted(sheet, start, end)]
    relations += take_here_before(sheet, start, end)
    like = take_pictures(sheet, start, end)
    left_out += take_unlike(sheet, start, end)
    own = [unit for unit in sheet.units if start <= unit.start() < end]
    sheet.units = [unit for unit in sheet.units if unit not in own]
    picks = take_picks(sheet, start, end)
    pick = picks[0] if picks else None
    wanted = simple(sheet, start, end)
    for more in shared:
        wanted = _both(wanted, more)
    relations += wanted.relations
    relations += _of_itself(sheet, wanted, relations, own)
    pick = _beside(pick, relations)
    relations = [_next_to(relation, pick) for relation in relations]
    wanted = replace(wanted, relations=tuple(relations), like=like, pick=pick or wanted.pick)
    if choices:
        either = tuple(Wanted(relations=(relation,)) for relation in choices[-1])
        wanted = _both(wanted, Wanted(either=either))
    for part in left_out:
        wanted = without(wanted, part)
    if len(picks) > 1:
        return Wanted(either=tuple(replace(wanted, pick=one) for one in picks))
    return wanted


def _of_itself(
    sheet: Sheet, wanted: Wanted, others: Sequence[Relation], said: Sequence[re.Match[str]]
) -> list[Relation]:
    """ "in Tokyo on the first day": the first day of the rest."""
    relations = []
    for match in said:
        unit = next(name for name in UNITS if match[name])
        anchor = Wanted(conditions=wanted.conditions, relations=tuple(others))
        if anchor.is_empty:
            sheet.block(match.start(), match.end(), _NOTHING_SAID)
        else:
            which: Which = "first" if match["first"] else "last"
            kind = cast(RelationKind, unit)
            relations.append(Relation(kind, anchor, which, words=match.group().strip()))
    return relations


def _beside(pick: Pick | None, relations: Sequence[Relation]) -> Pick | None:
    """ "the two photos after the concert" are the first two."""
    kinds = {relation.kind for relation in relations}
    if pick and pick.by == "best" and kinds & {"before", "after"}:
        return replace(pick, by="first" if "after" in kinds else "last")
    return pick


def _next_to(relation: Relation, pick: Pick | None) -> Relation:
    """ "the photo right before": the nearest one in time, however long before."""
    beside = {"before": "last", "after": "first"}.get(relation.kind)
    if pick and pick.by == beside and pick.count == 1 and _RIGHT.match(relation.words):
        return replace(relation, within=None)
    return relation


def _next(heads: list[Head], start: int, end: int) -> Head | None:
    inside = (head for head in heads if start <= head.start and head.end <= end)
    return min(inside, key=lambda head: head.start, default=None)


def _related(sheet: Sheet, heads: list[Head], head: Head, end: int) -> Relation | Wanted | None:
    """None if it is blocked; a set if the head says no more than that its photos are meant."""
    draft = sheet.draft
    upto = min(head.anchor_end, end) if head.anchor_start >= head.start else head.anchor_end
    begin = _begin(sheet, head)
    cameras = [p for p in sheet.within(begin, upto) if _is_camera(p)]
    sheet.pieces = [piece for piece in sheet.pieces if piece not in cameras]
    anchor = described(sheet, heads, begin, upto)
    sheet.pieces += cameras
    at = draft.claim_before(head.first, words.LEAD)
    first = draft.claim_before(at, words.MENTION_NOT)
    if anchor.is_empty:
        said = draft.text[head.start : head.end].strip()
        sheet.block(head.start, head.end, _NOTHING_SAID)
        sheet.notes.append(f"'{said}' leans on photos that the question does not describe")
        return None
    if head.hours:
        said = draft.text[head.start : head.end].strip()
        sheet.pieces.append(Piece(head.start, head.end, TimeCondition(said, (head.hours,))))
    if head.is_meanwhile and not anchor.looks and first == at and not head.which:
        return anchor
    return Relation(
        head.kind,
        anchor,
        _which(head, anchor),
        head.shift,
        head.within,
        head.km,
        cast(Apart, head.apart),
        negated=first < at,
        words=draft.text[head.start : head.end].strip(),
    )


def _begin(sheet: Sheet, head: Head) -> int:
    """Where the anchor's words begin, with the small words of a place ("在东京的第一天")."""
    at = head.anchor_start
    return min([p.start for p in sheet.pieces if p.start < at < p.end], default=at)


def _is_camera(piece: Piece) -> bool:
    return isinstance(piece.condition, CameraCondition)


def _which(head: Head, anchor: Wanted) -> Which:
    """ "the day after Kyoto": after the last day there; "the day after the parade": any."""
    if head.which:
        return cast(Which, head.which)
    lasts = not (anchor.looks or anchor.relations or anchor.like or anchor.pick)
    if head.kind in UNITS and head.shift and lasts:
        return "last" if head.shift > 0 else "first"
    return "each"


def _both(one: Wanted, other: Wanted) -> Wanted:
    return replace(
        one,
        looks=one.looks + other.looks,
        not_looks=one.not_looks + other.not_looks,
        conditions=one.conditions + other.conditions,
        relations=one.relations + other.relations,
        either=one.either + other.either,
        but_not=one.but_not + other.but_not,
        like=one.like + other.like,
        pick=one.pick or other.pick,
    )
