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

from photocraft_local.places.areas import PlaceMention
from photocraft_local.places.keys import fold
from photocraft_local.places.ranking import ALIAS_WEIGHT, Named
from photocraft_local.places.sources import read_table

Lookup = Callable[[str], list[Named]]

_WORD = re.compile(r"[^\W\d_]+(?:\.(?=[^\W\d_]\.))?", re.UNICODE)
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_GAP = re.compile(r"[ \t]*|-|\. ?|['’]|, ?|\. ")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n\"“«(¿¡])[\s\"“«(¿¡]*$")
_CODES = {"US", "UK", "USA", "UAE"}  # also pronouns and the like when they are not in capitals
_MAX_WORDS = 5
_MAX_LETTERS = 8

# People that a place needs, by what speaks for it.
_CAPITAL = 100_000  # a capital only
_CAPITAL_AND_WEAK = 1_000  # a capital and "of" or "and"; or a capital and several words
_GERMAN_NOUN = 5_000  # a capital and a place word, in a German sentence
_LOWER = 20_000  # a place word only
_LOWER_ALIAS = 300_000  # a place word only, and another name than the main one
_NOTHING = 1_000_000  # neither, in an all lower-case question: "tokyo at night"
_LEAST_LETTERS = 4  # of a name without a capital
_COUNTRY_WEIGHT, _REGION_WEIGHT = 1_000_000, 200_000  # known to more people than live there
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
    article: bool  # … and "the", which no town takes
    weak: bool  # after "of", "and" …
    after: bool  # before "trip", a year …
    alone: bool  # nothing follows that it could describe
    other: bool  # it names something else together with the word behind it
    german: bool
    num_words: int


@lru_cache(maxsize=1)
def _classes() -> dict[str, frozenset[str]]:
    words: dict[str, set[str]] = {}
    for name, row in read_table("words.tsv"):
        words.setdefault(name, set()).update(fold(word) for word in row.split("|"))
    return {name: frozenset(values) for name, values in words.items()}


def find(text: str, lookup: Lookup) -> list[PlaceMention]:
    """Mentions in order of position, none overlapping. ``lookup`` gives the areas of a name,
    the likeliest first."""
    words = [_Word(m.start(), m.end(), m[0], fold(m[0])) for m in _WORD.finditer(text)]
    trusted = _case_means_something(words)
    mentions: list[PlaceMention] = []
    at = 0
    while at < len(words):
        if _EAST_ASIAN.match(words[at].text):
            mentions.extend(_in_east_asian(words[at], lookup))
            at += 1
            continue
        for size in range(min(_MAX_WORDS, len(words) - at), 0, -1):
            window = words[at : at + size]
            if named := _named(text, words, at, window, trusted, lookup):
                mentions.append(_mention(text, window[0].start, window[-1].end, named))
                break
        else:
            size = 1
        at += size
    return mentions


def _mention(text: str, start: int, end: int, named: list[Named]) -> PlaceMention:
    return PlaceMention(start, end, text[start:end], tuple(area for area, _ in named))


def _case_means_something(words: list[_Word]) -> bool:
    """False for shouting and for Titles Written Like This."""
    cased = [word.text for word in words if word.text[0].lower() != word.text[0].upper()]
    if not any(char.islower() for word in cased for char in word):
        return False
    long = [word for word in cased if len(word) > 3]
    return len(long) < 4 or sum(word[0].isupper() for word in long) < 0.9 * len(long)


def _named(
    text: str, words: list[_Word], at: int, window: list[_Word], trusted: bool, lookup: Lookup
) -> list[Named]:
    """The areas that the window names, empty if it names none or too little speaks for it."""
    for left, right in itertools.pairwise(window):
        if not _GAP.fullmatch(text[left.end : right.start]):
            return []
    classes = _classes()
    key = " ".join(word.key for word in window)
    name = text[window[0].start : window[-1].end]
    code = trusted and name.isupper() and name in _CODES
    if (key in classes["never"] and not code) or window[0].key in classes["edge"]:
        return []
    if window[-1].key in classes["edge"] | classes["end"] or len(key) < 2:
        return []
    named = lookup(name)
    if not named:
        return []
    return named if _accepted(key, named, _cues(text, words, at, window, trusted)) else []


