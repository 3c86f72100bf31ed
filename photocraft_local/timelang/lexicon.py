"""The words for time, read from ``data/words.tsv`` and the names of holidays: folded form →
what it may mean.

Owns spelling only; what the words do together is the grammar's.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

_TABLE = Path(__file__).parent / "data" / "words.tsv"
_HOLIDAYS = Path(__file__).parent / "data" / "holidays.tsv"


def fold(word: str) -> str:
    """Case and accents removed: ``"Février"`` → ``"fevrier"``."""
    text = word.casefold()
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


@lru_cache(maxsize=1)
def table() -> dict[str, dict[tuple[str, ...], str]]:
    """kind → (the words of a form) → value. An East Asian form is one word."""
    kinds: dict[str, dict[tuple[str, ...], str]] = {}
    for line in _TABLE.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, value, forms = line.split("\t")
        for form in forms.split("|"):
            kinds.setdefault(kind, {})[tuple(fold(form).split())] = value
    for line in _HOLIDAYS.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, _, forms = line.split("\t")[:4]
            for form in forms.split("|"):
                kind = "holiday?" if form[0] == "~" else "holiday"
                kinds.setdefault(kind, {})[tuple(fold(form.lstrip("~")).split())] = name
    return kinds


Forms = tuple[tuple[tuple[str, ...], str], ...]


@lru_cache(maxsize=1)
def by_first_word() -> dict[str, dict[str, Forms]]:
    """first word → kind → (form, value), the longest form first."""
    index: dict[str, dict[str, list[tuple[tuple[str, ...], str]]]] = {}
    for kind, forms in table().items():
        for form, value in forms.items():
            index.setdefault(form[0], {}).setdefault(kind, []).append((form, value))
    return {
        first: {
            kind: tuple(sorted(same, key=lambda pair: -len(pair[0])))
            for kind, same in kinds.items()
        }
        for first, kinds in index.items()
    }


@lru_cache(maxsize=1)
def east_asian_words() -> tuple[str, ...]:
    """All Chinese forms, the longest first: Chinese is cut into words by them."""
    forms = {form[0] for kind in table().values() for form in kind if not form[0].isascii()}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))
