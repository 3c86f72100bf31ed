"""Likeness of two short texts by the words they share. No embedding: it knows no synonyms."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_COMMON_WORDS = """
a an all and any are at by did do find for from give how i in is it many me my of on or our photo
photos picture pictures please show taken that the them there to was we were what when where which
with you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def words_of(text: str) -> frozenset[str]:
    """The words that carry meaning, case-folded."""
    return frozenset(_WORD.findall(text.casefold())) - _COMMON


def likeness(one: str, other: str) -> float:
    """Shared words over all words, 0…1."""
    first, second = words_of(one), words_of(other)
    return len(first & second) / len(first | second) if first and second else 0.0
