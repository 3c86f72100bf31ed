"""An order and a number of photos: the first, the last two, the northernmost, any three."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import cast

from photocraft_local.agent.planner.conditions import PlaceCondition
from photocraft_local.agent.planner.plan import Pick, PickBy
from photocraft_local.agent.planner.understand.phrases import phrases, table
from photocraft_local.agent.planner.understand.sheet import Sheet

_SEVERAL = "only one order at a time is followed"
_NO_PLACE = "from which place, is not said"


def take_pick(sheet: Sheet, start: int, end: int) -> Pick | None:
    """Claims the words of an order; a second order in the same stretch is blocked."""
    pick: Pick | None = None
    for phrase in phrases("picks"):
        for match in sheet.draft.matches(phrase.pattern, start, end):
            by = cast(PickBy, phrase.cells[0])
            if pick and pick.by != "best" and by == "best":
                pick = _with_count(sheet, pick, match)
            elif pick and pick.by != by:
                sheet.block(match.start(), match.end(), _SEVERAL)
            else:
                pick = _pick(sheet, by, match, end) or pick
    return pick


def _pick(sheet: Sheet, by: PickBy, match: re.Match[str], end: int) -> Pick | None:
    said = sheet.draft.claim(match.start(), match.end()).strip()
    place = ""
    if by in ("nearest", "farthest"):
        spot = _spot_behind(sheet, match.end(), end)
        if not spot:
            sheet.block(match.start(), match.end(), _NO_PLACE)
            return None
        place = spot
    return Pick(by, _count(match), said, place)


def _with_count(sheet: Sheet, pick: Pick, match: re.Match[str]) -> Pick:
    """ "the first | three photos": the number stands apart."""
    said = sheet.draft.claim(match.start(), match.end()).strip()
    return Pick(pick.by, _count(match), f"{pick.words} {said}", pick.place)


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
