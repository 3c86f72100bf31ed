"""An order and a number of photos: the first, the last two, the northernmost, any three."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import cast

from photocraft_local.agent.planner.conditions import PlaceCondition
from photocraft_local.agent.planner.plan import Pick, PickBy
from photocraft_local.agent.planner.understand.phrases import phrase_of, phrases, table
from photocraft_local.agent.planner.understand.sheet import Sheet

_SEVERAL = "only one order at a time is followed"
_NO_UNIT = "of what that is the first or last, is not understood"
_ONE_EACH = "one for each is not followed; ask for one at a time"
_NO_PLACE = "from which place, is not said"


def mark_picks(sheet: Sheet) -> None:
    """Claims the words of every order in the question."""
    for phrase in phrases("picks"):
        for match in list(sheet.draft.matches(phrase.pattern)):
            unit = phrase_of("joints", "unit_behind").match(sheet.draft.text, match.end())
            if unit and sheet.draft.is_free(unit.start(), unit.end()):
                sheet.block(match.start(), unit.end(), _NO_UNIT)
                continue
            said = sheet.draft.claim(match.start(), match.end()).strip()
            if phrase_of("joints", "no_order").fullmatch(said):
                said = ""  # "the photo before": that it is the last one is not said
            pick = Pick(cast(PickBy, phrase.cells[0]), _count(match), said)
            sheet.picks.append((match.start(), match.end(), pick))
    if sheet.picks:
        for match in list(sheet.draft.matches(phrase_of("joints", "one_each"))):
            sheet.block(match.start(), match.end(), _ONE_EACH)


def take_picks(sheet: Sheet, start: int, end: int) -> tuple[Pick, ...]:
    """The order of ``text[start:end]``, or both of "the first and the last"; a second one that
    stands elsewhere in the stretch is blocked."""
    found = sorted((mark for mark in sheet.picks if start <= mark[0] < end), key=lambda m: m[0])
    sheet.picks = [mark for mark in sheet.picks if mark not in found]
    ends: tuple[Pick, ...] = ()
    chosen: Pick | None = None
    upto = start
    for first, last, pick in found:
        if pick.by in ("nearest", "farthest"):
            pick = replace(pick, place=_spot_behind(sheet, last, end))
            if not pick.place:
                sheet.block(first, last, _NO_PLACE)
                continue
        if chosen is None:
            chosen = pick
        elif "best" in (chosen.by, pick.by):
            chosen = _merged(chosen, pick)
        elif {chosen.by, pick.by} == {"first", "last"} and _joined(sheet, upto, first):
            ends = (chosen, pick)
        elif chosen.by != pick.by:
            sheet.block(first, last, _SEVERAL)
        upto = last
    return ends or ((chosen,) if chosen else ())


def _joined(sheet: Sheet, start: int, end: int) -> bool:
    """Whether nothing but "and" and a word for photos stands there."""
    between = sheet.draft.text[start:end]
    return phrase_of("joints", "and_pick").fullmatch(between) is not None


def _merged(one: Pick, other: Pick) -> Pick:
    """ "the first | three photos": the number stands apart."""
    order, number = (other, one) if one.by == "best" else (one, other)
    return replace(order, count=number.count, words=f"{one.words} {other.words}")


def _spot_behind(sheet: Sheet, start: int, end: int) -> str:
    """The place that "nearest to" names; it is no condition then."""
    for piece in sheet.within(start, end):
        condition = piece.condition
        between = sheet.draft.text[start : piece.start]
        if isinstance(condition, PlaceCondition) and len(condition.spots) == 1 and len(between) < 6:
            sheet.pieces.remove(piece)
            return condition.spots[0].name
    return ""


def _count(match: re.Match[str]) -> int:
    said = next((word for word in match.groupdict().values() if word), "1").casefold()
    return int(said) if said.isdecimal() else numbers().get(said, 1)


@lru_cache(maxsize=1)
def numbers() -> dict[str, int]:
    return {word: int(number) for number, words in table("numbers") for word in words.split("|")}
