"""The spelling under which a place name is stored and looked up: one fold for both sides.

Knows no places.
"""

from __future__ import annotations

import re
import unicodedata

_PLAIN = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
_NO_LETTER = re.compile(r"[^\w]+|_+")
_ADMINISTRATIVE = re.compile(r"(?<=..)[市省州县縣區区府都]$")


def fold(name: str) -> str:
    """Case, accents, punctuation and spacing removed: ``"Saint-Étienne"`` → ``"saint etienne"``.

    Marks are dropped only in Latin, Greek and Cyrillic, where they are accents; elsewhere they
    are part of the letter.
    """
    text = name.casefold()
    if not text.isascii():
        if max(text) < "\u0590" or unicodedata.category(max(text)) != "Lo":
            decomposed = unicodedata.normalize("NFKD", text)
            text = "".join(char for char in decomposed if not unicodedata.combining(char))
        text = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return _NO_LETTER.sub(" ", text.replace("'", "").replace("’", "")).strip()


def spellings(name: str) -> list[str]:
    """Keys to try for a name that a person wrote, the closest first."""
    key = fold(name)
    tries = [key, _ADMINISTRATIVE.sub("", key)]
    for written, stored in (("saint ", "st "), ("st ", "saint "), ("st ", "sankt ")):
        if key.startswith(written):
            tries.append(stored + key.removeprefix(written))
    return [spelling for spelling in dict.fromkeys(tries) if spelling]


def without_article(name: str) -> str:
    """``"the Netherlands"`` → ``"Netherlands"``."""
    return re.sub(r"^the\s+", "", name.strip(), flags=re.IGNORECASE)
