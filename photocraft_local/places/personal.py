"""The person's own places in a question: "at grandma's", "zu Hause", "在家".

Knows the places that were named; "home" and "work" are understood even if none was, so that the
question can be refused with the way out instead of being read as a look.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from photocraft_local.places import personal_words as words
from photocraft_local.places.areas import PlaceMention
from photocraft_local.places.keys import fold
from photocraft_local.places.named import NamedPlace


def find_named(text: str, named: Sequence[NamedPlace]) -> list[PlaceMention]:
    """Mentions by position, the longer name first where two overlap."""
    plain = _plain(text)
    found = [mention for place in named for mention in _of_place(text, plain, place)]
    found += [mention for what in words.SAID for mention in _said(text, what, named)]
    found.sort(key=lambda mention: (mention.problem != "", mention.start - mention.end))
    kept: list[PlaceMention] = []
    for mention in found:
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda mention: mention.start)


def place_called(name: str, named: Sequence[NamedPlace]) -> NamedPlace | None:
    """The person's place of that name; "home" also finds one stored as "Zuhause"."""
    key = fold(name)
    for place in named:
        if place.key == key:
            return place
    group = next((keys for keys in words.NAMES.values() if key in keys), frozenset[str]())
    return next((place for place in named if place.key in group), None)


def kind_of(name: str) -> str:
    """ "home" or "work" if the name is a word for that, else nothing."""
    key = fold(name)
    return next((what for what, keys in words.NAMES.items() if key in keys), "")


def missing(what: str) -> tuple[str, str]:
    """Why a question with "at home" cannot be followed, and the way out."""
    return (
        f"no place of yours is named {what!r}",
        f"name it once: photocraft places add {what} --at LAT,LON (or --photo UID)",
    )


def _said(text: str, what: str, named: Sequence[NamedPlace]) -> Iterator[PlaceMention]:
    place = place_called(what, named)
    for match in words.SAID[what].finditer(text):
        group = next(name for name, value in match.groupdict().items() if value)
        start, end = match.span(group)
        if place:
            yield PlaceMention(start, end, place.name, (place.area(),), own=True)
        else:
            problem, hint = missing(what)
            yield PlaceMention(start, end, text[start:end], (), problem=problem, hint=hint)


def _of_place(text: str, plain: str, place: NamedPlace) -> Iterator[PlaceMention]:
    pattern, several = _pattern(place.name)
    found = words.ARTICLES.match(_plain(place.name))
    article = found[0].strip() if found else ""
    possessive = re.search(r"['’]s?$", place.name) is not None
    for match in pattern.finditer(plain):
        start, end = match.span()
        owned = match["owner"] is not None
        cue = words.CUE.search(text[max(0, start - 40) : start])
        whole = not text[:start].strip() and not text[end:].strip(" ?!.")
        said = article and plain[:start].endswith(f"{article} ")
        if possessive and not owned:
            continue  # "photos of grandma" shows her; "at grandma's" is where she lives
        if kind_of(place.name) and words.OTHER_HOME.match(text[end:]):
            continue
        beside = words.BESIDE.match(text[end:]) and words.BEGINS.search(text[:start])
        if several or owned or said or cue or whole or beside:
            yield PlaceMention(start, end, place.name, (place.area(),), own=True)


def _pattern(name: str) -> tuple[re.Pattern[str], bool]:
    """Finds the name in a plain text; whether the name is too special to need a cue."""
    bare = words.ARTICLES.sub("", name)
    base = re.sub(r"['’](?:s\b|$)|(?<=s)['’]", "", _plain(bare))
    parts = re.findall(r"[^\W_]+", base)
    han = any(char > "\u3000" for char in base)
    body = r"[\W_]+".join(map(re.escape, parts))
    edge = "" if han else r"\b"
    owner = rf"(?P<owner>['’]s?{words.HOUSE}\b)?"
    return re.compile(rf"{edge}{body}{owner if not han else '(?P<owner>(?!))?'}{edge}"), (
        len(parts) > 1 or (han and len(base) > 1)
    )


def _plain(text: str) -> str:
    """Lower case without accents, letter for letter: positions stay."""
    return "".join(_plain_letter(char) for char in text)


def _plain_letter(char: str) -> str:
    base = unicodedata.normalize("NFKD", char)[0] if char < "\u2e80" else char
    low = base.lower()
    return low if len(low) == 1 else char
