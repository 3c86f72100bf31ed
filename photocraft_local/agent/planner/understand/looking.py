"""What is seen, from the words that nobody claimed: one look, several that all hold, or a choice.

"a dog and a cat, sunset" are three looks; "black and white cat" is one; in "the seaplane... an
airplane" the second word explains the first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.looks import phrase
from photocraft_local.agent.planner.plan import Look
from photocraft_local.agent.planner.understand.phrases import phrase_of, table
from photocraft_local.agent.planner.understand.sheet import Sheet

_APART = re.compile(r"[,;:!?。，；：！？、]|\.(?=\s|$)|(?<=\s)[-–—](?=\s)")
_RATHER = re.compile(
    r"\.{2,}|…|(?<=\w) ?/ ?(?=\w)|,? (?:i mean|or rather|that is|i\.e\.)(?= |,)", re.IGNORECASE
)
_MOST_WORDS = 3  # of a thing that "and" joins


def looks_in(sheet: Sheet, start: int, end: int) -> tuple[Look, ...]:
    """The unclaimed words of ``text[start:end]``."""
    rest = _unclaimed(sheet, start, end)
    looks: list[Look] = []
    for part in _APART.split(_RATHER.sub(" … ", rest)):
        choices = [phrase(choice) for choice in part.split("…")]
        known = tuple(dict.fromkeys(choice for choice in choices if choice))
        if len(known) > 1:
            looks.append(Look(known))
        elif known:
            things = _things(known[0])
            looks += [Look((thing,)) for thing in things]
            if len(things) > 1:
                sheet.notes.append(f"'{known[0]}': photos that show both; write 'or' for either")
    return tuple(dict.fromkeys(looks))


def _unclaimed(sheet: Sheet, start: int, end: int) -> str:
    text = sheet.draft.text
    said, upto = "", start
    for left, right in sheet.draft.segments(start, end):
        joint = " , " if any(upto <= at <= left for at in sheet.breaks) else " "
        said += joint + _with_weather(text[left:right], followed=right < len(text))
        upto = right
    return said


def _with_weather(text: str, *, followed: bool) -> str:
    """ "a dog on a rainy | Saturday", "un chien un samedi | pluvieux": the weather apart."""
    if not followed and _weather().fullmatch(text.strip(" .!?")):
        return f", {text.strip()} ,"
    found = _weather_of_a_day().search(text) if followed else None
    return f"{text[: found.start()]}, {found['weather']} ," if found else text


@lru_cache(maxsize=1)
def _weather() -> re.Pattern[str]:
    return phrase_of("weather", "day")


@lru_cache(maxsize=1)
def _weather_of_a_day() -> re.Pattern[str]:
    lead = r"(?:^|\b(?:on|in|during|at|an|in|bei|par|en))\s*(?:a|an|the|one|einem|einer|un|une|una)"
    return re.compile(rf"{lead}\s+(?P<weather>{_weather().pattern})\s*$", re.IGNORECASE)


def _things(text: str) -> list[str]:
    """The things that "and" joins, if each can stand alone."""
    joint = phrase_of("joints", "and")
    if text.casefold() in _listed("compounds"):
        return [text]
    said = joint.split(text)
    parts = [phrase(part) for part in said]
    named = [_is_named(part, said[at + 1 :]) for at, part in enumerate(parts)]
    if len(parts) < 2 or not all(map(_is_thing, parts, named)):
        return [text]
    return parts


def _is_named(text: str, others: Sequence[str]) -> bool:
    """Whether its last word, though an adjective too, is a thing here: "traffic light"; "an
    orange and a banana", not "an orange and a black cat"."""
    *before, last = text.casefold().split() or [""]
    if last not in _listed("nouns_too"):
        return False
    if before:
        return before[-1] not in _listed("adjectives")
    other = words.WITH_ARTICLE.match(others[0]) if others else None
    return other is not None and other["next"].casefold() not in _listed("adjectives")


def _is_thing(text: str, named: bool) -> bool:
    """Neither an adjective nor a whole scene."""
    said = text.casefold().split()
    if not 1 <= len(said) <= _MOST_WORDS or (said[-1] in _listed("adjectives") and not named):
        return False
    return not phrase_of("joints", "scene").search(f" {text} ")


@lru_cache(maxsize=4)
def _listed(name: str) -> frozenset[str]:
    """The words of a row of ``data/joints.tsv``."""
    rows = (row for key, row in table("joints") if key == name)
    return frozenset(word for row in rows for word in row.split("|"))