def _accepted(key: str, named: list[Named], cues: _Cues) -> bool:
    classes = _classes()
    if cues.other:
        return False
    if key in classes["cued"]:
        return cues.capital and (cues.before or (cues.after and not cues.first))
    if key in classes["capital"]:
        return cues.capital and (cues.before or cues.after or not cues.first)
    if not cues.capital:
        return _accepted_in_lower_case(key, named, cues)
    people = max(_people(pair) for pair in named)
    if cues.before and not cues.article:
        return people >= _GERMAN_NOUN or not cues.german
    if cues.num_words > 1 or (cues.weak and not cues.german):
        return people >= _CAPITAL_AND_WEAK
    return people >= _CAPITAL


def _accepted_in_lower_case(key: str, named: list[Named], cues: _Cues) -> bool:
    wide = [pair for pair in named if pair[0].kind in ("country", "region") and pair[1]]
    if any(key == fold(area.name) or len(key) >= _LEAST_LETTERS for area, _ in wide):
        known = max(_people(pair) for pair in wide)
        return known >= (_LOWER if cues.before else _NOTHING) and (cues.before or cues.alone)
    if len(key) < _LEAST_LETTERS or cues.article:
        return False
    main = max((area.population for area, is_main in named if is_main), default=0)
    other = max((area.population for area, is_main in named if not is_main), default=0)
    if cues.before:
        return main >= _LOWER or other >= _LOWER_ALIAS
    return main >= (_CAPITAL if cues.num_words > 1 else _NOTHING) and cues.alone


def _people(pair: Named) -> float:
    area, main = pair
    least = {"country": _COUNTRY_WEIGHT, "region": _REGION_WEIGHT, "point": _CAPITAL}
    return max(area.population, least.get(area.kind, 0)) * (1.0 if main else ALIAS_WEIGHT)


def _cues(text: str, words: list[_Word], at: int, window: list[_Word], trusted: bool) -> _Cues:
    classes = _classes()
    end = at + len(window)
    keys = [word.key for word in words[max(0, at - 1) : end + 1]]
    behind = text[window[-1].end :].lstrip(" ,")
    following = words[end].key if end < len(words) else ""
    before = _stands_before(text, words, at)
    return _Cues(
        capital=trusted and _capitalised(window),
        first=bool(_SENTENCE.search(text[: window[0].start])),
        before=before is not None,
        article=bool(before),
        weak=at > 0 and keys[0] in classes["weak"],
        after=behind[:4].isdigit() or following in classes["after"],
        alone=not behind[:1].isalpha() or following in classes["small"],
        other=behind[:1].isalpha() and following in classes["notafter"],
        german=any(word.key in classes["german"] for word in words),
        num_words=len(window),
    )


def _capitalised(window: list[_Word]) -> bool:
    inside = _classes()["inside"]
    big = [word for index, word in enumerate(window) if index == 0 or word.key not in inside]
    return all(
        word.text[0].isupper() or word.text[0].lower() == word.text[0].upper() for word in big
    )


def _stands_before(text: str, words: list[_Word], at: int) -> int | None:
    """How many articles stand between word ``at`` and a place word right before; None without
    a place word."""
    classes = _classes()
    for articles in (0, 1, 2):
        end = at - articles
        if articles and not _phrase(text, words, end, at, classes["article"]):
            continue
        for size in (4, 3, 2, 1):
            if _phrase(text, words, end - size, end, classes["before"]):
                return articles
    return None


def _phrase(text: str, words: list[_Word], start: int, end: int, phrases: frozenset[str]) -> bool:
    """Whether words ``start:end`` are one of ``phrases``, with nothing but spaces up to the
    next word."""
    if start < 0 or end <= start:
        return False
    if " ".join(word.key for word in words[start:end]) not in phrases:
        return False
    upto = words[end].start if end < len(words) else len(text)
    return not text[words[end - 1].end : upto].strip(" '’-")


def _in_east_asian(word: _Word, lookup: Lookup) -> list[PlaceMention]:
    """Names inside a run without spaces: two letters and more, known to many people."""
    mentions: list[PlaceMention] = []
    run, at = word.text, 0
    while at < len(run) - 1:
        for size in range(min(_MAX_LETTERS, len(run) - at), 1, -1):
            name = run[at : at + size]
            named = [] if fold(name) in _classes()["never"] else lookup(name)
            needed = _LOWER if _PLACE_BEFORE.search(run[:at]) else _CAPITAL
            if named and max(area.population for area, _ in named) >= needed:
                start = word.start + at
                areas = tuple(area for area, _ in named)
                mentions.append(PlaceMention(start, start + size, name, areas))
                at += size
                break
        else:
            at += 1
    return mentions
