"""A question without what is the person's own: "[thing] day after [thing] [place] [time]".

Every word of the result is one of ``vocabulary.symbols``, so that no name, date, id or thing of a
question is left, whatever it was. Times and places are found by code and only say where they were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date

from photocraft_local.errors import TimeWordsError
from photocraft_local.memory.skills.vocabulary import (
    NUMBER,
    PLACE,
    THING,
    TIME,
    symbols,
    symbols_of,
)
from photocraft_local.timelang import AnchoredTime, find_anchored, find_times

Span = tuple[int, int]
FindPlaces = Callable[[str], Iterable[Span]]
_SIDES = {"before": "before", "until": "before", "after": "after", "since": "since"}
_UNITS = {"minute": "hour", "moment": ""}
_MOST = 24  # symbols; a longer question is as good as its beginning
_WORD_END = re.compile(r"\s\S*\Z")
_MOST_READ = 4000  # characters, so that a page that was pasted as a question costs no seconds
_ONCE = {THING, NUMBER, PLACE, TIME}  # several in a row are one
_ANY_DAY = date(2000, 1, 1)  # what a time is does not matter, only where it stands


def no_places(text: str) -> Iterable[Span]:
    """Where names of places cannot be told, they are things."""
    return ()


def masked(question: str, find_places: FindPlaces = no_places) -> str:
    """The shape of ``question``; the same for any language where the tables have its words. Of a
    very long one the beginning is read, up to a whole word."""
    if len(question) > _MOST_READ:
        question = _WORD_END.split(question[:_MOST_READ], maxsplit=1)[0]
    marks: list[tuple[int, int, list[str]]] = []
    taken: list[Span] = []
    for start, end, shape in _marked(question, find_places):
        if start < end and all(end <= low or high <= start for low, high in taken):
            taken.append((start, end))
            marks.append((start, end, shape))
    found: list[str] = []
    at = 0
    for start, end, shape in sorted(marks):
        found += symbols_of(question[at:start]) + shape
        at = end
    found += symbols_of(question[at:])
    return " ".join(_joined(found)[:_MOST])


def is_masked(text: str) -> bool:
    """Whether ``text`` holds nothing but symbols."""
    return set(text.split()) <= symbols()


def _marked(question: str, find_places: FindPlaces) -> Iterable[tuple[int, int, list[str]]]:
    for head in find_anchored(question):
        if head.sure:
            yield head.start, head.end, _head(head)
    try:
        for mention in find_times(question, today=_ANY_DAY):
            yield mention.start, mention.end, ["not", TIME] if mention.negated else [TIME]
    except TimeWordsError:  # a date that does not exist: its figures are masked as numbers
        pass
    for start, end in find_places(question):
        yield start, end, [PLACE]


def _head(head: AnchoredTime) -> list[str]:
    unit = _UNITS.get(head.unit, head.unit)
    side = _SIDES.get(head.side) or (
        "after" if head.shift > 0 else "before" if head.shift < 0 else "same"
    )
    return [word for word in (head.which, unit, side) if word]


def _joined(words: list[str]) -> list[str]:
    kept: list[str] = []
    for word in words:
        if not (word in _ONCE and kept and kept[-1] == word):
            kept.append(word)
    return kept
