"""Names that are said like places and are on no map: "in Narnia", "on the moon", "from Atlantis".

Found only where a place word stands before them or nothing else is asked: "a photo of the moon"
is a look. Knows no gazetteer; what the gazetteer knows by such a name goes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from photocraft_local.places.areas import PlaceMention
from photocraft_local.places.sources import read_table

_PLACE_WORDS = (
    r"in|on|at|from|near|around|to|visiting|inside|across|outside|within|into|aus|auf|nach|im|bei"
    r"|à|en|au|aux|sur|dans|de|desde|hasta|del"
)
_PLACED = re.compile(rf"(?:{_PLACE_WORDS}|vom|zum) ")
_ARTICLES = r"(?:(?:the|der|die|das|dem|den|le|la|les|el|los|las)\s+|l['’])?"
_PHOTOS = r"(?:(?:photos?|pictures?|fotos?|bilder)\s+(?:from|aus|de)\s+)?"
_HINT = "name a place where photos can have been taken"


def find_nowhere(text: str) -> Iterator[PlaceMention]:
    """Mentions with a problem, in order of position."""
    for match in _pattern().finditer(text):
        group = next(name for name, value in match.groupdict().items() if value)
        start, end = match.span(group)
        name = text[start:end]
        yield PlaceMention(start, end, name, (), problem=_reasons()[_key(name)], hint=_HINT)


def _key(name: str) -> str:
    return re.sub(r"[’\s]+", " ", name.replace("’", "'")).casefold()


@lru_cache(maxsize=1)
def _reasons() -> dict[str, str]:
    rows = read_table("nowhere.tsv")
    return {_key(name): reason for reason, names in rows for name in names.split("|")}


def _any(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names))


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    ordered = sorted(_reasons(), key=len, reverse=True)
    said = _any(name for name in ordered if _PLACED.match(name))
    latin = _any(name for name in ordered if name[0] < "\u3000" and not _PLACED.match(name))
    han = _any(name for name in ordered if name[0] >= "\u3000")
    return re.compile(
        rf"(?i)\b(?:{_PLACE_WORDS})\s+{_ARTICLES}(?P<placed>{latin})\b(?!['’]s |-)"
        r"(?! \w*(?:bar|station|style)\b)"
        rf"|\b(?P<said>{said})\b(?!['’]s |-)"
        rf"|^\W*{_PHOTOS}{_ARTICLES}(?P<whole>{latin})(?=\W*(?:(?:in )?\d{{4}})?\W*$)"
        rf"|[在从到去](?P<han>{han})|^(?P<only>{han})(?=的?照片|$)"
    )
