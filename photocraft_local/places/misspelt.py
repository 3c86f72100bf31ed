"""Misspelt place names, read only as places where the library has photos.

"Edinburg" may be a town in Texas or a slip; somebody with photos of Edinburgh and none of Texas
slipped. A word counts only if one single visited name is that near and something beside it, a
capital or a place word, speaks for a place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.places.cues import Word, cues_of, word_classes
from photocraft_local.places.keys import fold
from photocraft_local.places.visited import Visited

_WORD = re.compile(r"[^\W\d_]+")
_ONE_SLIP, _TWO_SLIPS = 5, 8  # letters that a name needs
_PLAIN = 7
_MAX_WORDS = 3
_KNOWN = 20_000  # people of a place whose name is no slip

Lookup = Callable[[str], list[Area]]


def find_misspelt(text: str, visited: Visited, lookup: Lookup) -> list[PlaceMention]:
    """Mentions whose text is the right name, with a note on what was written."""
    if not visited.addresses:
        return []
    words = [Word(m.start(), m.end(), m[0], fold(m[0])) for m in _WORD.finditer(text)]
    found: list[PlaceMention] = []
    at = 0
    while at < len(words):
        for size in range(min(_MAX_WORDS, len(words) - at), 0, -1):
            window = words[at : at + size]
            if mention := _read(text, words, at, window, visited, lookup):
                found.append(mention)
                at += size
                break
        else:
            at += 1
    return found


def _read(
    text: str,
    words: list[Word],
    at: int,
    window: list[Word],
    visited: Visited,
    lookup: Lookup,
) -> PlaceMention | None:
    key = " ".join(word.key for word in window)
    classes = word_classes()
    names = visited.labels.get(key[:1], {})
    if len(key) < _ONE_SLIP - 1 or key in names:
        return None
    if key in classes["never"] or key in classes["cued"]:
        return None
    near = [name for name in names if len(name) >= _ONE_SLIP and _is_near(key, name)]
    if len(near) != 1 or not _speaks_for_place(text, words, at, window, key, near[0]):
        return None
    start, end = window[0].start, window[-1].end
    if any(area.population >= _KNOWN for area in lookup(text[start:end])):
        return None  # right as it stands, only no place by what is around it
    areas = lookup(names[near[0]])
    if not areas:
        return None
    note = f"{text[start:end]!r} is read as {areas[0].label()}, where photos of yours are"
    return PlaceMention(start, end, areas[0].label(), tuple(areas), notes=(note,))


def _speaks_for_place(
    text: str, words: list[Word], at: int, window: list[Word], key: str, name: str
) -> bool:
    cues = cues_of(text, words, at, window, True, True)
    if cues.other or (cues.german and not cues.before):
        return False
    if _plural(key, name):
        return False  # "ports" is no Porto
    if len(key) >= _PLAIN and slips(key, name, 1) == 1:
        return True  # so long a word that it hardly is another one
    return (cues.before and not cues.article) or cues.whole or (cues.capital and not cues.first)


def _plural(key: str, name: str) -> bool:
    return key.endswith("s") and not name.endswith("s") and len(key) <= len(name)


def _is_near(key: str, name: str) -> bool:
    """One slip apart, or two if the name is long; the first letter is right."""
    if key[0] != name[0] or abs(len(key) - len(name)) > 2:
        return False
    allowed = 2 if len(name) >= _TWO_SLIPS else 1
    return 0 < slips(key, name, allowed) <= allowed


def slips(one: str, other: str, limit: int) -> int:
    """Letters left out, added, changed, or two swapped, between two words; ``limit + 1`` if it is
    more than ``limit``."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            cost = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != wanted))
            if _swapped(one, other, row, column):
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        if min(line) > limit:
            return limit + 1
        before, last = last, line
    return min(last[-1], limit + 1)


def _swapped(one: str, other: str, row: int, column: int) -> bool:
    return (
        row > 1
        and column > 1
        and one[row - 1] == other[column - 2]
        and one[row - 2] == other[column - 1]
    )
