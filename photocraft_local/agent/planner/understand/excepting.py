"""Sets that are left out as a whole: "cats except those in Lisbon in 2021"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.plan import Wanted
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.sheet import Sheet

_END = re.compile(r"[,;:?!。，？！；]|\.(?=\s|$)")
_MORE = re.compile(r" (?:and|or|und|oder|et|ou|y|o) (?:the |any |all )?\w+", re.IGNORECASE)
_NEAR = 3  # characters between the words for "except" and the first condition


def mark_excepted(sheet: Sheet) -> None:
    """Claims the words for "except the ones"; what follows up to a comma is left out."""
    draft = sheet.draft
    for match in list(draft.matches(phrase_of("joints", "except"))):
        end = _END.search(draft.text, match.end())
        stop = end.start() if end else len(draft.text)
        if draft.is_free(match.start(), match.end()) and draft.text[match.end() : stop].strip():
            draft.claim(match.start(), match.end())
            sheet.excepts.append((match.end(), stop))


def unturn_excepted(sheet: Sheet) -> None:
    """The NOT before an excepted stretch is its own, not its first condition's."""
    for start, _ in sheet.excepts:
        for index, piece in enumerate(sheet.pieces):
            condition: Any = piece.condition
            if start <= piece.start <= start + _NEAR and getattr(condition, "negated", False):
                sheet.pieces[index] = replace(piece, condition=replace(condition, negated=False))


def turn_denied(sheet: Sheet) -> None:
    """ "Japan but Tokyo", "photos that aren't from Italy": a NOT that stands farther off."""
    for index, piece in enumerate(sheet.pieces):
        condition: Any = piece.condition
        if getattr(condition, "negated", True):
            continue
        at = sheet.draft.claim_before(piece.start, phrase_of("joints", "not_before"))
        if at < piece.start:
            _block_more(sheet, piece.end)
            said = sheet.draft.text[at : piece.end].strip()
            condition = replace(condition, negated=True, words=said)
            sheet.pieces[index] = replace(piece, start=at, condition=condition)


def _block_more(sheet: Sheet, end: int) -> None:
    """ "apart from Portugal and the selfies": what is added to an exception."""
    more = _MORE.match(sheet.draft.text, end)
    if more and sheet.draft.is_free(more.start(), more.end()):
        sheet.block(more.start(), more.end(), "say it with 'without': two exceptions are mixed")


def take_excepted(sheet: Sheet, start: int, end: int) -> list[tuple[int, int]]:
    """The stretches inside ``text[start:end]``."""
    taken = [(at, upto) for at, upto in sheet.excepts if start <= at and upto <= end]
    sheet.excepts = [bounds for bounds in sheet.excepts if bounds not in taken]
    return taken


def _denied(condition: Any) -> str:
    """The words of the turned condition: they say by themselves that it is denied."""
    said: str = condition.words
    return said if condition.negated or words.NOT.match(said) else f"not {said}"


def without(wanted: Wanted, part: Wanted) -> Wanted:
    """A single condition or look is turned round; what has several parts is left out whole."""
    if part.is_empty:
        return wanted
    if part == Wanted(conditions=part.conditions) and len(part.conditions) == 1:
        condition: Any = part.conditions[0]
        if hasattr(condition, "negated"):
            turned = replace(condition, negated=not condition.negated, words=_denied(condition))
            return replace(wanted, conditions=(*wanted.conditions, turned))
    if part == Wanted(looks=part.looks) and len(part.looks) == 1:
        return replace(wanted, not_looks=(*wanted.not_looks, *part.looks[0].texts))
    return replace(wanted, but_not=(*wanted.but_not, part))
