"""Pictures that came with the question: "more of this", "where was this", "here before"."""

from __future__ import annotations

import re

from photocraft_local.agent.planner.plan import Relation, Wanted
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.sheet import Sheet

_NO_PICTURE = "no picture came with the question; give one with --image"


def mark_pictures(sheet: Sheet) -> None:
    """Claims the words that speak of pictures; those that need one are blocked without."""
    draft = sheet.draft
    likes = [match.span() for match in draft.matches(_key("like"))]
    if not sheet.pictures:
        for start, end in likes:
            sheet.block(start, end, _NO_PICTURE)
        return
    for match in draft.matches(_key("here_before")):
        sheet.places_again.append((match.start(), match.group().strip()))
        draft.claim(match.start(), match.end())
    for start, end in [*likes, *(match.span() for match in draft.matches(_key("this")))]:
        if draft.is_free(start, end):
            draft.claim(start, end)
            sheet.likes.append(start)


def take_pictures(sheet: Sheet, start: int, end: int) -> tuple[str, ...]:
    """The pictures, if ``text[start:end]`` speaks of them."""
    found = [at for at in sheet.likes if start <= at < end]
    sheet.likes = [at for at in sheet.likes if at not in found]
    return sheet.pictures if found else ()


def take_here_before(sheet: Sheet, start: int, end: int) -> tuple[Relation, ...]:
    """ "when was I here before": at the picture's place, before the picture."""
    found = [(at, said) for at, said in sheet.places_again if start <= at < end]
    sheet.places_again = [pair for pair in sheet.places_again if pair not in found]
    picture = Wanted(like=sheet.pictures)
    return tuple(
        relation
        for _, said in found[:1]
        for relation in (
            Relation("place", picture, words=said),
            Relation("before", picture, which="first", words=said),
        )
    )


def _key(key: str) -> re.Pattern[str]:
    return phrase_of("pictures", key)
