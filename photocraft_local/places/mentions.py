"""Place names in a question: longest match, guarded by capitals, place words and size.

A capital or a place word ("in", "near") must speak for a place; the smaller the town, the more
must speak for it. Words that are usually no place stand in ``data/words.tsv``. Knows names only
through the look-up that it is given.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from photocraft_local.places.areas import Area, PlaceMention
from photocraft_local.places.keys import fold
from photocraft_local.places.sources import read_table

Lookup = Callable[[str], list[Area]]

_WORD = re.compile(r"[^\W\d_]+(?:\.(?=[^\W\d_]\.))?", re.UNICODE)
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_GAP = re.compile(r"[ \t]+|-|\. ?|['’]|, ?|\. ")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n\"“«(¿¡])[\s\"“«(¿¡]*$")
_MAX_WORDS = 5
_MAX_LETTERS = 8

# People that a place needs, by what speaks for it.
_ALONE = 100_000  # a capital only
_LOWER = 20_000  # a place word only
_NOTHING = 1_000_000  # neither
_GERMAN_NOUN = 5_000  # a capital and a place word, in a German sentence
_PLACE_BEFORE = re.compile(r"(?:在|于|於|到|去|从|從|来自|來自|で|に|から|の)$")


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class _Cues:
    """What speaks for a candidate."""

    capital: bool
    first: bool  # begins a sentence
    before: bool  # after "in", "near" …
    weak: bool  # after "of", "and" …
    after: bool  # before "trip", a year …
    german: bool
    num_words: int


@lru_cache(maxsize=1)
def _classes() -> dict[str, frozenset[str]]:
    words: dict[str, set[str]] = {}
    for name, row in read_table("words.tsv"):
        words.setdefault(name, set()).update(fold(word) for word in row.split("|"))
    return {name: frozenset(values) for name, values in words.items()}


def find(text: str, lookup: Lookup) -> list[PlaceMention]:
    """Mentions in order of position, none overlapping."""
    words = [_Word(m.start(), m.end(), m[0], fold(m[0])) for m in _WORD.finditer(text)]
    trusted = _case_means_something(words)
    mentions: list[PlaceMention] = []
    at = 0
    while at < len(words):
        if _EAST_ASIAN.match(words[at].text):
            mentions.extend(_in_east_asian(text, words[at], lookup))
            at += 1
            continue
        for size in range(min(_MAX_WORDS, len(words) - at), 0, -1):
            window = words[at : at + size]
            if areas := _areas(text, words, at, window, trusted, lookup):
                start, end = window[0].start, window[-1].end
                mentions.append(PlaceMention(start, end, text[start:end], tuple(areas)))
                break
        else:
            size = 1
        at += size
    return mentions


def _case_means_something(words: list[_Word]) -> bool:
    """False for shouting and for Titles Written Like This."""
    cased = [word.text for word in words if word.text[0].lower() != word.text[0].upper()]
    if not any(char.islower() for word in cased for char in word):
        return False
    long = [word for word in cased if len(word) > 3]
    return len(long) < 4 or sum(word[0].isupper() for word in long) < 0.9 * len(long)


def _areas(
    text: str, words: list[_Word], at: int, window: list[_Word], trusted: bool, lookup: Lookup
) -> list[Area]:
    """The areas that the window names, empty if it names none or too little speaks for it."""
    for left, right in itertools.pairwise(window):
        if not _GAP.fullmatch(text[left.end : right.start]):
            return []
    classes = _classes()
    key = " ".join(word.key for word in window)
    if key in classes["never"] or window[-1].key in classes["inside"] - {"la"}:
        return []
    if len(window) == 1 and len(key) < 2:
        return []
    areas = lookup(text[window[0].start : window[-1].end])
    if not areas:
        return []
    cues = _cues(text, words, at, window, trusted)
    return areas if _accepted(key, areas, cues) else []


def _accepted(key: str, areas: list[Area], cues: _Cues) -> bool:
    classes = _classes()
    people = max(_weight(area) for area in areas)
    if key in classes["cued"]:
        return cues.capital and (cues.before or (cues.after and not cues.first))
    if key in classes["capital"]:
        return cues.capital and (cues.before or cues.after or not cues.first)
    if cues.capital and cues.before:
        return people >= _GERMAN_NOUN or not cues.german
    if cues.capital:
        enough = 1_000 if cues.num_words > 1 or (cues.weak and not cues.german) else _ALONE
        return people >= enough
    if cues.before:
        return people >= _LOWER
    return people >= (_ALONE if cues.num_words > 1 else _NOTHING)


def _weight(area: Area) -> int:
    """Countries and regions are known to more people than live there."""
    least = {"country": _NOTHING, "region": _ALONE}.get(area.kind, 0)
    return max(area.population, least)


def _cues(text: str, words: list[_Word], at: int, window: list[_Word], trusted: bool) -> _Cues:
    classes = _classes()
    keys = [word.key for word in words]
    end = at + len(window)
    following = text[window[-1].end :].lstrip(" ,")[:4]
    return _Cues(
        capital=trusted and _capitalised(window),
        first=bool(_SENTENCE.search(text[: window[0].start])),
        before=_stands_before(text, words, at),
        weak=at > 0 and keys[at - 1] in classes["weak"],
        after=following.isdigit() or (end < len(keys) and keys[end] in classes["after"]),
        german=len(classes["german"] & set(keys)) >= 1,
        num_words=len(window),
    )


def _capitalised(window: list[_Word]) -> bool:
    inside = _classes()["inside"]
    big = [word for index, word in enumerate(window) if index == 0 or word.key not in inside]
    return all(
        word.text[0].isupper() or word.text[0].lower() == word.text[0].upper() for word in big
    )


def _stands_before(text: str, words: list[_Word], at: int) -> bool:
    """Whether a place word, perhaps with an article, ends right before word ``at``."""
    classes = _classes()
    for articles in (0, 1, 2):
        end = at - articles
        if articles and not _phrase(text, words, end, at, classes["article"]):
            continue
        for size in (4, 3, 2, 1):
            if _phrase(text, words, end - size, end, classes["before"]):
                return True
    return False


def _phrase(text: str, words: list[_Word], start: int, end: int, phrases: frozenset[str]) -> bool:
    """Whether words ``start:end`` are one of ``phrases``, with nothing but spaces up to the
    next word."""
    if start < 0 or end <= start:
        return False
    if " ".join(word.key for word in words[start:end]) not in phrases:
        return False
    upto = words[end].start if end < len(words) else len(text)
    return not text[words[end - 1].end : upto].strip(" '’-")


def _in_east_asian(text: str, word: _Word, lookup: Lookup) -> list[PlaceMention]:
    """Names inside a run without spaces: two letters and more, known to many people."""
    mentions: list[PlaceMention] = []
    run, at = word.text, 0
    while at < len(run) - 1:
        for size in range(min(_MAX_LETTERS, len(run) - at), 1, -1):
            name = run[at : at + size]
            areas = [] if fold(name) in _classes()["never"] else lookup(name)
            cued = bool(_PLACE_BEFORE.search(run[:at]))
            if areas and max(_weight(area) for area in areas) >= (_LOWER if cued else _ALONE):
                start = word.start + at
                mentions.append(PlaceMention(start, start + size, name, tuple(areas)))
                at += size
                break
        else:
            at += 1
    return mentions
