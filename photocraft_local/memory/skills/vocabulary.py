"""The words that a skill may hold: nothing but these, so that nothing of a question is left.

Forms of five languages (``data/shapes.tsv``) become symbols of one. Knows no grammar: what the
symbols stand for in a sentence does not matter to likeness.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

TIME, PLACE, THING, NUMBER, PICTURE = "[time]", "[place]", "[thing]", "[number]", "[picture]"
_MASKS = (TIME, PLACE, THING, NUMBER, PICTURE)
_TABLE = Path(__file__).parent / "data" / "shapes.tsv"
_NOTHING = "-"
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_LETTERS = rf"[^\W_{_CJK}]+"
_TOKEN = re.compile(rf"[{_CJK}]+|{_LETTERS}(?:['\-]{_LETTERS})*")


@lru_cache(maxsize=1)
def _forms() -> dict[tuple[str, ...], str]:
    """Words of a form, folded → symbol. The first row that has a form keeps it."""
    forms: dict[tuple[str, ...], str] = {}
    for line in _TABLE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            symbol, row = line.split("\t")
            for form in row.split("|"):
                forms.setdefault(tuple(tokens(form)), symbol)
    return forms


@lru_cache(maxsize=1)
def symbols() -> frozenset[str]:
    """Every word that a masked question may hold."""
    return frozenset(_forms().values()) - {_NOTHING} | frozenset(_MASKS)


@lru_cache(maxsize=1)
def _longest() -> int:
    return max(map(len, _forms()))


@lru_cache(maxsize=1)
def _east_asian() -> re.Pattern[str]:
    forms = [form[0] for form in _forms() if re.match(f"[{_CJK}]", form[0])]
    alternatives = "|".join(sorted(map(re.escape, forms), key=len, reverse=True))
    return re.compile(f"{alternatives}|.")


def tokens(text: str) -> list[str]:
    """Words, folded: case and width do not count, accents do."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return _TOKEN.findall(folded)


def symbols_of(text: str) -> list[str]:
    """The text in symbols, one [thing] for each word that has none."""
    words: list[str] = []
    for token in tokens(text):
        is_chinese = re.match(f"[{_CJK}]", token)
        words += _east_asian().findall(token) if is_chinese else _parts(token)
    found: list[str] = []
    at = 0
    while at < len(words):
        size, symbol = _symbol_at(words, at)
        found += [] if symbol == _NOTHING else [symbol]
        at += size
    return found


def _parts(token: str) -> list[str]:
    """ "l'église" are two words, "didn't" is one."""
    if (token,) in _forms() or "'" not in token:
        return [token]
    return [part for part in token.split("'") if part]


def _symbol_at(words: list[str], at: int) -> tuple[int, str]:
    for size in range(min(_longest(), len(words) - at), 0, -1):
        symbol = _forms().get(tuple(words[at : at + size]))
        if symbol is not None:
            return size, symbol
    return 1, NUMBER if words[at].isdecimal() else THING
