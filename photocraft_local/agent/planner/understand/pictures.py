"""Pictures that came with the question: "more of this", "where was this", "here before"."""

from __future__ import annotations

import re

from photocraft_local.agent.planner.plan import Relation, Wanted
from photocraft_local.agent.planner.understand.phrases import phrase_of
from photocraft_local.agent.planner.understand.sheet import Sheet

_NO_PICTURE = "no picture came with the question; give one with --image"


# With a picture at hand, what is not said to lean on anything leans on it.
_OF_IT = [
    (r"\bthe same (day|week|weekend|month|year|trip|event|place|spot)\b(?! (?:as|like|that|where"
     r"|when|with|of|in)\b)", r"the same \1 as this"),
    (r"\b(?:that|this) (day|week|weekend|trip|event)\b(?! (?:when|that|where|in|with|of)\b)",
     r"the same \1 as this"),
    (r"\b(?:more|other) (?:photos|pictures|pics|images) (?:from|taken|of) "
     r"(?:here|this (?:place|spot))\b(?! before)", "photos from the same place as this"),
    (r"\b(within \d[\d.,]* ?(?:km|kilomet(?:er|re)s?|miles?|m|met(?:er|re)s)) (?:of|from) "
     r"(?:this|here)\b(?! \w)", r"\1 of where this was taken"),
]  # fmt: skip
_LEANING = [(re.compile(pattern, re.IGNORECASE), meant) for pattern, meant in _OF_IT]


def leaning(text: str) -> str:
    """The question with "as this" where a picture came with it and nothing else is named."""
    for pattern, meant in _LEANING:
        text = pattern.sub(meant, text)
    return text


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
            denied = draft.claim_before(start, _key("unlike")) < start
            (sheet.unlikes if denied else sheet.likes).append(start)


def take_pictures(sheet: Sheet, start: int, end: int) -> tuple[str, ...]:
    """The pictures, if ``text[start:end]`` speaks of them."""
    found = [at for at in sheet.likes if start <= at < end]
    sheet.likes = [at for at in sheet.likes if at not in found]
    return sheet.pictures if found else ()


def take_unlike(sheet: Sheet, start: int, end: int) -> tuple[Wanted, ...]:
    """ "not like this": what looks like the pictures is left out."""
    found = [at for at in sheet.unlikes if start <= at < end]
    sheet.unlikes = [at for at in sheet.unlikes if at not in found]
    return (Wanted(like=sheet.pictures),) if found else ()


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
