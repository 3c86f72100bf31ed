"""What in a question speaks for a word being a place: capitals, place words, times beside it.

Owns the word classes of ``data/words.tsv`` and how they are seen around a candidate; decides
nothing and knows no place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from photocraft_local.places.keys import fold
from photocraft_local.places.sources import read_table

_TIME_BEHIND = re.compile(r"[ ,]*(?:(?:in|from|during|im|en) )?(\d{4}\b|[^\W\d_]+)")
_LIST_BEHIND = re.compile(r"(?:,? (?:and|or|und|oder|et|ou|y|o)|,|,? &) ([^\W\d_]+)")
_OWNER = re.compile(r"['’]s\b")
_WORD_BEFORE = re.compile(r"(\d{4}|[^\W\d_]+)[ ,]*$")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n\"“«(¿¡])[\s\"“«(¿¡]*$")


@dataclass(frozen=True, slots=True)
class Word:
    start: int
    end: int
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Cues:
    """What speaks for a candidate."""

    capital: bool
    first: bool  # begins a sentence
    before: bool  # after "in", "near" …
    of: bool  # and that word is "von", as before things
    article: bool  # … and "the", which no town takes
    weak: bool  # after "of", "and" …
    after: bool  # before "trip", a time …
    dated: bool  # a time stands behind it
    beside: bool  # before or after a time or "photos"
    alone: bool  # nothing follows that it could describe
    whole: bool  # it is all that is asked
    listed: bool  # before "and", "or" or a comma and another capital
    other: bool  # it names something else together with the word behind it
    german: bool
    num_words: int
    visited: bool  # photos of the library lie there
    company: bool  # after "and" or "with", as persons are
    owner: bool  # before "'s", as persons and shops are


@lru_cache(maxsize=1)
def word_classes() -> dict[str, frozenset[str]]:
    words: dict[str, set[str]] = {}
    for name, row in read_table("words.tsv"):
        words.setdefault(name, set()).update(fold(word) for word in row.split("|"))
    return {name: frozenset(values) for name, values in words.items()}


def cues_of(
    text: str, words: list[Word], at: int, window: list[Word], trusted: bool, visited: bool
) -> Cues:
    classes = word_classes()
    end = at + len(window)
    keys = [word.key for word in words[max(0, at - 1) : end + 1]]
    behind = text[window[-1].end :].lstrip(" ,")
    following = words[end].key if end < len(words) else ""
    nearby = {word.key for word in words[end : end + 2]}
    dated = _time_beside(text, window)
    before = _stands_before(text, words, at)
    return Cues(
        capital=trusted and _capitalised(window),
        first=bool(_SENTENCE.search(text[: window[0].start])),
        before=before is not None,
        of=at > 0 and keys[0] == "von",
        article=bool(before),
        weak=at > 0 and keys[0] in classes["weak"],
        after=following in classes["after"] or dated == "behind",
        dated=dated == "behind",
        beside=bool(dated) or bool({following, *keys[: min(at, 1)]} & classes["photo"]),
        alone=not behind[:1].isalpha() or following in classes["small"],
        whole=len(window) == len(words),
        listed=_listed(text, words, end),
        other=behind[:1].isalpha()
        and (following in classes["notafter"] or bool(nearby & classes["breed"])),
        german=any(word.key in classes["german"] for word in words),
        num_words=len(window),
        visited=visited,
        company=at > 0 and keys[0] in classes["company"],
        owner=_OWNER.match(text, window[-1].end) is not None,
    )


def _time_beside(text: str, window: list[Word]) -> str:
    """On which side a year, month or season stands next to the window, if on any."""
    times = word_classes()["time"]
    sides = {
        "behind": _TIME_BEHIND.match(text, window[-1].end),
        "before": _WORD_BEFORE.search(text[max(0, window[0].start - 24) : window[0].start]),
    }
    for side, found in sides.items():
        if found and (found[1].isdigit() or fold(found[1]) in times):
            return side
    return ""


def _listed(text: str, words: list[Word], end: int) -> bool:
    """ "Florence or Siena": whether a list goes on with a name."""
    behind = _LIST_BEHIND.match(text, words[end - 1].end)
    return behind is not None and behind[1][0].isupper()


def _capitalised(window: list[Word]) -> bool:
    inside = word_classes()["inside"]
    big = [word for index, word in enumerate(window) if index == 0 or word.key not in inside]
    return all(
        word.text[0].isupper() or word.text[0].lower() == word.text[0].upper() for word in big
    )


def _stands_before(text: str, words: list[Word], at: int) -> int | None:
    """How many articles stand between word ``at`` and a place word right before; None without
    a place word."""
    classes = word_classes()
    for articles in (0, 1, 2):
        end = at - articles
        if articles and not _phrase(text, words, end, at, classes["article"]):
            continue
        for size in (4, 3, 2, 1):
            if _phrase(text, words, end - size, end, classes["before"]):
                return articles
    return None


def _phrase(text: str, words: list[Word], start: int, end: int, phrases: frozenset[str]) -> bool:
    """Whether words ``start:end`` are one of ``phrases``, with nothing but spaces up to the
    next word."""
    if start < 0 or end <= start:
        return False
    if end - start == 1 and words[start].text in ("a", "A"):
        return False  # the English article is no French "à": "a lion" is not in Lyon
    if " ".join(word.key for word in words[start:end]) not in phrases:
        return False
    upto = words[end].start if end < len(words) else len(text)
    return not text[words[end - 1].end : upto].strip(" '’-")
