"""Place names in a question: longest match, guarded by capitals, place words and size.

A capital or a place word ("in", "near") must speak for a place; the smaller the town, the more
must speak for it (``cues``). Knows names only through the look-up that it is given.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from photocraft_local.places.accepting import CAPITAL, LOWER, WIDE, accepted
from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.places.cues import Word, cues_of, word_classes
from photocraft_local.places.keys import fold
from photocraft_local.places.ranking import Named

Lookup = Callable[[str], list[Named]]
Visits = Callable[[Area], int]

_WORD = re.compile(r"[^\W\d_]+(?:\.(?=[^\W\d_]\.))?", re.UNICODE)
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_GAP = re.compile(r"[ \t]*|-|\. ?|['’]|, ?|\. ")
_CODES = {
    "US",
    "UK",
    "USA",
    "U.S.A",
    "U.S",
    "U.K",
    "UAE",
    "LA",
    "NY",
    "SF",
    "DC",
}  # also pronouns and the like when they are not in capitals
_MAX_WORDS = 5
_MAX_LETTERS = 8

_MOST_ASKED = 5  # of the areas of a name, where photos could be: the ranking puts those first
_GENITIVE = re.compile(  # "außerhalb Lissabons", "im Westen Portugals"
    r"(?i)\b(?:außerhalb|innerhalb|nördlich|südlich|östlich|westlich|norden|süden|osten|westen|nähe"
    r"|umgebung|mitte|herzen|altstadt|straßen) $"
)
_THE_US = re.compile(r"(?i)\b(?:in|from|across|around|through|to|visiting|outside) the $")
_SIDES = {
    "nordost": "northeast", "nordwest": "northwest", "südost": "southeast", "südwest": "southwest",
    "nord": "north", "süd": "south", "ost": "east", "west": "west",
}  # fmt: skip
_COMPOUND = re.compile(rf"(?i)(?P<side>{'|'.join(_SIDES)})(?P<name>[^\W\d_]{{4,}})$")
_ONE_OF_MANY = frozenset("a an un une una ein eine einen einem einer eines".split())  # noqa: SIM905
_LIST_JOINT = re.compile(r"(?i),? (?:and|or|und|oder|et|ou|y|o) |, | ?& ?")
_PLACE_BEFORE = re.compile(r"(?:在|于|於|到|去|从|從|来自|來自|で|に|から|の)$")


def find(text: str, lookup: Lookup, visits: Visits = lambda area: 0) -> list[PlaceMention]:
    """Mentions in order of position, none overlapping. ``lookup`` gives the areas of a name,
    the likeliest first; ``visits`` how many photos of the library an area holds."""
    words = [Word(m.start(), m.end(), m[0], fold(m[0])) for m in _WORD.finditer(text)]
    trusted = _case_means_something(words)
    mentions: list[PlaceMention] = []
    doubtful: list[PlaceMention] = []
    at = 0
    while at < len(words):
        if _EAST_ASIAN.match(words[at].text):
            mentions.extend(_in_east_asian(words[at], lookup))
            at += 1
            continue
        for size in range(min(_MAX_WORDS, len(words) - at), 0, -1):
            window = words[at : at + size]
            if named := _named(text, words, at, window, trusted, lookup, visits):
                mentions.append(_mention(text, window[0].start, window[-1].end, named))
                break
        else:
            size = 1
            mentions.extend(_with_side(words[at], lookup))
            doubtful.extend(_listed_name(words[at], trusted, lookup))
        at += size
    return _with_listed(text, mentions, doubtful)


def _listed_name(word: Word, trusted: bool, lookup: Lookup) -> Iterator[PlaceMention]:
    """A country or city that is also a given name: it counts beside another of its kind."""
    classes = word_classes()
    kinds = (("country", classes["cued"]), ("city", classes["given"]))
    kind = next((kind for kind, keys in kinds if word.key in keys), "")
    if trusted and word.text[0].isupper() and kind:
        areas = tuple(area for area, main in lookup(word.text) if main and area.kind == kind)
        if areas:
            yield PlaceMention(word.start, word.end, word.text, areas)


def _with_listed(
    text: str, mentions: list[PlaceMention], doubtful: list[PlaceMention]
) -> list[PlaceMention]:
    """ "Georgia and Armenia" are two countries, "Georgia and Victoria" are not."""
    for one in doubtful:
        for other in mentions:
            first, last = sorted((one, other), key=lambda mention: mention.start)
            joint = _LIST_JOINT.fullmatch(text[first.end : last.start])
            if joint and other.areas and other.areas[0].kind == one.areas[0].kind:
                mentions.append(one)
                break
    return sorted(mentions, key=lambda mention: mention.start)


def _with_side(word: Word, lookup: Lookup) -> Iterator[PlaceMention]:
    """ "Norditalien", "Südfrankreich": German puts the part of a land before its name."""
    if match := _COMPOUND.match(word.text):
        areas = tuple(area for area, main in lookup(match["name"]) if main and area.kind in WIDE)
        if areas:
            yield PlaceMention(
                word.start,
                word.end,
                match["name"].capitalize(),
                areas,
                _SIDES[match["side"].lower()],
            )


def _mention(text: str, start: int, end: int, named: list[Named]) -> PlaceMention:
    return PlaceMention(start, end, text[start:end], tuple(area for area, _ in named))


def _case_means_something(words: list[Word]) -> bool:
    """False for shouting and for Titles Written Like This."""
    cased = [word.text for word in words if word.text[0].lower() != word.text[0].upper()]
    if not any(char.islower() for word in cased for char in word):
        return False
    long = [word for word in cased if len(word) > 3]
    return len(long) < 4 or sum(word[0].isupper() for word in long) < 0.9 * len(long)


def _named(
    text: str,
    words: list[Word],
    at: int,
    window: list[Word],
    trusted: bool,
    lookup: Lookup,
    visits: Visits,
) -> list[Named]:
    """The areas that the window names, empty if it names none or too little speaks for it."""
    for left, right in itertools.pairwise(window):
        if not _GAP.fullmatch(text[left.end : right.start]):
            return []
    classes = word_classes()
    if at and _is_one_of_many(text, words[at - 1], window):
        return []
    key = " ".join(word.key for word in window)
    name = text[window[0].start : window[-1].end]
    code = trusted and name.isupper() and name in _CODES
    if name == "us" and _THE_US.search(text[: window[0].start]):
        return lookup(name)
    if (key in classes["never"] and not code) or window[0].key in classes["edge"]:
        return []
    if (window[-1].key in classes["edge"] | classes["end"] and not code) or len(key) < 2:
        return []
    named = lookup(name)
    if not named and name.endswith("s") and _GENITIVE.search(text[: window[0].start]):
        named = lookup(name[:-1])
    if not named:
        return []
    visited = any(visits(area) for area, _ in named[:_MOST_ASKED])
    cues = cues_of(text, words, at, window, trusted, visited)
    return named if accepted(key, named, cues) else []


def _is_one_of_many(text: str, before: Word, window: list[Word]) -> bool:
    """ "una granada", "a turkey": behind such an article nothing in lower case is a place."""
    beside = not text[before.end : window[0].start].strip()
    return beside and before.text.lower() in _ONE_OF_MANY and window[0].text[0].islower()


def _in_east_asian(word: Word, lookup: Lookup) -> list[PlaceMention]:
    """Names inside a run without spaces: two letters and more, known to many people."""
    mentions: list[PlaceMention] = []
    run, at = word.text, 0
    classes = word_classes()
    while at < len(run) - 1:
        for size in range(min(_MAX_LETTERS, len(run) - at), 1, -1):
            name = run[at : at + size]
            key = fold(name)
            if key in classes["never"]:  # "向日葵" is a flower, and "向日" in it no town
                at += size
                break
            said = _PLACE_BEFORE.search(run[:at])
            named = [] if key in classes["cued"] and not said else lookup(name)
            needed = LOWER if said else CAPITAL
            if named and run.startswith(tuple(classes["hanafter"]), at + size):
                at += size  # "法国面包" is bread
                break
            if named and max(area.population for area, _ in named) >= needed:
                start = word.start + at
                areas = tuple(area for area, _ in named)
                mentions.append(PlaceMention(start, start + size, name, areas))
                at += size
                break
        else:
            at += 1
    return mentions
