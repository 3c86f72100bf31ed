"""Slips of the finger in small words: "wihtout", "phtos", "febuary".

Only words that steer the reading are corrected, and only what is no word itself; a note says so.
Misspelt places and looks are their own modules' affair.
"""

from __future__ import annotations

import re
from functools import lru_cache

from photocraft_local.agent.planner.understand.phrases import phrases, table

_WORD = re.compile(r"(?<![\w'-])(?:w/o|w/|[^\W\d_]{2,14})(?![\w'-])")

# "about Christmas" is a time, "what about Christmas" is not
_WHAT_ABOUT = re.compile(r"(?:^|(?<=[.!?] ))(?:(?:and|so|ok|hey) )?(?:what|how) about ", re.I)
_PLUS = re.compile(r"(?<=\s)[+&](?=\s)")
_FORM = re.compile(r"\bform(?= (?:[A-Z]|(?:19|20)\d\d\b|last\b|the (?:day|trip|first|last)\b))")


def spelt(text: str) -> tuple[str, list[str]]:
    """The text with those words as they are meant, and a note for each."""
    notes: list[str] = []

    def meant(match: re.Match[str]) -> str:
        typed = match.group()
        right = _meant(typed.casefold())
        if not right or right == typed.casefold():
            return typed
        notes.append(f"'{typed}' is read as '{right}'")
        return right

    text = _PLUS.sub("and", _WHAT_ABOUT.sub("", text))
    for form in phrases("rewritten"):
        text = form.pattern.sub(form.cells[0], text)
    return _FORM.sub("from", _WORD.sub(meant, text)), list(dict.fromkeys(notes))


def _meant(word: str) -> str:
    words, kept, pairs = _tables()
    if word in pairs:
        return pairs[word]
    if word in words or word in kept or len(word) < 5:
        return ""
    near = [known for known in words if known[0] == word[0] and _is_slip(word, known)]
    return near[0] if len(near) == 1 else ""


def _is_slip(word: str, known: str) -> bool:
    """One letter too many, missing or wrong, or two neighbours swapped. The end stays, so that
    other forms of a word are no slips."""
    if abs(len(word) - len(known)) > 1 or word[-1] != known[-1]:
        return False
    start = 0
    while start < min(len(word), len(known)) and word[start] == known[start]:
        start += 1
    one, other = word[start:], known[start:]
    return (
        one[1:] == other[1:]
        or one[1:] == other
        or one == other[1:]
        or (one[:2] == other[1::-1] and one[2:] == other[2:])
    )


@lru_cache(maxsize=1)
def _tables() -> tuple[tuple[str, ...], frozenset[str], dict[str, str]]:
    rows = {kind: words.split("|") for kind, words in table("spelling")}
    pairs = dict(pair.split("=", 1) for pair in rows["pairs"])
    return tuple(rows["near"]), frozenset(rows["kept"]), pairs
