"""Heads → relations: each with the set that it leans on, understood like the question itself.

The leftmost head of a stretch takes its anchor's words, in which further heads may stand; so
chains nest as they are said.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.conditions import CameraCondition, TimeCondition
from photocraft_local.agent.planner.mentions import Piece
from photocraft_local.agent.planner.plan import Apart, Relation, Wanted, Which
from photocraft_local.agent.planner.understand.clauses import simple
from photocraft_local.agent.planner.understand.heads import Head
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.picks import take_pick
from photocraft_local.agent.planner.understand.pictures import take_here_before, take_pictures
from photocraft_local.agent.planner.understand.sheet import Sheet

_NOTHING_SAID = "what it leans on is not said"
_SHIFTING = ("day", "week", "weekend", "month", "year")


def described(sheet: Sheet, heads: list[Head], start: int, end: int) -> Wanted:
    """The set that ``text[start:end]`` describes. Takes its heads out of ``heads``."""
    relations: list[Relation] = []
    shared: list[Wanted] = []
    while head := _next(heads, start, end):
        heads.remove(head)
        relation = _related(sheet, heads, head, end)
        if isinstance(relation, Wanted):
            shared.append(relation)
        elif relation:
            relations.append(relation)
    relations += take_here_before(sheet, start, end)
    like = take_pictures(sheet, start, end)
    pick = take_pick(sheet, start, end)
    wanted = simple(sheet, start, end)
    for more in shared:
        wanted = _both(wanted, more)
    relations += wanted.relations
    return replace(wanted, relations=tuple(relations), like=like, pick=pick or wanted.pick)


def _next(heads: list[Head], start: int, end: int) -> Head | None:
    inside = (head for head in heads if start <= head.start and head.end <= end)
    return min(inside, key=lambda head: head.start, default=None)


def _related(sheet: Sheet, heads: list[Head], head: Head, end: int) -> Relation | Wanted | None:
    """None if it is blocked; a set if the head says no more than that its photos are meant."""
    draft = sheet.draft
    upto = min(head.anchor_end, end) if head.anchor_start >= head.start else head.anchor_end
    cameras = [p for p in sheet.within(head.anchor_start, upto) if _is_camera(p)]
    sheet.pieces = [piece for piece in sheet.pieces if piece not in cameras]
    claim_subject(sheet, head.anchor_start, upto)
    anchor = described(sheet, heads, head.anchor_start, upto)
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


def _is_camera(piece: Piece) -> bool:
    return isinstance(piece.condition, CameraCondition)


def _which(head: Head, anchor: Wanted) -> Which:
    """ "the day after Kyoto": after the last day there; "the day after the parade": any."""
    if head.which:
        return cast(Which, head.which)
    if head.kind in _SHIFTING and head.shift and not anchor.looks and not anchor.relations:
        return "last" if head.shift > 0 else "first"
    return "each"


def claim_subject(sheet: Sheet, start: int, end: int) -> None:
    """ "we saw | a cow": who and what they did is not looked for; an unknown verb is named."""
    draft = sheet.draft
    match = phrase_of("fillers", "subject").match(draft.text, start, end)
    if match and draft.is_free(match.start(), match.end()):
        draft.claim(match.start(), match.end())
        start = match.end()
        verb = phrase_of("fillers", "deed").match(draft.text, start, end)
        if verb and draft.is_free(verb.start(), verb.end()):
            sheet.set_aside(verb.start(), verb.end(), "taken as a photo of what was so treated")


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
