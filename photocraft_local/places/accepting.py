"""Whether enough speaks for a name to be a place: the smaller and the less plainly written, the
more is needed.

Knows the name's areas and what stands beside it (``cues``), not the text.
"""

from __future__ import annotations

from photocraft_local.places.cues import Cues, word_classes
from photocraft_local.places.keys import fold
from photocraft_local.places.ranking import ALIAS_WEIGHT, Named

# People that a place needs, by what speaks for it.
CAPITAL = 100_000  # a capital only
_CAPITAL_AND_WEAK = 1_000  # a capital and "of" or "and"; or a capital and several words
_GERMAN_NOUN = 5_000  # a capital and a place word, in a German sentence
LOWER = 20_000  # a place word only
_LOWER_ALIAS = 300_000  # a place word only, and another name than the main one
_LOWER_AND_BESIDE = 100_000  # a time or "photos" right beside it: "lisbon june 2021"
_NOTHING = 1_000_000  # nothing: "tokyo dogs"
_LEAST_LETTERS = 4  # of a name without a capital
_WHOLE = ("country", "continent")
WIDE = (*_WHOLE, "region", "county")
_COUNTRY_WEIGHT, _REGION_WEIGHT = 1_000_000, 200_000  # known to more people than live there
_LOWER_CODES = {"usa", "uk", "uae", "nyc"}  # no words, so short and yet names in lower case


def accepted(key: str, named: list[Named], cues: Cues) -> bool:
    """``key`` is the folded name, ``named`` its areas, the likeliest first."""
    classes = word_classes()
    if cues.other or (cues.owner and not _owns(key, named, cues)):
        return False
    here = cues.visited and cues.before and not cues.article
    if key in classes["cued"]:
        if not cues.capital:
            return here
        said = cues.before and not cues.of
        if (cues.whole or cues.dated) and any(map(_is_large, named)):
            return True
        return said or (cues.after and not cues.first) or (cues.visited and cues.whole)
    if key in classes["capital"]:
        if not cues.capital:
            return here or ((cues.visited or cues.whole) and key not in classes["thing"])
        if cues.visited and key not in classes["thing"]:
            return True
        if key in classes["given"] and cues.company and not cues.before:
            return False
        return cues.before or cues.after or cues.whole or cues.listed or not cues.first
    if cues.visited and _known_by_visits(key, named, cues):
        return True
    if not cues.capital:
        return _accepted_in_lower_case(key, named, cues)
    people = max(_people(pair) for pair in named)
    if cues.before and not cues.article:
        return people >= _GERMAN_NOUN or not cues.german
    if cues.num_words > 1 or (cues.weak and not cues.german):
        return people >= _CAPITAL_AND_WEAK
    alone = cues.whole or (cues.first and cues.dated)  # "Venice", "Venice 2021"
    return people >= (LOWER if alone else CAPITAL)


def _owns(key: str, named: list[Named], cues: Cues) -> bool:
    """Whether a name before "'s" can be a place: "Tuscany's beaches", not "Anna's", a town of
    3,000 people, nor "Sofia's"."""
    if key in word_classes()["given"]:
        return False
    known = [pair for pair in named if pair[1] and pair[0].kind != "point"]
    return cues.visited or max(map(_people, known), default=0) >= CAPITAL


def _known_by_visits(key: str, named: list[Named], cues: Cues) -> bool:
    """Photos were taken there, so that the name alone is enough: "cows nara". A short name
    needs a capital or a place word; after "the" no town is meant."""
    best, main = named[0]
    if len(key) < _LEAST_LETTERS and not (cues.capital or cues.before or cues.whole):
        return False
    return not cues.article and (main or best.population >= LOWER or cues.capital)


def _accepted_in_lower_case(key: str, named: list[Named], cues: Cues) -> bool:
    wide = [pair for pair in named if pair[0].kind in WIDE and pair[1]]
    short = len(key) < _LEAST_LETTERS and key not in _LOWER_CODES
    if wide and (not short or any(key == fold(area.name) for area, _ in wide)):
        known = max(_people(pair) for pair in wide)
        if cues.before:
            return known >= LOWER
        apart = cues.alone or cues.beside or any(area.kind in _WHOLE for area, _ in wide)
        if known >= _NOTHING and apart:
            return True
    if short or cues.article:
        return False
    main = max((area.population for area, is_main in named if is_main), default=0)
    other = max((area.population for area, is_main in named if not is_main), default=0)
    if cues.before:
        return main >= LOWER or other >= _LOWER_ALIAS
    if any(area.kind == "point" and is_main for area, is_main in named) and cues.num_words > 1:
        return True  # "eiffel tower": a monument's full name
    if cues.beside or cues.whole or (cues.num_words > 1 and cues.alone):
        return main >= _LOWER_AND_BESIDE
    return main >= _NOTHING


def _is_large(pair: Named) -> bool:
    """A country or city that comes to mind before its namesakes: "Georgia 2019", "Santiago"."""
    area, main = pair
    return main and (
        area.kind == "country" or (area.kind == "city" and area.population >= _NOTHING)
    )


def _people(pair: Named) -> float:
    area, main = pair
    least = {"country": _COUNTRY_WEIGHT, "region": _REGION_WEIGHT, "point": CAPITAL}
    return max(area.population, least.get(area.kind, 0)) * (1.0 if main else ALIAS_WEIGHT)
