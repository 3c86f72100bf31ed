"""Misspelt look words → the one known word that is near enough.

Nearness is the number of letters that are wrong, missing, too many or swapped with their
neighbour (Damerau-Levenshtein, optimal string alignment). Knows no meaning.
"""

from __future__ import annotations

from collections.abc import Iterable

_SHORTEST = 5  # letters; a shorter word has too many neighbours
_LONG = 7  # letters from which on two slips are forgiven


class Speller:
    """``words``: all that a misspelt word may have meant."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_letter: dict[str, list[str]] = {}
        for word in sorted(set(words)):
            if len(word) >= _SHORTEST - 1 and word.isascii() and word.isalpha():
                self._by_letter.setdefault(word[0], []).append(word)

    def nearest(self, word: str, *, most: int = 2) -> str | None:
        """The nearest word that begins alike, or none if two are equally near or none is near.
        A plural is read as that of a known word."""
        if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
            return None
        limit = min(most, 2 if len(word) >= _LONG else 1)
        found: dict[str, int] = {}
        for known in self._by_letter.get(word[0], ()):
            for form in (known, f"{known}s"):
                if abs(len(form) - len(word)) <= limit:
                    found[form] = distance(word, form)
        best = min(found.values(), default=limit + 1)
        nearest = [form for form, far in found.items() if far == best]
        return nearest[0] if best <= limit and len(nearest) == 1 else None


def distance(left: str, right: str) -> int:
    """Slips between two words; a pair of swapped neighbours is one."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for at, letter in enumerate(left, 1):
        before, last, row = row, before, [at]
        for to, other in enumerate(right, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != other))
            swapped = at > 1 and to > 1 and letter == right[to - 2] and left[at - 2] == other
            row.append(min(cost, last[to - 2] + 1) if swapped else cost)
    return row[-1]
