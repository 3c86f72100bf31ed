"""Words that no part of a plan stands for: named with the reason, and blocking where they matter.

Unknown places come before looks, since "in Atlantis" looks like nothing.
"""

from __future__ import annotations

import difflib
import re
from functools import lru_cache

from photocraft_local.agent.planner import words
from photocraft_local.agent.planner.mentions import Places
from photocraft_local.agent.planner.understand.phrases import phrases, table
from photocraft_local.agent.planner.understand.sheet import Sheet

_NO_PERSONS = "persons are not told apart: who is on a photo is not known"
_SLIP = 0.8  # likeness of two spellings of one name


def claim_unusable(sheet: Sheet, places: Places) -> None:
    """Claims them all over the question."""
    for phrase in phrases("unusable"):
        effect, reason = phrase.cells
        for match in list(sheet.draft.matches(phrase.pattern)):
            if effect == "blocked":
                sheet.block(match.start(), match.end(), reason)
            else:
                sheet.set_aside(match.start(), match.end(), reason)
        if reason == "who took a photo is not known":
            _block_unknown_places(sheet, places)
            block_names(sheet)


def block_names(sheet: Sheet) -> None:
    """People by their given names, where a capital tells them from words."""
    for match in list(sheet.draft.matches(_names())):
        sheet.block(match.start(), match.end(), _NO_PERSONS)


@lru_cache(maxsize=1)
def _names() -> re.Pattern[str]:
    names = "|".join(row[0] for row in table("names"))
    return re.compile(
        rf"(?:\b(?:of|with|and|von|mit|und|de|avec|et|con|y) )?\b(?:{names})\b(?:'s\b)?"
    )


def _block_unknown_places(sheet: Sheet, places: Places) -> None:
    for match in list(sheet.draft.matches(words.UNKNOWN_PLACE)):
        sheet.draft.claim(match.start(), match.end())
        start, end = match.span("name")
        sheet.block(
            start, end, f"neither a time nor a place that is known{_meant(match['name'], places)}"
        )


def _meant(name: str, places: Places) -> str:
    """Near names, if they are so near that a slip of the finger explains them."""
    near = difflib.get_close_matches(name, places.suggest(name), n=2, cutoff=_SLIP)
    return f"; did you mean {' or '.join(near)}?" if near else ""
